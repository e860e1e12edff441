/// Why bytes could not be read as what they should be.
package enum ByteError: Error, Equatable, Sendable {
    /// Fewer bytes are left than the next value needs.
    case truncated(offset: Int, needed: Int, available: Int)
    /// A text is no UTF-8.
    case notUTF8(offset: Int)
    /// A value is outside what its field allows.
    case invalidValue(offset: Int)
    /// Bytes are left after the last field.
    case trailing(byteCount: Int)
}

/// Reads what `ByteWriter` wrote; every read checks its bounds.
package struct ByteReader: Sendable {
    private let bytes: [UInt8]
    private let end: Int
    /// Where the next read starts.
    package private(set) var offset: Int

    /// A reader over all of `bytes`, or over what follows `offset`.
    package init(_ bytes: [UInt8], from offset: Int = 0) {
        precondition(offset >= 0 && offset <= bytes.count)
        self.bytes = bytes
        self.end = bytes.count
        self.offset = offset
    }

    /// How many bytes are left.
    package var remaining: Int { end - offset }

    /// Reads one byte.
    package mutating func readUInt8() throws(ByteError) -> UInt8 {
        UInt8(truncatingIfNeeded: try readBigEndian(byteCount: 1))
    }

    /// Reads a two-byte big-endian integer.
    package mutating func readUInt16() throws(ByteError) -> UInt16 {
        UInt16(truncatingIfNeeded: try readBigEndian(byteCount: 2))
    }

    /// Reads a four-byte big-endian integer.
    package mutating func readUInt32() throws(ByteError) -> UInt32 {
        UInt32(truncatingIfNeeded: try readBigEndian(byteCount: 4))
    }

    /// Reads an eight-byte big-endian integer.
    package mutating func readUInt64() throws(ByteError) -> UInt64 {
        try readBigEndian(byteCount: 8)
    }

    /// Reads an eight-byte two's complement integer.
    package mutating func readInt64() throws(ByteError) -> Int64 {
        Int64(bitPattern: try readUInt64())
    }

    /// Reads a two-byte length and that many bytes.
    package mutating func readFramed() throws(ByteError) -> [UInt8] {
        let byteCount = Int(try readUInt16())
        return try readRaw(byteCount: byteCount)
    }

    /// Reads a two-byte length and that many bytes of UTF-8.
    package mutating func readString() throws(ByteError) -> String {
        let start = offset
        let byteCount = Int(try readUInt16())
        guard byteCount <= remaining else {
            throw .truncated(offset: offset, needed: byteCount, available: remaining)
        }
        defer { offset += byteCount }
        guard let text = String(validating: bytes[offset..<offset + byteCount], as: UTF8.self)
        else { throw .notUTF8(offset: start) }
        return text
    }

    /// Reads `byteCount` bytes.
    package mutating func readRaw(byteCount: Int) throws(ByteError) -> [UInt8] {
        guard byteCount <= remaining else {
            throw .truncated(offset: offset, needed: byteCount, available: remaining)
        }
        defer { offset += byteCount }
        return Array(bytes[offset..<offset + byteCount])
    }

    /// Reads all that is left.
    package mutating func readRest() -> [UInt8] {
        defer { offset = end }
        return Array(bytes[offset..<end])
    }

    /// Requires that nothing is left.
    package func finish() throws(ByteError) {
        guard remaining == 0 else { throw .trailing(byteCount: remaining) }
    }

    private mutating func readBigEndian(byteCount: Int) throws(ByteError) -> UInt64 {
        guard byteCount <= remaining else {
            throw .truncated(offset: offset, needed: byteCount, available: remaining)
        }
        var value: UInt64 = 0
        for index in offset..<offset + byteCount {
            value = value << 8 | UInt64(bytes[index])
        }
        offset += byteCount
        return value
    }
}
