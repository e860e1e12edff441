/// A JSON object whose members are asked for by name, leniently: what is null or of another type
/// than asked for is absent.
package struct JSONObject: Sendable {
    private let text: [UInt8]
    private let members: [JSONMember]

    /// Checks a whole text that must be one object.
    ///
    /// - Parameter text: UTF-8, as it came: anything at all.
    /// - Throws: ``JSONError``, at the first thing that is wrong.
    package init(_ text: [UInt8]) throws(JSONError) {
        guard (try? UTF8Span(validating: text.span)) != nil else {
            throw JSONError(offset: 0, expected: "UTF-8")
        }
        var scanner = JSONScanner(text.span)
        scanner.skipWhitespace()
        let members = try scanner.members(depth: 0, isRecording: true)
        scanner.skipWhitespace()
        guard scanner.isAtEnd else {
            throw JSONError(offset: scanner.position, expected: "nothing after the object")
        }
        self.text = text
        self.members = members
    }

    /// An object inside a text that was checked before.
    private init?(_ text: [UInt8], at start: Int) {
        var scanner = JSONScanner(text.span, at: start)
        guard let members = try? scanner.members(depth: 0, isRecording: true) else { return nil }
        self.text = text
        self.members = members
    }

    /// The value of the last member of this name (RFC 7515 section 4 allows that for a header);
    /// nil for null.
    package func value(_ name: String) -> JSONValue? {
        let name = name.utf8
        for member in members.reversed() where isName(member, name) {
            return member.value == .null ? nil : member.value
        }
        return nil
    }

    /// Whether there is a member of this name, null or not.
    package func contains(_ name: String) -> Bool {
        members.contains { isName($0, name.utf8) }
    }

    private func isName(_ member: JSONMember, _ name: String.UTF8View) -> Bool {
        guard !member.isNameEscaped else {
            return unescaped(member.name).elementsEqual(name)
        }
        guard member.name.count == name.count else { return false }
        // The last characters differ more often than the first: many names begin alike.
        var position = member.name.upperBound
        for byte in name.reversed() {
            position -= 1
            if text[position] != byte { return false }
        }
        return true
    }

    /// A string.
    package func string(_ name: String) -> String? {
        bytes(name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The UTF-8 of a string.
    package func bytes(_ name: String) -> [UInt8]? {
        value(name).flatMap(bytes)
    }

    /// The UTF-8 of a value that is a string.
    package func bytes(_ value: JSONValue) -> [UInt8]? {
        guard case .string(let range, let hasEscapes) = value else { return nil }
        return hasEscapes ? unescaped(range) : Array(text[range])
    }

    /// A string, or an integer digit for digit.
    package func text(_ name: String) -> String? {
        value(name).flatMap(text)
    }

    /// A value that is a string, or an integer digit for digit.
    package func text(_ value: JSONValue) -> String? {
        if case .number(let range) = value {
            guard isInteger(range) else { return nil }
            return String(decoding: text[range], as: UTF8.self)
        }
        return bytes(value).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A number, floored, or a string of digits; nil beyond 64 bits.
    package func integer(_ name: String) -> Int64? {
        switch value(name) {
        case .number(let range): floored(range)
        case .string(let range, hasEscapes: false): exact(range)
        default: nil
        }
    }

    /// A number that fits 32 bits.
    package func integer32(_ name: String) -> Int32? {
        integer(name).flatMap { Int32(exactly: $0) }
    }

    /// true, or the string "true"; nil for anything but a boolean or its name.
    package func boolean(_ name: String) -> Bool? {
        switch value(name) {
        case .boolean(let boolean): boolean
        case .string(let range, _) where text[range].elementsEqual("true".utf8): true
        case .string(let range, _) where text[range].elementsEqual("false".utf8): false
        default: nil
        }
    }

    /// An object.
    package func object(_ name: String) -> JSONObject? {
        value(name).flatMap(object)
    }

    /// A value that is an object.
    package func object(_ value: JSONValue) -> JSONObject? {
        guard case .object(let range) = value else { return nil }
        return JSONObject(text, at: range.lowerBound)
    }

    /// The elements of an array.
    package func array(_ name: String) -> [JSONValue]? {
        guard case .array(let range)? = value(name) else { return nil }
        var scanner = JSONScanner(text.span, at: range.lowerBound)
        return try? scanner.elements(depth: 0, isRecording: true)
    }

    private func isInteger(_ range: Range<Int>) -> Bool {
        text[range].allSatisfy { isDigit($0) || $0 == UInt8(ascii: "-") }
    }

    private func exact(_ range: Range<Int>) -> Int64? {
        guard isInteger(range) else { return nil }
        return Int64(String(decoding: text[range], as: UTF8.self))
    }

    private func floored(_ range: Range<Int>) -> Int64? {
        if isInteger(range) { return exact(range) }
        guard let number = Double(String(decoding: text[range], as: UTF8.self)) else { return nil }
        return Int64(exactly: number.rounded(.down))
    }

    /// Resolves escapes; the scanner has checked every one of them.
    private func unescaped(_ range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = text[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            let kind = text[position]
            position += 1
            switch kind {
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "u"): bytes += Array(scalar(at: &position).utf8)
            default: bytes.append(kind)
            }
        }
        return bytes
    }

    private func scalar(at position: inout Int) -> String {
        var scalar = codeUnit(at: &position)
        if scalar & 0xFC00 == 0xD800 {
            position += 2
            scalar = 0x10000 + (scalar & 0x3FF) << 10 + codeUnit(at: &position) & 0x3FF
        }
        return Unicode.Scalar(scalar).map { String(Character($0)) } ?? "\u{FFFD}"
    }

    private func codeUnit(at position: inout Int) -> UInt32 {
        defer { position += 4 }
        return text[position..<position + 4].reduce(0) { $0 << 4 | (hexadecimalValue($1) ?? 0) }
    }
}
