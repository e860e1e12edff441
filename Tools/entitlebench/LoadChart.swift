internal import Glibc
internal import LoadGenerator
internal import ToolSupport

/// A run as a drawing: latency by percentile, and throughput over time.
struct LoadChart: Sendable {
    private static let width = 860.0
    private static let height = 700.0
    private static let ink = "#1c1c1e"
    private static let faint = "#d6d6db"
    private static let dim = "#5b5b62"
    private static let line = "#0a5fb4"
    private static let roundLine = "#9cc3e6"
    private static let darkColours = [
        (colour: ink, onDark: "#f2f2f5"), (colour: faint, onDark: "#3b3b42"),
        (colour: dim, onDark: "#aeaeb6"), (colour: line, onDark: "#5fb0ff"),
        (colour: roundLine, onDark: "#2c5d8a"),
    ]

    private let report: LoadReport

    init(_ report: LoadReport) { self.report = report }

    /// Where a panel's axes stand.
    private struct Panel {
        let top: Double
        let left = 90.0
        let right = LoadChart.width - 30
        let height = 230.0
        var bottom: Double { top + height }

        func x(_ fraction: Double) -> Double { left + fraction * (right - left) }
        func y(_ fraction: Double) -> Double { bottom - fraction * height }
    }

    /// The drawing as SVG.
    var document: String {
        let title = "entitlebench \(report.workload)"
        let all = report.outcome.latencies
        var writer = SVGWriter(
            width: Self.width, height: Self.height, title: title,
            description: "\(report.options.sentence). Half of all answers within"
                + " \(Figure.microseconds(all.value(at: 0.5))) us, 99 of 100 within"
                + " \(Figure.microseconds(all.value(at: 0.99))) us, all within"
                + " \(Figure.microseconds(all.maxNanoseconds)) us.",
            darkColours: Self.darkColours)
        writer.text(title, x: 24, y: 36, Self.face(20, bold: true))
        writer.text(report.options.sentence, x: 24, y: 58, Self.face(13, Self.dim))
        drawLatencies(Panel(top: 100), &writer)
        drawThroughput(Panel(top: 410), &writer)
        return writer.document
    }

    private static func face(
        _ size: Double, _ colour: String = ink, bold: Bool = false
    ) -> SVGWriter.Face {
        SVGWriter.Face(size: size, colour: colour, isBold: bold)
    }
}

// MARK: - Latency by percentile

extension LoadChart {
    /// The percentiles with a tick; each is as far from the next as 9 is from 99.
    private static let ticks: [(label: String, share: Double)] = [
        ("0", 0), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999),
        ("p99.999", 0.99999),
    ]

    /// Where a share of all stands on the axis: every tick is ten times rarer than the one before.
    static func place(ofShare share: Double) -> Double {
        let nines = share >= 1 ? 5 : -log10(1 - share)
        return min(1, max(0, nines / 5))
    }

    private func drawLatencies(_ panel: Panel, _ writer: inout SVGWriter) {
        writer.text(
            "latency in us, by percentile", x: panel.left, y: panel.top - 12,
            Self.face(13, bold: true))
        let all = report.outcome.latencies
        let top = Self.power(atLeast: Double(max(all.maxNanoseconds, 10_000)) / 1_000)
        let bottom = min(
            top - 1, Self.power(atLeast: Double(max(all.minNanoseconds, 1_000)) / 1_000) - 1)
        for power in bottom...top {
            let y = panel.y(Double(power - bottom) / Double(top - bottom))
            writer.line(from: (panel.left, y), to: (panel.right, y), colour: Self.faint)
            let value = UInt64(pow(10, Double(max(0, power))))
            writer.text(
                Figure.whole(value), x: panel.left - 8, y: y + 4, Self.face(11, Self.dim),
                anchor: .end)
        }
        for (label, share) in Self.ticks {
            let x = panel.x(Self.place(ofShare: share))
            writer.line(from: (x, panel.top), to: (x, panel.bottom), colour: Self.faint)
            writer.text(
                label, x: x, y: panel.bottom + 18, Self.face(11, Self.dim), anchor: .middle)
        }
        func height(_ nanoseconds: UInt64) -> Double {
            let power = log10(max(1, Double(nanoseconds) / 1_000))
            return panel.y(min(1, max(0, (power - Double(bottom)) / Double(top - bottom))))
        }
        for (index, round) in report.outcome.rounds.enumerated() where round.latencies.count > 0 {
            writer.path(
                Self.curve(round.latencies, panel, height), colour: Self.roundLine, width: 1,
                label: "round \(index + 1)")
        }
        if all.count > 0 {
            writer.path(
                Self.curve(all, panel, height), colour: Self.line, width: 2, label: "all rounds")
        }
    }

    private static func curve(
        _ latencies: Histogram, _ panel: Panel, _ height: (UInt64) -> Double
    ) -> [(x: Double, y: Double)] {
        (0...200).map { step in
            let place = Double(step) / 200
            let share = step == 200 ? 1 : 1 - pow(10, -5 * place)
            return (panel.x(place), height(latencies.value(at: share)))
        }
    }

    /// The smallest power of ten that is at least `value`.
    private static func power(atLeast value: Double) -> Int {
        var power = 0
        while pow(10, Double(power)) < value, power < 12 { power += 1 }
        return power
    }
}

// MARK: - Throughput over time

extension LoadChart {
    private func drawThroughput(_ panel: Panel, _ writer: inout SVGWriter) {
        writer.text(
            "answers per second, every 100 ms", x: panel.left, y: panel.top - 12,
            Self.face(13, bold: true))
        let perSecond = 1e9 / Double(LoadPlan.sliceNanoseconds)
        // The last slice is cut off by the end of the run.
        let rates = report.outcome.slices.dropLast().map { Double($0) * perSecond }
        let axis = ChartAxis(maximum: Int64(rates.max() ?? 1), scale: 1)
        for tick in axis.ticks {
            let y = panel.y(axis.fraction(of: tick))
            writer.line(from: (panel.left, y), to: (panel.right, y), colour: Self.faint)
            writer.text(
                Figure.whole(UInt64(tick)), x: panel.left - 8, y: y + 4, Self.face(11, Self.dim),
                anchor: .end)
        }
        let seconds = Double(rates.count) / perSecond
        for part in 0...4 {
            let fraction = Double(part) / 4
            writer.text(
                Figure.short((seconds * fraction * 10).rounded() / 10) + " s",
                x: panel.x(fraction), y: panel.bottom + 18, Self.face(11, Self.dim),
                anchor: .middle)
        }
        let last = Double(max(1, rates.count - 1))
        let points = rates.enumerated().map { index, rate in
            (x: panel.x(Double(index) / last), y: panel.y(axis.fraction(of: Int64(rate))))
        }
        writer.path(points, colour: Self.line, width: 1.5)
    }
}
