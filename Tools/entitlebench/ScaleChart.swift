internal import Glibc
internal import ToolSupport

/// The curve of the costs that are meant to stay flat: customers and microseconds, both by powers
/// of ten.
struct ScaleChart {
    private let report: ScaleReport

    private static let width = 720.0
    private static let height = 420.0
    private static let left = 70.0
    private static let right = 190.0
    private static let top = 50.0
    private static let bottom = 50.0
    private static let text = SVGWriter.Face(size: 12, colour: "#333333")
    private static let bold = SVGWriter.Face(size: 16, colour: "#111111", isBold: true)
    private static let darkColours = [
        (colour: "#333333", onDark: "#c9c9d1"), (colour: "#111111", onDark: "#f2f2f5"),
        (colour: "#e5e7eb", onDark: "#3b3b42"), (colour: "#b45309", onDark: "#f59e0b"),
        (colour: "#7c3aed", onDark: "#b794f6"), (colour: "#0f766e", onDark: "#2dd4bf"),
    ]

    /// A cost over the sizes.
    private struct Curve: Sendable {
        let name: String
        let colour: String
        let nanoseconds: @Sendable (ScaleFigures) -> Double
    }

    private static let curves = [
        Curve(name: "notification, server CPU", colour: "#b45309") { $0.ingestNanoseconds },
        Curve(name: "three ES256 alone", colour: "#9ca3af") { 3 * $0.verificationNanoseconds },
        Curve(name: "bare RocksDB read", colour: "#7c3aed") { $0.readNanoseconds },
        Curve(name: "check, server CPU", colour: "#0f766e") { $0.checkNanoseconds },
    ]

    init(_ report: ScaleReport) { self.report = report }

    /// The drawing.
    var document: String {
        var svg = SVGWriter(
            width: Self.width, height: Self.height, title: "Cost as customers grow",
            description: report.growth.joined(separator: "; "), darkColours: Self.darkColours)
        svg.text("Cost as customers grow", x: Self.left, y: 26, Self.bold)
        drawScales(&svg)
        for curve in Self.curves { draw(curve, &svg) }
        return svg.document
    }

    /// Powers of ten of nanoseconds that the drawing spans.
    private var exponents: ClosedRange<Int> {
        let values = report.figures.flatMap { figure in
            Self.curves.map { $0.nanoseconds(figure) }.filter { $0 > 0 }
        }
        let low = Int(floor(log10(values.min() ?? 100)))
        let high = Int(ceil(log10(values.max() ?? 1_000_000)))
        return low...max(low + 1, high)
    }

    private func x(_ customerCount: Int) -> Double {
        let counts = report.figures.map { log10(Double($0.customerCount)) }
        let (low, high) = (counts.min() ?? 0, counts.max() ?? 1)
        let share = high > low ? (log10(Double(customerCount)) - low) / (high - low) : 0.5
        return Self.left + share * (Self.width - Self.left - Self.right)
    }

    private func y(_ nanoseconds: Double) -> Double {
        let (low, high) = (Double(exponents.lowerBound), Double(exponents.upperBound))
        let share = (log10(max(nanoseconds, 1)) - low) / (high - low)
        return Self.height - Self.bottom - share * (Self.height - Self.top - Self.bottom)
    }

    private func drawScales(_ svg: inout SVGWriter) {
        for exponent in exponents {
            let value = pow(10, Double(exponent))
            svg.line(
                from: (Self.left, y(value)), to: (Self.width - Self.right, y(value)),
                colour: "#e5e7eb")
            svg.text(
                Figure.short(value / 1_000) + " us", x: Self.left - 8, y: y(value) + 4, Self.text,
                anchor: .end)
        }
        for figure in report.figures {
            svg.text(
                Figure.whole(UInt64(figure.customerCount)), x: x(figure.customerCount),
                y: Self.height - Self.bottom + 20, Self.text, anchor: .middle)
        }
        svg.text(
            "customers", x: (Self.left + Self.width - Self.right) / 2, y: Self.height - 8,
            Self.text, anchor: .middle)
    }

    private func draw(_ curve: Curve, _ svg: inout SVGWriter) {
        let points = report.figures.filter { curve.nanoseconds($0) > 0 }.map {
            (x: x($0.customerCount), y: y(curve.nanoseconds($0)))
        }
        guard let last = points.last else { return }
        svg.path(points, colour: curve.colour, width: 2.5, label: curve.name)
        for point in points {
            svg.rectangle(
                x: point.x - 3, y: point.y - 3, width: 6, height: 6, fill: curve.colour, radius: 3)
        }
        svg.text(
            curve.name, x: last.x + 10, y: last.y + 4,
            SVGWriter.Face(size: 12, colour: curve.colour))
    }
}
