/// What the contract calls an identifier: UTF-8 text of 1 to 128 bytes.
@usableFromInline package enum Identifier {
    /// The longest, in bytes.
    @inlinable
    package static var byteCountMax: Int { 128 }

    /// Whether `bytes` are an identifier. A NUL inside is as good as any byte.
    package static func isValid(_ bytes: Span<UInt8>) -> Bool {
        let count = bytes.count
        guard count >= 1, count <= byteCountMax else { return false }
        return isUTF8(bytes)
    }

    /// Whether `text` is an identifier.
    package static func isValid(_ text: Text) -> Bool { isValid(text.bytes.span) }

    /// Whether `bytes` are UTF-8 text.
    ///
    /// Eight bytes at a time while they are ASCII, which is what identifiers are made of; the last
    /// eight are read again with some that came before, which costs less than a byte at a time.
    package static func isUTF8(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in unsafe isUTF8(buffer) }
    }

    /// Whether the bytes at `range`, which lie within `text`, are an identifier.
    @inline(__always)
    static func isValid(_ text: UnsafeRawBufferPointer, at range: ByteRange) -> Bool {
        guard range.byteCount &- 1 < UInt32(byteCountMax) else { return false }
        return unsafe isUTF8(UnsafeRawBufferPointer(rebasing: text[range.indices]))
    }

    /// Whether the bytes from `start` to before `end`, which lie within `text`, are ASCII: sixteen
    /// at a time, the last sixteen again with some that came before. False for less than sixteen.
    @inline(__always)
    static func isASCII(
        _ text: UnsafeRawBufferPointer, from start: UInt32, to end: UInt32
    ) -> Bool {
        let last = Int(end) &- 16
        var offset = Int(start)
        guard offset <= last else { return false }
        typealias Bytes = SIMD2<UInt64>
        var bits = unsafe text.loadUnaligned(fromByteOffset: last, as: Bytes.self)
        while offset < last {
            bits |= unsafe text.loadUnaligned(fromByteOffset: offset, as: Bytes.self)
            offset &+= 16
        }
        return (bits[0] | bits[1]) & 0x8080_8080_8080_8080 == 0
    }

    @inline(__always)
    private static func isUTF8(_ buffer: UnsafeRawBufferPointer) -> Bool {
        let count = buffer.count
        var bits: UInt64 = 0
        if count >= 8 {
            var index = 0
            while index &+ 8 <= count {
                bits |= unsafe buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                index &+= 8
            }
            bits |= unsafe buffer.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        } else {
            for index in 0..<count { bits |= UInt64(unsafe buffer[index]) }
        }
        return bits & 0x8080_8080_8080_8080 == 0 ? true : unsafe isUTF8(buffer, 0)
    }

    /// The whole rule, from `start` on, which is the beginning of a character.
    ///
    /// See: The Unicode Standard, table 3-7: no surrogates, nothing overlong, at most U+10FFFF.
    private static func isUTF8(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        var index = start
        while index < bytes.count {
            let first = unsafe bytes[index]
            let tailCount: Int
            var secondRange: ClosedRange<UInt8> = 0x80...0xBF
            switch first {
            case 0...0x7F: tailCount = 0
            case 0xC2...0xDF: tailCount = 1
            case 0xE0: (tailCount, secondRange) = (2, 0xA0...0xBF)
            case 0xED: (tailCount, secondRange) = (2, 0x80...0x9F)
            case 0xE1...0xEF: tailCount = 2
            case 0xF0: (tailCount, secondRange) = (3, 0x90...0xBF)
            case 0xF4: (tailCount, secondRange) = (3, 0x80...0x8F)
            case 0xF1...0xF3: tailCount = 3
            default: return false
            }
            guard index + tailCount < bytes.count else { return false }
            if tailCount > 0 {
                guard unsafe secondRange.contains(bytes[index + 1]) else { return false }
                for offset in 1..<tailCount {
                    guard unsafe bytes[index + 1 + offset] & 0xC0 == 0x80 else { return false }
                }
            }
            index += tailCount + 1
        }
        return true
    }
}
