internal import Glibc

/// Comparing runs of bytes with memcmp(3): an answer is compared whole, and a loop over a span of
/// 100 bytes takes longer than all the rest that is done for it.
enum ByteComparison {
    /// Whether both hold the same bytes.
    @inline(__always)
    static func isEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        let count = left.count
        guard count == right.count else { return false }
        guard count > 0 else { return true }
        return unsafe left.withUnsafeBufferPointer { left in
            unsafe right.withUnsafeBufferPointer { right in
                guard let left = left.baseAddress, let right = right.baseAddress else {
                    return false
                }
                return unsafe memcmp(left, right, count) == 0
            }
        }
    }

    /// Whether `bytes` stand in `text` from `start` on.
    @inline(__always)
    static func has(_ text: Span<UInt8>, _ bytes: Span<UInt8>, at start: Int) -> Bool {
        guard text.count - start >= bytes.count else { return false }
        return isEqual(text.extracting(start..<start + bytes.count), bytes)
    }
}
