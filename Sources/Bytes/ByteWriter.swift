/// Writes big-endian integers and length-framed strings into a growing byte array.
///
/// Keys are written with it, so every integer is big-endian: byte order equals numeric order.
package struct ByteWriter: Sendable {
    /// What was written so far.
    package private(set) var bytes: [UInt8]

    /// An empty writer with room for `capacity` bytes.
    package init(capacity: Int = 64) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Appends one byte.
    package mutating func append(_ value: UInt8) {
        bytes.append(value)
    }

    /// Appends two bytes, most significant first.
    package mutating func append(_ value: UInt16) {
        append(bigEndian: UInt64(value), byteCount: 2)
    }

    /// Appends four bytes, most significant first.
    package mutating func append(_ value: UInt32) {
        append(bigEndian: UInt64(value), byteCount: 4)
    }

    /// Appends eight bytes, most significant first.
    package mutating func append(_ value: UInt64) {
        append(bigEndian: value, byteCount: 8)
    }

    /// Appends the eight bytes of the two's complement, most significant first.
    package mutating func append(_ value: Int64) {
        append(UInt64(bitPattern: value))
    }

    /// Appends bytes without a frame; only the last part of a key or record may go unframed.
    package mutating func append(raw value: some Sequence<UInt8>) {
        bytes.append(contentsOf: value)
    }

    /// The same of a text: other modules get no code of their own from what is generic here.
    package mutating func append(raw value: String.UTF8View) {
        bytes.append(contentsOf: value)
    }

    /// The same of an array.
    package mutating func append(raw value: [UInt8]) {
        bytes.append(contentsOf: value)
    }

    /// Appends a two-byte length and the UTF-8 bytes of `value`.
    ///
    /// - Precondition: at most 65,535 bytes; every text that gets here has passed a smaller limit.
    package mutating func append(framed value: String) {
        let count = value.utf8.count
        precondition(count <= Int(UInt16.max), "a framed value has at most 65,535 bytes")
        append(UInt16(count))
        bytes.append(contentsOf: value.utf8)
    }

    /// Appends a two-byte length and `value`.
    package mutating func append(framed value: [UInt8]) {
        precondition(value.count <= Int(UInt16.max), "a framed value has at most 65,535 bytes")
        append(UInt16(value.count))
        bytes.append(contentsOf: value)
    }

    private mutating func append(bigEndian value: UInt64, byteCount: Int) {
        for index in 0..<byteCount {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * (byteCount - 1 - index))))
        }
    }
}
