internal import EntitledClient
internal import ToolSupport

// The report for people, in as many columns as the terminal has room for.

extension RefundReport {
    /// The refunds, the totals, and what the words mean.
    func lines(columnCount: Int?) -> [Line] {
        guard !refunds.isEmpty else { return [Line("no payment was refunded in that time", .good)] }
        var lines = [Line("Refunds", .bold)]
        lines += Self.fitted(refundColumns, refunds.count, within: columnCount)
        lines += [Line(""), Line(grouping == .month ? "By month" : "By product", .bold)]
        lines += Self.fitted(
            totalColumns(of: totals, title: grouping.rawValue), totals.count, within: columnCount)
        lines += [Line(""), Line("In all", .bold)]
        lines += Self.fitted(totalColumns(of: sums, title: nil), sums.count, within: columnCount)
        return lines + [Line("")] + Self.legend
    }

    private static let legend = [
        "people: who used it; days: person-days of use up to the day of the refund, UTC; unpaid:",
        "those of people who never paid; cost: all units at the catalog's unitCost; leak:",
        "person-days of use after that day; periods: billing periods in which access went on.",
    ].map { Line($0, .dim) }

    /// One column with all of its cells. Columns that may be left out are numbered; the lowest
    /// number goes first.
    private struct Column {
        var title: String
        var isNumber = true
        var order = 0
        /// Whether it may be cut short.
        var isName = false
        var cells: [String]
    }

    private var refundColumns: [Column] {
        let figures = refunds.map(RefundFigures.init)
        return [
            Column(
                title: "refunded", isNumber: false,
                cells: refunds.map { String(Instant.text($0.refundedAtMilliseconds).prefix(10)) }),
            Column(
                title: "product", isNumber: false, order: 4, isName: true,
                cells: refunds.map(\.productID)),
            Column(
                title: "customer", isNumber: false, order: 2, isName: true,
                cells: refunds.map(\.customerID)),
            Column(title: "money back", cells: refunds.map(Self.money)),
            Column(
                title: "%", order: 3,
                cells: refunds.map {
                    $0.isPurchaseUnknown ? "" : Amount.percent($0.percentageMilliunits)
                }),
        ] + Self.figureColumns(figures)
    }

    private func totalColumns(of totals: [Total], title: String?) -> [Column] {
        var columns: [Column] = []
        if let title {
            columns.append(
                Column(title: title, isNumber: false, isName: true, cells: totals.map(\.name)))
        }
        columns += [
            Column(title: "refunds", cells: totals.map { "\($0.figures.refundCount)" }),
            Column(
                title: "money back",
                cells: totals.map { Self.money($0.figures.refundedMilliunits, $0.currency) }),
        ]
        return columns + Self.figureColumns(totals.map(\.figures))
    }

    private static func figureColumns(_ figures: [RefundFigures]) -> [Column] {
        [
            Column(title: "people", cells: figures.map { "\($0.peopleServed)" }),
            Column(title: "days", cells: figures.map { "\($0.served.days)" }),
            Column(title: "unpaid", cells: figures.map { "\($0.unpaid.days)" }),
            Column(title: "units", order: 1, cells: figures.map { "\($0.served.units)" }),
            Column(title: "cost", cells: figures.map { Amount.millionths($0.costMicros) }),
            Column(title: "leak", cells: figures.map { "\($0.leaked.days)" }),
            Column(title: "periods", cells: figures.map { "\($0.leakedPeriods)" }),
        ]
    }

    private static func money(_ refund: RefundRecord) -> String {
        money(refund.refundedMilliunits, currency(of: refund))
    }

    private static func money(_ milliunits: Int64, _ currency: String) -> String {
        currency.isEmpty ? "unknown" : "\(Amount.thousandths(milliunits)) \(currency)"
    }

    /// The lines of a table that is at most so wide: names are cut short first, then the columns
    /// go that matter least.
    private static func fitted(
        _ columns: [Column], _ rowCount: Int, within columnCount: Int?
    ) -> [Line] {
        var columns = columns
        if let columnCount {
            shortenNames(of: &columns, within: columnCount)
            while width(columns) > columnCount,
                let order = columns.map(\.order).filter({ $0 > 0 }).min()
            {
                columns.removeAll { $0.order == order }
            }
        }
        var table = Table(columns.map { $0.isNumber ? .number($0.title) : .text($0.title) })
        for row in 0..<rowCount { table.add(columns.map { Table.Cell($0.cells[row]) }) }
        return table.lines()
    }

    private static func shortenNames(of columns: inout [Column], within columnCount: Int) {
        for index in columns.indices where columns[index].isName {
            let excess = width(columns) - columnCount
            guard excess > 0 else { return }
            let kept = max(12, width(columns[index]) - excess)
            columns[index].cells = columns[index].cells.map { cell in
                cell.count > kept ? cell.prefix(kept - 1) + "…" : cell
            }
        }
    }

    private static func width(_ column: Column) -> Int {
        column.cells.reduce(column.title.count) { max($0, Console.clean($1).count) }
    }

    private static func width(_ columns: [Column]) -> Int {
        columns.reduce(2 * (columns.count - 1)) { $0 + width($1) }
    }
}
