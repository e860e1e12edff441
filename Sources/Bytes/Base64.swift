/// What is wrong with a text that should have been Base64 or Base64URL.
package enum Base64Error: Error, Equatable, Sendable {
    /// The byte at `offset` is not of the alphabet; padding where none may stand counts as such.
    case foreignCharacter(offset: Int)
    /// No number of bytes encodes to a text of this length.
    case impossibleLength(characterCount: Int)
    /// The bits of the last character that carry nothing are not zero (RFC 4648 section 3.5).
    case looseBits
}

/// Base64 with padding, as in the `x5c` header of a JWS (RFC 4648 section 4, RFC 7515 4.1.6).
///
/// Strict: no line break, no character outside of the alphabet, whole groups of four only.
package enum Base64 {
    /// The bytes that `text` stands for.
    ///
    /// - Parameter text: ASCII, `=` only where the last group needs it.
    /// - Returns: The decoded bytes; none for an empty text.
    /// - Throws: ``Base64Error``, at the first thing that is wrong.
    package static func decode(_ text: Span<UInt8>) throws(Base64Error) -> [UInt8] {
        guard text.count % 4 == 0 else { throw .impossibleLength(characterCount: text.count) }
        var end = text.count
        if end > 0, text[end - 1] == Base64Alphabet.padding {
            end -= 1
            if text[end - 1] == Base64Alphabet.padding { end -= 1 }
        }
        return try Base64Alphabet.standard.decode(text.extracting(0..<end))
    }

    /// The padded text that stands for `bytes`, in ASCII.
    ///
    /// - Parameter bytes: Any bytes.
    /// - Returns: A multiple of four characters.
    package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        var text = Base64Alphabet.standard.encode(bytes)
        while text.count % 4 != 0 { text.append(Base64Alphabet.padding) }
        return text
    }
}

/// The 64 characters and their values, and the one conversion that both forms share.
struct Base64Alphabet: Sendable {
    static let padding = UInt8(ascii: "=")
    static let standard = Base64Alphabet(
        character62: UInt8(ascii: "+"), character63: UInt8(ascii: "/"))
    static let urlSafe = Base64Alphabet(
        character62: UInt8(ascii: "-"), character63: UInt8(ascii: "_"))

    /// Marks a byte that is no character of the alphabet; above every value of six bits.
    private static let foreign: UInt8 = 0xFF

    private let characters: [UInt8]
    private let values: [UInt8]

    private init(character62: UInt8, character63: UInt8) {
        var characters: [UInt8] = []
        characters += UInt8(ascii: "A")...UInt8(ascii: "Z")
        characters += UInt8(ascii: "a")...UInt8(ascii: "z")
        characters += UInt8(ascii: "0")...UInt8(ascii: "9")
        characters += [character62, character63]
        var values = [UInt8](repeating: Self.foreign, count: 256)
        for (value, character) in characters.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        self.characters = characters
        self.values = values
    }

    /// Decodes a text without padding: whole groups of four, then two or three characters more.
    func decode(_ text: Span<UInt8>) throws(Base64Error) -> [UInt8] {
        let rest = text.count % 4
        guard rest != 1 else { throw .impossibleLength(characterCount: text.count) }
        return try [UInt8](capacity: text.count / 4 * 3 + 2) { bytes throws(Base64Error) in
            try decode(text, into: &bytes)
        }
    }

    private func decode(
        _ text: Span<UInt8>, into bytes: inout OutputSpan<UInt8>
    ) throws(Base64Error) {
        let values = self.values.span
        var position = 0
        while position + 4 <= text.count {
            let a = values[Int(text[position])]
            let b = values[Int(text[position + 1])]
            let c = values[Int(text[position + 2])]
            let d = values[Int(text[position + 3])]
            guard (a | b | c | d) < 64 else { throw foreignCharacter(in: text, from: position) }
            bytes.append(a << 2 | b >> 4)
            bytes.append(b << 4 | c >> 2)
            bytes.append(c << 6 | d)
            position += 4
        }
        guard position < text.count else { return }
        let a = values[Int(text[position])]
        let b = values[Int(text[position + 1])]
        let c = position + 2 < text.count ? values[Int(text[position + 2])] : 0
        guard (a | b | c) < 64 else { throw foreignCharacter(in: text, from: position) }
        bytes.append(a << 2 | b >> 4)
        guard position + 2 < text.count else {
            guard b & 0b1111 == 0 else { throw .looseBits }
            return
        }
        bytes.append(b << 4 | c >> 2)
        guard c & 0b11 == 0 else { throw .looseBits }
    }

    private func foreignCharacter(in text: Span<UInt8>, from position: Int) -> Base64Error {
        var offset = position
        while offset < text.count - 1, values[Int(text[offset])] < 64 { offset += 1 }
        return .foreignCharacter(offset: offset)
    }

    /// Encodes without padding.
    func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var position = 0
        while position < bytes.count {
            let a = bytes[position]
            let b = position + 1 < bytes.count ? bytes[position + 1] : 0
            let c = position + 2 < bytes.count ? bytes[position + 2] : 0
            text.append(characters[Int(a >> 2)])
            text.append(characters[Int((a & 0b11) << 4 | b >> 4)])
            if position + 1 < bytes.count {
                text.append(characters[Int((b & 0b1111) << 2 | c >> 6)])
            }
            if position + 2 < bytes.count { text.append(characters[Int(c & 0b11_1111)]) }
            position += 3
        }
        return text
    }
}
