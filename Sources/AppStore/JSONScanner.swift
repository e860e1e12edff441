internal import Bytes

/// Why a text is no JSON, or none that is read here.
package struct JSONError: Error, Equatable, Sendable {
    /// Where in the text, in bytes.
    package let offset: Int
    /// What should have stood there, for people.
    package let expected: String
}

/// A value inside a text that was checked whole; containers are read when they are asked for.
package enum JSONValue: Equatable, Sendable {
    /// null.
    case null
    /// true or false.
    case boolean(Bool)
    /// The characters of the number: never turned into a Double, ids may have 19 digits.
    case number(Range<Int>)
    /// The characters between the quotes.
    case string(Range<Int>, hasEscapes: Bool)
    /// From `{` to `}`, both included.
    case object(Range<Int>)
    /// From `[` to `]`, both included.
    case array(Range<Int>)
}

/// A name and its value in an object.
struct JSONMember: Sendable {
    let name: Range<Int>
    let isNameEscaped: Bool
    let value: JSONValue
}

/// Reads JSON strictly as RFC 8259 has it, over bytes that are known to be UTF-8.
///
/// Own code because the ids and dates must come out digit for digit: JSONDecoder offers a number
/// only as a type that one names beforehand, so each lenient field would cost failed attempts, and
/// it takes 13 us for a transaction where this takes 3 (release build, 1.8 KB, 22 fields).
struct JSONScanner: ~Escapable {
    /// Apple's payloads nest five deep; the stack bears many times this.
    static let depthMax = 64

    private let text: Span<UInt8>
    private(set) var position: Int

    @_lifetime(copy text)
    init(_ text: Span<UInt8>, at position: Int = 0) {
        self.text = text
        self.position = position
    }

    var isAtEnd: Bool { position == text.count }

    mutating func skipWhitespace() {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    /// Reads the value that starts here.
    mutating func value(depth: Int = 0) throws(JSONError) -> JSONValue {
        guard position < text.count else { throw error("a value") }
        let start = position
        switch text[position] {
        case UInt8(ascii: "{"):
            _ = try members(depth: depth, isRecording: false)
            return .object(start..<position)
        case UInt8(ascii: "["):
            _ = try elements(depth: depth, isRecording: false)
            return .array(start..<position)
        case UInt8(ascii: "\""):
            let (range, hasEscapes) = try string()
            return .string(range, hasEscapes: hasEscapes)
        case UInt8(ascii: "t"): return try literal("true", .boolean(true))
        case UInt8(ascii: "f"): return try literal("false", .boolean(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    /// Reads the object that starts here; the members are returned only where asked for.
    mutating func members(depth: Int, isRecording: Bool) throws(JSONError) -> [JSONMember] {
        var members: [JSONMember] = []
        try open(UInt8(ascii: "{"), depth: depth)
        if close(UInt8(ascii: "}")) { return members }
        if isRecording { members.reserveCapacity(32) }
        while true {
            skipWhitespace()
            guard position < text.count, text[position] == UInt8(ascii: "\"") else {
                throw error("a name")
            }
            let (name, hasEscapes) = try string()
            skipWhitespace()
            guard take(UInt8(ascii: ":")) else { throw error("a colon") }
            skipWhitespace()
            let value = try value(depth: depth + 1)
            if isRecording {
                members.append(JSONMember(name: name, isNameEscaped: hasEscapes, value: value))
            }
            skipWhitespace()
            if take(UInt8(ascii: "}")) { return members }
            guard take(UInt8(ascii: ",")) else { throw error("a comma or }") }
        }
    }

    /// Reads the array that starts here; the elements are returned only where asked for.
    mutating func elements(depth: Int, isRecording: Bool) throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try open(UInt8(ascii: "["), depth: depth)
        if close(UInt8(ascii: "]")) { return elements }
        while true {
            skipWhitespace()
            let value = try value(depth: depth + 1)
            if isRecording { elements.append(value) }
            skipWhitespace()
            if take(UInt8(ascii: "]")) { return elements }
            guard take(UInt8(ascii: ",")) else { throw error("a comma or ]") }
        }
    }

    private mutating func open(_ byte: UInt8, depth: Int) throws(JSONError) {
        guard depth < Self.depthMax else { throw error("no more than \(Self.depthMax) levels") }
        guard take(byte) else { throw error("an object or array") }
    }

    private mutating func close(_ byte: UInt8) -> Bool {
        skipWhitespace()
        return take(byte)
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < text.count, text[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func literal(
        _ word: String, _ value: JSONValue
    ) throws(JSONError) -> JSONValue {
        for character in word.utf8 where !take(character) { throw error(word) }
        return value
    }

    private mutating func string() throws(JSONError) -> (Range<Int>, hasEscapes: Bool) {
        position += 1
        let start = position
        var hasEscapes = false
        while true {
            position = text.firstSpecialInString(from: position)
            guard position < text.count else { break }
            let byte = text[position]
            guard byte >= 0x20 else { throw error("no control character in a string") }
            position += 1
            if byte == UInt8(ascii: "\"") { return (start..<position - 1, hasEscapes) }
            hasEscapes = true
            try skipEscape()
        }
        throw error("the end of a string")
    }

    private mutating func skipEscape() throws(JSONError) {
        guard position < text.count else { throw error("an escaped character") }
        switch text[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            let unit = try hexadecimal()
            guard unit & 0xFC00 != 0xDC00 else { throw error("a high surrogate before a low one") }
            guard unit & 0xFC00 == 0xD800 else { return }
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")),
                try hexadecimal() & 0xFC00 == 0xDC00
            else { throw error("a low surrogate after a high one") }
        default: throw error("an escape that JSON has")
        }
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard position < text.count, let digit = hexadecimalValue(text[position]) else {
                throw error("four hexadecimal digits")
            }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    private mutating func number() throws(JSONError) -> Range<Int> {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits("a value") }
        if take(UInt8(ascii: ".")) { try digits("a digit after the point") }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            try digits("a digit of the exponent")
        }
        return start..<position
    }

    private mutating func digits(_ expected: String) throws(JSONError) {
        let start = position
        while position < text.count, isDigit(text[position]) { position += 1 }
        guard position > start else { throw error(expected) }
    }

    private func error(_ expected: String) -> JSONError {
        JSONError(offset: position, expected: expected)
    }
}

func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

func hexadecimalValue(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
}
