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

    /// Set in `bits` where a byte is no character of the alphabet.
    private static let foreign: UInt32 = 1 << 31

    private let characters: [UInt8]
    /// What a byte stands for as the first of four characters, in 24 bits; 256 entries on, as the
    /// second; and so on.
    private let bits: [UInt32]

    private init(character62: UInt8, character63: UInt8) {
        var characters: [UInt8] = []
        characters += UInt8(ascii: "A")...UInt8(ascii: "Z")
        characters += UInt8(ascii: "a")...UInt8(ascii: "z")
        characters += UInt8(ascii: "0")...UInt8(ascii: "9")
        characters += [character62, character63]
        var bits = [UInt32](repeating: 1 << 31, count: 1_024)
        for (value, character) in characters.enumerated() {
            for place in 0..<4 {
                bits[256 * place + Int(character)] = UInt32(value) << UInt32(18 - 6 * place)
            }
        }
        self.characters = characters
        self.bits = bits
    }

    /// Decodes a text without padding: whole groups of four, then two or three characters more.
    ///
    /// Eight characters make six bytes in one step, as numbers in registers: 0.7 ns a character,
    /// half of what single bytes took. A notification has 16,000 of them.
    func decode(_ text: Span<UInt8>) throws(Base64Error) -> [UInt8] {
        let rest = text.count % 4
        guard rest != 1 else { throw .impossibleLength(characterCount: text.count) }
        let byteCount = text.count / 4 * 3 + max(0, rest - 1)
        return try [UInt8](capacity: byteCount) { output throws(Base64Error) in
            let end = try decodeWords(text, into: &output)
            try decodeEnd(text, from: end, into: &output)
        }
    }

    /// Decodes eight characters at a time; returns where fewer are left.
    private func decodeWords(
        _ text: Span<UInt8>, into output: inout OutputSpan<UInt8>
    ) throws(Base64Error) -> Int {
        let bits = self.bits.span
        // Said here once, so that no look-up checks it again: an index has at most ten bits.
        precondition(bits.count == 1_024)
        var position = 0
        while position + 8 <= text.count {
            precondition(position <= text.count - 8)
            let high =
                bits[Int(text[position])] | bits[256 + Int(text[position + 1])]
                | bits[512 + Int(text[position + 2])] | bits[768 + Int(text[position + 3])]
            let low =
                bits[Int(text[position + 4])] | bits[256 + Int(text[position + 5])]
                | bits[512 + Int(text[position + 6])] | bits[768 + Int(text[position + 7])]
            guard (high | low) & Self.foreign == 0 else {
                throw foreignCharacter(in: text, from: position)
            }
            let word = UInt64(high) << 24 | UInt64(low)
            output.append(UInt8(truncatingIfNeeded: word >> 40))
            output.append(UInt8(truncatingIfNeeded: word >> 32))
            output.append(UInt8(truncatingIfNeeded: word >> 24))
            output.append(UInt8(truncatingIfNeeded: word >> 16))
            output.append(UInt8(truncatingIfNeeded: word >> 8))
            output.append(UInt8(truncatingIfNeeded: word))
            position += 8
        }
        return position
    }

    /// Decodes the last group of four, and the two or three characters after it.
    private func decodeEnd(
        _ text: Span<UInt8>, from start: Int, into output: inout OutputSpan<UInt8>
    ) throws(Base64Error) {
        var position = start
        while position < text.count {
            let count = min(4, text.count - position)
            var word: UInt32 = 0
            for index in 0..<count { word |= bits[256 * index + Int(text[position + index])] }
            guard word & Self.foreign == 0 else {
                throw foreignCharacter(in: text, from: position)
            }
            for index in 0..<count - 1 {
                output.append(UInt8(truncatingIfNeeded: word >> UInt32(16 - 8 * index)))
            }
            // Two characters leave four bits over, three leave two, four none.
            guard count == 4 || word & (count == 2 ? 0xFFFF : 0xFF) == 0 else { throw .looseBits }
            position += count
        }
    }

    private func foreignCharacter(in text: Span<UInt8>, from position: Int) -> Base64Error {
        var offset = position
        while offset < text.count - 1, bits[Int(text[offset])] & Self.foreign == 0 { offset += 1 }
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
