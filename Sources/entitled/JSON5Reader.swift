internal import Entitlements

/// Reads JSON5 (https://spec.json5.org): comments, trailing commas, unquoted keys, single quotes.
///
/// FoundationEssentials' decoder reads JSON5 too, and is this reader's oracle in the tests; but it
/// says neither where a document is broken nor that a key stands in it twice, and an operator
/// needs both.
struct JSON5Reader {
    /// The deepest nesting that is read. Settings need 7.
    static let depthMax = 64

    private let scalars: [Unicode.Scalar]
    private var index = 0
    /// The last place whose line was asked for, and its line: keys come in order, so that no key
    /// makes the reader count from the start again.
    private var counted = (offset: 0, line: 1)

    private init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    /// The tree of `text`.
    static func read(_ text: String) throws(JSON5Error) -> JSON5Value {
        var reader = JSON5Reader(text)
        try reader.skipSpace()
        let value = try reader.value(depth: 0)
        try reader.skipSpace()
        guard reader.peek() == nil else {
            throw reader.error("something follows the end of the document")
        }
        return value
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSON5Error) -> JSON5Value {
        guard depth <= Self.depthMax else { throw error("nested deeper than \(Self.depthMax)") }
        switch peek() {
        case nil: throw error("a value is missing: the document ends here")
        case "{": return .table(try table(depth: depth))
        case "[": return .list(try list(depth: depth))
        case "\"", "'": return .text(try string())
        case let scalar? where JSON5Scalars.startsNumber(scalar): return try number()
        default: return try word()
        }
    }

    private mutating func table(depth: Int) throws(JSON5Error) -> [JSON5Member] {
        index += 1
        var members: [JSON5Member] = []
        var lines: [ExactName: Int] = [:]
        while true {
            try skipSpace()
            if accept("}") { return members }
            let start = index
            let key = try key()
            // Bytes decide: Swift's strings take two spellings of one accent for the same.
            if let earlier = lines[ExactName(key)] {
                index = start
                throw error("`\(key)` stands here a second time, after line \(earlier)")
            }
            let line = line(of: start)
            lines[ExactName(key)] = line
            try skipSpace()
            guard accept(":") else { throw error("`:` is missing after `\(key)`") }
            try skipSpace()
            let value = try value(depth: depth + 1)
            members.append(JSON5Member(key: key, line: line, value: value))
            try skipSpace()
            if !accept(","), peek() != "}" { throw error("`,` or `}` is missing") }
        }
    }

    private mutating func list(depth: Int) throws(JSON5Error) -> [JSON5Value] {
        index += 1
        var values: [JSON5Value] = []
        while true {
            try skipSpace()
            if accept("]") { return values }
            values.append(try value(depth: depth + 1))
            try skipSpace()
            if !accept(","), peek() != "]" { throw error("`,` or `]` is missing") }
        }
    }

    private mutating func key() throws(JSON5Error) -> String {
        if peek() == "\"" || peek() == "'" { return try string() }
        let name = identifier()
        guard !name.isEmpty else { throw error("a key is missing") }
        return name
    }

    private mutating func word() throws(JSON5Error) -> JSON5Value {
        let start = index
        switch identifier() {
        case "null": return .null
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "Infinity", "NaN":
            return .decimal(String(String.UnicodeScalarView(scalars[start..<index])))
        case "":
            throw error("a value is missing")
        case let name:
            index = start
            throw error("`\(name)` is no value; a string needs quotation marks")
        }
    }

    private mutating func identifier() -> String {
        var name = String.UnicodeScalarView()
        while let scalar = peek(), JSON5Scalars.isIdentifier(scalar, first: name.isEmpty) {
            name.append(scalar)
            index += 1
        }
        return String(name)
    }

    // MARK: Numbers

    private mutating func number() throws(JSON5Error) -> JSON5Value {
        let start = index
        while let scalar = peek(), JSON5Scalars.continuesNumber(scalar) {
            // A sign stands at the front or after an exponent; elsewhere it ends the number.
            if scalar == "+" || scalar == "-", index > start, scalars[index - 1] != "e",
                scalars[index - 1] != "E"
            {
                break
            }
            index += 1
        }
        let text = String(String.UnicodeScalarView(scalars[start..<index]))
        guard let value = JSON5Scalars.number(text) else {
            index = start
            throw error("`\(text)` is no number")
        }
        return value
    }

    // MARK: Strings

    private mutating func string() throws(JSON5Error) -> String {
        let start = index
        let quote = scalars[index]
        index += 1
        var text = String.UnicodeScalarView()
        while let scalar = peek() {
            index += 1
            switch scalar {
            case quote: return String(text)
            case "\n", "\r":
                index = start
                throw error("this string is not closed on its line")
            case "\\": try escape(into: &text)
            default: text.append(scalar)
            }
        }
        index = start
        throw error("this string is not closed")
    }

    private mutating func escape(into text: inout String.UnicodeScalarView) throws(JSON5Error) {
        guard let scalar = peek() else { throw error("the document ends in a string") }
        index += 1
        switch scalar {
        case "n": text.append("\n")
        case "t": text.append("\t")
        case "r": text.append("\r")
        case "b": text.append("\u{8}")
        case "f": text.append("\u{c}")
        case "v": text.append("\u{b}")
        case "0":
            if let next = peek(), ("0"..."9").contains(next) { throw error("an octal escape") }
            text.append("\0")
        case "1"..."9":
            index -= 1
            throw error("`\\\(scalar)` is no escape")
        case "x": text.append(try codePoint(digitCount: 2))
        case "u": text.append(try codePoint(digitCount: 4))
        case "\r": _ = accept("\n")
        case "\n", "\u{2028}", "\u{2029}": break
        default: text.append(scalar)
        }
    }

    private mutating func codePoint(digitCount: Int) throws(JSON5Error) -> Unicode.Scalar {
        let high = try hexadecimal(digitCount)
        if let scalar = Unicode.Scalar(high) { return scalar }
        // A surrogate: its second half follows as another \u escape.
        guard (0xD800..<0xDC00).contains(high), accept("\\"), accept("u") else {
            throw error("half a surrogate pair")
        }
        let low = try hexadecimal(4)
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw error("half a surrogate pair") }
        return scalar
    }

    private mutating func hexadecimal(_ digitCount: Int) throws(JSON5Error) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digitCount {
            guard let scalar = peek(), let digit = Character(scalar).hexDigitValue, scalar.isASCII
            else { throw error("\(digitCount) hexadecimal digits are expected here") }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }

    // MARK: Space and position

    private mutating func skipSpace() throws(JSON5Error) {
        while let scalar = peek() {
            if JSON5Scalars.isSpace(scalar) {
                index += 1
            } else if scalar == "/" {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(JSON5Error) {
        let start = index
        index += 1
        if accept("/") {
            while let scalar = peek(), !JSON5Scalars.isLineEnd(scalar) { index += 1 }
            return
        }
        guard accept("*") else {
            index = start
            throw error("`/` starts no comment")
        }
        while let scalar = peek() {
            index += 1
            if scalar == "*", accept("/") { return }
        }
        index = start
        throw error("this comment is not closed")
    }

    private func peek() -> Unicode.Scalar? {
        index < scalars.count ? scalars[index] : nil
    }

    private mutating func accept(_ scalar: Unicode.Scalar) -> Bool {
        guard peek() == scalar else { return false }
        index += 1
        return true
    }

    private func error(_ message: String) -> JSON5Error {
        let (line, column) = position(of: index)
        return JSON5Error(message: message, line: line, column: column)
    }

    /// The line of a place that is not before the last one asked for.
    private mutating func line(of offset: Int) -> Int {
        counted.line += scalars[counted.offset..<offset].count { $0 == "\n" }
        counted.offset = offset
        return counted.line
    }

    private func position(of offset: Int) -> (line: Int, column: Int) {
        var line = 1
        var column = 1
        for scalar in scalars[..<min(offset, scalars.count)] {
            if scalar == "\n" {
                line += 1
                column = 1
            } else {
                column += 1
            }
        }
        return (line, column)
    }
}
