/// Writes a drawing as SVG: a few shapes and texts, no scripts, nothing loaded from elsewhere.
///
/// See: https://www.w3.org/TR/SVG11/
package struct SVGWriter: Sendable {
    /// Where a text stands to its point.
    package enum Anchor: String, Sendable {
        case start, middle, end
    }

    /// How a text looks.
    package struct Face: Sendable {
        /// In pixels.
        package var size: Double
        /// As CSS writes it.
        package var colour: String
        /// Whether it is bold.
        package var isBold: Bool

        /// A face; sizes are in pixels.
        package init(size: Double, colour: String, isBold: Bool = false) {
            self.size = size
            self.colour = colour
            self.isBold = isBold
        }
    }

    private let width: Double
    private let height: Double
    private let title: String
    private let description: String
    private let darkColours: [(colour: String, onDark: String)]
    private var body = ""

    /// An empty drawing.
    ///
    /// - Parameters:
    ///   - width: in pixels; it scales to whatever it is shown in.
    ///   - height: in pixels.
    ///   - title: what it shows, for those who do not see it.
    ///   - description: the same at length.
    ///   - darkColours: what stands in for a colour where readers have asked for dark pages. The
    ///     white ground is black there; colours that are not named stay as they are.
    package init(
        width: Double, height: Double, title: String, description: String,
        darkColours: [(colour: String, onDark: String)] = []
    ) {
        self.width = width
        self.height = height
        self.title = title
        self.description = description
        self.darkColours = darkColours
    }

    /// A filled rectangle; `label` is shown when a pointer rests on it, and read out.
    package mutating func rectangle(
        x: Double, y: Double, width: Double, height: Double, fill: String, radius: Double = 0,
        label: String = ""
    ) {
        let rounding = radius > 0 ? " rx=\"\(Self.number(radius))\"" : ""
        body +=
            "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
            + " width=\"\(Self.number(width))\" height=\"\(Self.number(height))\"\(rounding)"
            + " fill=\"\(Self.escaped(fill))\""
        body += label.isEmpty ? "/>\n" : "><title>\(Self.escaped(label))</title></rect>\n"
    }

    /// A straight line.
    package mutating func line(
        from start: (x: Double, y: Double), to end: (x: Double, y: Double), colour: String,
        width: Double = 1
    ) {
        body +=
            "<line x1=\"\(Self.number(start.x))\" y1=\"\(Self.number(start.y))\""
            + " x2=\"\(Self.number(end.x))\" y2=\"\(Self.number(end.y))\""
            + " stroke=\"\(Self.escaped(colour))\" stroke-width=\"\(Self.number(width))\"/>\n"
    }

    /// A line through points; `label` is shown when a pointer rests on it, and read out.
    package mutating func path(
        _ points: [(x: Double, y: Double)], colour: String, width: Double = 1.5,
        label: String = ""
    ) {
        guard points.count > 1 else { return }
        let places = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }
        body +=
            "<polyline points=\"\(places.joined(separator: " "))\" fill=\"none\""
            + " stroke=\"\(Self.escaped(colour))\" stroke-width=\"\(Self.number(width))\""
            + " stroke-linejoin=\"round\""
        body += label.isEmpty ? "/>\n" : "><title>\(Self.escaped(label))</title></polyline>\n"
    }

    /// A line of text, its baseline at `y`.
    package mutating func text(
        _ text: String, x: Double, y: Double, _ face: Face, anchor: Anchor = .start
    ) {
        let weight = face.isBold ? " font-weight=\"600\"" : ""
        body +=
            "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
            + " font-size=\"\(Self.number(face.size))\"\(weight)"
            + " fill=\"\(Self.escaped(face.colour))\""
            + " text-anchor=\"\(anchor.rawValue)\">\(Self.escaped(text))</text>\n"
    }

    /// The whole drawing.
    package var document: String {
        let size = "\(Self.number(width)) \(Self.number(height))"
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size)" \
            width="\(Self.number(width))" height="\(Self.number(height))" role="img" \
            aria-labelledby="title description" \
            font-family="system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif">
            <title id="title">\(Self.escaped(title))</title>
            <desc id="description">\(Self.escaped(description))</desc>
            \(style)<rect width="100%" height="100%" fill="#ffffff"/>
            \(body)</svg>

            """
    }

    /// Rules of CSS go before attributes, so a viewer that knows none of it draws light colours.
    private var style: String {
        guard !darkColours.isEmpty else { return "" }
        let rules = ([(colour: "#ffffff", onDark: "#16161a")] + darkColours).map { pair in
            let (colour, onDark) = (Self.escaped(pair.colour), Self.escaped(pair.onDark))
            return "[fill=\"\(colour)\"]{fill:\(onDark)}"
                + "[stroke=\"\(colour)\"]{stroke:\(onDark)}"
        }
        return "<style>@media (prefers-color-scheme: dark) {\n"
            + rules.joined(separator: "\n") + "\n}</style>\n"
    }

    /// With two decimals at most: enough for a pixel, and the same on every machine.
    private static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return "0" }
        let hundredths = Int64((value * 100).rounded())
        let (whole, rest) = (hundredths.magnitude / 100, hundredths.magnitude % 100)
        let fraction = rest == 0 ? "" : rest < 10 ? ".0\(rest)" : ".\(rest)"
        return (hundredths < 0 ? "-" : "") + "\(whole)" + fraction
    }

    /// What XML would take for its own is written otherwise; what it cannot hold at all is left
    /// out.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case _ where Console.isUnsafe(scalar) || scalar.value & 0xFFFE == 0xFFFE: break
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
