/// How a piece of a line looks on a terminal.
package enum Style: Equatable, Sendable {
    case plain, bold, dim, good, bad

    fileprivate var code: String {
        switch self {
        case .plain: ""
        case .bold: "1"
        case .dim: "2"
        case .good: "32"
        case .bad: "31"
        }
    }
}

/// One line of output, piece by piece.
package struct Line: Equatable, Sendable, ExpressibleByStringInterpolation {
    /// From left to right.
    package private(set) var pieces: [(text: String, style: Style)]

    /// A line of one piece.
    package init(_ text: String, _ style: Style = .plain) { pieces = [(text, style)] }

    /// A plain line.
    package init(stringLiteral value: String) { self.init(value) }

    /// The same line with a piece added.
    package func adding(_ text: String, _ style: Style = .plain) -> Line {
        var line = self
        line.pieces.append((text, style))
        return line
    }

    /// The same pieces.
    package static func == (left: Line, right: Line) -> Bool {
        left.pieces.elementsEqual(right.pieces) { $0 == $1 }
    }

    /// Without colours.
    package var text: String { pieces.map(\.text).joined() }
}

/// Where results and words go: results to stdout, everything else to stderr.
package struct Console: Sendable {
    /// The tool's name, which stands before what it fails of.
    let tool: String
    /// Whether results may be coloured.
    package let usesColour: Bool
    /// `-q`: no notes.
    package let isQuiet: Bool
    /// `-v`: details of what is done.
    package let isVerbose: Bool
    private let write: @Sendable (String, SystemCalls.StandardStream) -> Void

    /// A console that writes by `write`.
    package init(
        tool: String, usesColour: Bool, isQuiet: Bool = false, isVerbose: Bool = false,
        write: @escaping @Sendable (String, SystemCalls.StandardStream) -> Void = {
            SystemCalls.write($0, to: $1)
        }
    ) {
        self.tool = tool
        self.usesColour = usesColour
        self.isQuiet = isQuiet
        self.isVerbose = isVerbose
        self.write = write
    }

    /// Results, line by line.
    package func print(_ lines: [Line]) {
        write(lines.map { rendered($0) + "\n" }.joined(), .output)
    }

    /// One line of a result.
    package func print(_ line: Line) { print([line]) }

    /// A result as one JSON object on a line of its own.
    package func print(_ json: JSONValue) { write(json.text + "\n", .output) }

    /// A word to the person, not part of the result.
    package func note(_ text: String) {
        if !isQuiet { write(Self.clean(text) + "\n", .error) }
    }

    /// Words to the person that `-q` does not hold back.
    package func alwaysNote(_ lines: [String]) {
        write(lines.map { Self.clean($0) + "\n" }.joined(), .error)
    }

    /// A detail for those who asked with `-v`.
    package func detail(_ text: String) {
        if isVerbose { write(Self.clean(text) + "\n", .error) }
    }

    /// Why the command failed; said even with `-q`.
    package func fail(_ failure: CommandFailure) {
        var text = "\(tool): \(Self.clean(failure.message))\n"
        for line in failure.hint.split(separator: "\n") {
            text += "  \(Self.clean(String(line)))\n"
        }
        write(text, .error)
    }

    /// A bar on the terminal, with our own controls in it; `-q` holds it back.
    package func rewrite(_ text: String) {
        if !isQuiet { write(text, .error) }
    }

    /// Help and the like: our own text, with its own line feeds.
    package func page(_ text: String) { write(text, .output) }

    private func rendered(_ line: Line) -> String {
        line.pieces.map { piece in
            let text = Self.clean(piece.text)
            guard usesColour, piece.style != .plain, !text.isEmpty else { return text }
            return "\u{1B}[\(piece.style.code)m\(text)\u{1B}[0m"
        }.joined()
    }

    /// `text` with everything in it made visible that a terminal would obey: a server, or whoever
    /// filled it, must not move the cursor, rename the window or turn text around.
    package static func clean(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { isUnsafe($0) }) else { return text }
        var cleaned = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                cleaned += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                cleaned.unicodeScalars.append(scalar)
            }
        }
        return cleaned
    }

    /// Controls (C0, DEL, C1), line separators, and what changes the direction of text.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069,
            0xFEFF:
            true
        default: false
        }
    }
}
