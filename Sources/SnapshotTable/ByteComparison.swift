/// Less than, equal to or greater than zero, as in memcmp, shorter first on a common prefix.
///
/// Eight bytes at a time as big-endian numbers, the last eight again with some that came before.
@inline(__always)
func order(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
    let shared = min(left.count, right.count)
    let order: Int = unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { right in unsafe compare(left, right, shared) }
    }
    return order == 0 ? left.count &- right.count : order
}

/// Whether two texts have the same bytes.
@inlinable @inline(__always)
package func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { right in
            guard let one = left.baseAddress, let other = right.baseAddress else { return true }
            return unsafe hasSameBytes(one, other, left.count)
        }
    }
}

/// Whether the bytes at `range` are those of the other text.
package func areEqual(_ bytes: [UInt8], at range: Range<Int>, _ other: Span<UInt8>) -> Bool {
    areEqual(bytes.span.extracting(range), other)
}

/// Whether `count` bytes at two addresses are the same: eight at a time, the last eight again with
/// some that came before.
@unsafe @inlinable @inline(__always)
package func hasSameBytes(
    _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int
) -> Bool {
    guard count >= 8 else {
        for index in 0..<count {
            let one = unsafe left.load(fromByteOffset: index, as: UInt8.self)
            let other = unsafe right.load(fromByteOffset: index, as: UInt8.self)
            if one != other { return false }
        }
        return true
    }
    let last = count &- 8
    var offset = 0
    while offset < last {
        let one = unsafe left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let other = unsafe right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        if one != other { return false }
        offset &+= 8
    }
    let one = unsafe left.loadUnaligned(fromByteOffset: last, as: UInt64.self)
    let other = unsafe right.loadUnaligned(fromByteOffset: last, as: UInt64.self)
    return one == other
}

@inline(__always)
private func compare(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ count: Int
) -> Int {
    guard count >= 8 else {
        for index in 0..<count {
            let (one, other) = unsafe (left[index], right[index])
            if one != other { return one < other ? -1 : 1 }
        }
        return 0
    }
    var offset = 0
    while true {
        let one = unsafe left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let other = unsafe right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        if one != other { return one.bigEndian < other.bigEndian ? -1 : 1 }
        if offset &+ 8 == count { return 0 }
        offset = min(offset &+ 8, count &- 8)
    }
}
