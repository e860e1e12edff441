internal import EntitledClient
internal import ToolSupport

/// Draws the bill: month by month what went back in each currency, and how much people who never
/// paid had used what was paid back.
struct RefundChart: Sendable {
    /// One bar: parts that stand on each other.
    struct Bar: Equatable, Sendable {
        var values: [Int64]
        var sum: Int64 { values.reduce(0) { $0.addingReportingOverflow($1).partialValue } }
    }

    /// One diagram over all months.
    struct Panel: Equatable, Sendable {
        var title: String
        /// A colour and a name for each part of a bar.
        var parts: [(colour: String, name: String)]
        var bars: [Bar]
        /// How many of the bars' numbers make one on the axis.
        var scale: Int64
        var unit: String

        static func == (left: Panel, right: Panel) -> Bool {
            left.title == right.title && left.bars == right.bars && left.scale == right.scale
        }
    }

    /// Every month from the first refund to the last one: `2026-03`.
    let months: [String]
    let panels: [Panel]
    private let report: RefundReport

    private static let ink = "#1f2933"
    private static let quiet = "#52606d"
    private static let rule = "#d9e0e7"
    private static let money = ["#2f5d8a", "#4b7f52", "#7a5195", "#946c00", "#4d6170"]
    private static let used = "#e08e0b"
    private static let leaked = "#b3261e"

    private static let width = 960.0
    private static let left = 86.0
    private static let right = 24.0
    private static let headHeight = 84.0
    private static let panelHeight = 252.0
    private static let plotTop = 62.0
    private static let plotHeight = 140.0
    private static let footHeight = 40.0

    init(_ report: RefundReport) {
        self.report = report
        let totals = report.months
        months = Self.months(from: totals.first?.name, to: totals.last?.name)
        var panels: [Panel] = []
        let currencies = report.sums.map(\.currency).filter { !$0.isEmpty }
        for (index, currency) in currencies.enumerated() {
            panels.append(
                Panel(
                    title: "Paid back, in \(currency)",
                    parts: [(Self.money[index % Self.money.count], "paid back")],
                    bars: months.map { month in
                        let total = totals.first {
                            $0.name == month && $0.currency.utf8.elementsEqual(currency.utf8)
                        }
                        return Bar(values: [total?.figures.refundedMilliunits ?? 0])
                    }, scale: 1_000, unit: currency))
        }
        panels.append(
            Panel(
                title: "Days of use by people who never paid",
                parts: [
                    (Self.used, "up to the day of the refund"),
                    (Self.leaked, "after it: the leak"),
                ],
                bars: months.map { month in
                    let figures = totals.filter { $0.name == month }.map(\.figures)
                    var sum = RefundFigures()
                    for figure in figures { sum.add(figure) }
                    return Bar(values: [sum.unpaid.days, sum.unpaidLeakedDays])
                }, scale: 1, unit: "days"))
        self.panels = panels
    }

    /// The months between two, both included; at most 1,200.
    private static func months(from first: String?, to last: String?) -> [String] {
        guard let first, let last, var year = Int(first.prefix(4)),
            var month = Int(first.suffix(2))
        else { return [] }
        var months = [first]
        while let name = months.last, name != last, months.count < 1_200 {
            month += 1
            if month == 13 { (year, month) = (year + 1, 1) }
            let yearText = String(repeating: "0", count: max(0, 4 - "\(year)".count)) + "\(year)"
            months.append("\(yearText)-\(month < 10 ? "0" : "")\(month)")
        }
        return months
    }
}

// MARK: - Drawing

extension RefundChart {
    /// The drawing as an SVG document.
    var svg: String {
        let height =
            Self.headHeight + Self.panelHeight * Double(panels.count) + Self.footHeight
        var writer = SVGWriter(
            width: Self.width, height: height, title: "Refunds of shared purchases, by month",
            description: description)
        writer.text(
            "Refunds of shared purchases", x: Self.left, y: 38,
            .init(size: 22, colour: Self.ink, isBold: true))
        writer.text(
            subtitle, x: Self.left, y: 62, .init(size: 13, colour: Self.quiet))
        for (index, panel) in panels.enumerated() {
            draw(panel, top: Self.headHeight + Self.panelHeight * Double(index), &writer)
        }
        writer.text(
            "Months of UTC, by the date of the refund.", x: Self.left, y: height - 14,
            .init(size: 11, colour: Self.quiet))
        return writer.document
    }

    private var subtitle: String {
        guard let first = months.first, let last = months.last else {
            return "No payment was refunded in that time."
        }
        let span =
            first == last
            ? Self.name(of: first) : "\(Self.name(of: first)) to \(Self.name(of: last))"
        let sums = report.sums.filter { !$0.currency.isEmpty }
            .map { "\(Amount.thousandths($0.figures.refundedMilliunits)) \($0.currency)" }
        let money = sums.isEmpty ? "" : ": " + sums.joined(separator: ", ") + " paid back"
        return "\(span)\(money)"
    }

    private func draw(_ panel: Panel, top: Double, _ writer: inout SVGWriter) {
        writer.text(
            panel.title, x: Self.left, y: top + 22,
            .init(size: 15, colour: Self.ink, isBold: true))
        drawLegend(of: panel, y: top + 42, &writer)
        let axis = ChartAxis(maximum: panel.bars.map(\.sum).max() ?? 0, scale: panel.scale)
        let bottom = top + Self.plotTop + Self.plotHeight
        for tick in axis.ticks {
            let y = bottom - Self.plotHeight * axis.fraction(of: tick)
            writer.line(
                from: (Self.left, y), to: (Self.width - Self.right, y),
                colour: tick == 0 ? Self.quiet : Self.rule)
            writer.text(
                axis.label(of: tick), x: Self.left - 10, y: y + 4,
                .init(size: 12, colour: Self.quiet), anchor: .end)
        }
        let step = (Self.width - Self.left - Self.right) / Double(max(1, months.count))
        for (index, bar) in panel.bars.enumerated() {
            let x = Self.left + step * Double(index)
            draw(bar, of: panel, month: months[index], x: x, step: step, bottom, axis, &writer)
            drawMonth(index, x: x + step / 2, y: bottom + 18, step: step, &writer)
        }
    }

    private func drawLegend(of panel: Panel, y: Double, _ writer: inout SVGWriter) {
        guard panel.parts.count > 1 else { return }
        var x = Self.left
        for part in panel.parts {
            writer.rectangle(
                x: x, y: y - 10, width: 11, height: 11, fill: part.colour, radius: 2)
            writer.text(part.name, x: x + 17, y: y, .init(size: 12, colour: Self.ink))
            x += 34 + 6.6 * Double(part.name.count)
        }
    }

    private func draw(
        _ bar: Bar, of panel: Panel, month: String, x: Double, step: Double, _ bottom: Double,
        _ axis: ChartAxis, _ writer: inout SVGWriter
    ) {
        let width = min(56, step * 0.64)
        let left = x + (step - width) / 2
        var y = bottom
        for (value, part) in zip(bar.values, panel.parts) where value > 0 {
            // What there is can be seen, however little it is.
            let height = max(1.5, Self.plotHeight * axis.fraction(of: value))
            y -= height
            writer.rectangle(
                x: left, y: y, width: width, height: height, fill: part.colour,
                label:
                    "\(Self.name(of: month)): \(axis.text(of: value)) \(panel.unit), \(part.name)"
            )
        }
        guard bar.sum > 0, step >= 44 else { return }
        writer.text(
            axis.text(of: bar.sum), x: x + step / 2, y: y - 5,
            .init(size: 11, colour: Self.ink), anchor: .middle)
    }

    /// Every month has its name while there is room, else every third or twelfth; January has the
    /// year as well.
    private func drawMonth(
        _ index: Int, x: Double, y: Double, step: Double, _ writer: inout SVGWriter
    ) {
        let month = months[index]
        let interval = step >= 30 ? 1 : step * 3 >= 30 ? 3 : 12
        let number = (Int(month.suffix(2)) ?? 1) - 1
        guard number.isMultiple(of: interval) else { return }
        let face = SVGWriter.Face(size: 12, colour: Self.quiet)
        writer.text(Self.shortNames[number], x: x, y: y, face, anchor: .middle)
        guard number == 0 || index == 0 else { return }
        writer.text(
            String(month.prefix(4)), x: x, y: y + 15,
            .init(size: 12, colour: Self.ink, isBold: true), anchor: .middle)
    }

    private static let shortNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Mar 2026`.
    private static func name(of month: String) -> String {
        let number = (Int(month.suffix(2)) ?? 1) - 1
        return "\(shortNames[number]) \(month.prefix(4))"
    }

    /// The figures in words: whoever does not see the drawing gets all of it.
    private var description: String {
        var sentences = [subtitle]
        for panel in panels {
            let axis = ChartAxis(maximum: 0, scale: panel.scale)
            let bars = zip(months, panel.bars).filter { $0.1.sum > 0 }.map { month, bar in
                let parts = zip(bar.values, panel.parts).map { value, part in
                    "\(axis.text(of: value)) \(part.name)"
                }
                return "\(Self.name(of: month)) \(parts.joined(separator: ", "))"
            }
            let months = bars.isEmpty ? "none" : bars.joined(separator: "; ")
            sentences.append("\(panel.title): \(months)")
        }
        return sentences.joined(separator: ". ") + "."
    }
}

extension RefundChart {
    /// The drawing on a page of its own, with the figures below it.
    var html: String {
        let rows = report.months.map { total in
            let figures = total.figures
            let money =
                total.currency.isEmpty
                ? "unknown" : "\(Amount.thousandths(figures.refundedMilliunits)) \(total.currency)"
            let cells = [
                "\(figures.refundCount)", money, "\(figures.peopleServed)",
                "\(figures.served.days)", "\(figures.unpaid.days)",
                Amount.millionths(figures.costMicros), "\(figures.leaked.days)",
                "\(figures.leakedPeriods)",
            ]
            return "<tr><th scope=\"row\">\(Self.name(of: total.name))</th>"
                + cells.map { "<td>\(SVGWriter.escaped($0))</td>" }.joined() + "</tr>"
        }
        return """
            <!DOCTYPE html>
            <html lang="en" xmlns="http://www.w3.org/1999/xhtml">
            <head>
            <meta charset="utf-8" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <title>Refunds of shared purchases</title>
            <style>
            body { margin: 2rem auto; max-width: 960px; padding: 0 1rem; background: #fff;
              color: \(Self.ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif }
            svg { width: 100%; height: auto }
            table { width: 100%; margin-top: 1rem; border-collapse: collapse;
              font-variant-numeric: tabular-nums }
            th, td { padding: .35rem .5rem; border-bottom: 1px solid \(Self.rule);
              text-align: right }
            th:first-child { text-align: left }
            </style>
            </head>
            <body>
            \(svg)<table>
            <tr><th scope="col">Month</th><th scope="col">Refunds</th>\
            <th scope="col">Paid back</th><th scope="col">People</th>\
            <th scope="col">Days</th><th scope="col">Unpaid days</th>\
            <th scope="col">Cost</th><th scope="col">Leaked days</th>\
            <th scope="col">Leaked periods</th></tr>
            \(rows.joined(separator: "\n"))
            </table>
            </body>
            </html>

            """
    }
}
