/// Reads an input as a script: small choices first, the rest as it comes.
///
/// Past the end every choice is 0, so each prefix of a script is a script.
struct ByteScript {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// Whether nothing is left.
    var isAtEnd: Bool { rest.isEmpty }

    /// The next byte.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// The next byte as one of `count` choices.
    mutating func choice(of count: Int) -> Int { Int(byte()) % count }

    /// A number of two bytes.
    mutating func number() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// Eight bytes as an instant.
    mutating func instant() -> Int64 {
        var value: UInt64 = 0
        for _ in 0..<8 { value = value << 8 | UInt64(byte()) }
        return Int64(bitPattern: value)
    }

    /// At most `count` bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = rest.prefix(count)
        rest = rest.dropFirst(count)
        return Array(taken)
    }

    /// All that is left.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }

    /// A copy of `original` with some bytes replaced, left out or put in: up to eight times a place
    /// of two bytes, what to do, and a byte.
    mutating func patched(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0..<choice(of: 9) {
            let place = number() % (bytes.count + 1)
            let kind = choice(of: 4)
            let value = byte()
            switch kind {
            case 0 where place < bytes.count: bytes[place] = value
            case 1 where place < bytes.count:
                bytes.removeSubrange(place..<min(place + 1 + Int(value), bytes.count))
            case 2: bytes.insert(value, at: place)
            case 3: bytes.insert(contentsOf: self.bytes(Int(value)), at: place)
            default: bytes.append(value)
            }
        }
        return bytes
    }
}
