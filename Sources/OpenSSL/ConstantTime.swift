internal import COpenSSL

/// Compares two secrets without a timing that tells how much of them is equal.
///
/// - Parameters:
///   - left: One of them.
///   - right: The other.
/// - Returns: Whether they are the same bytes. The lengths are not kept secret: compare digests
///   where they are.
package func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
            guard let first = left.baseAddress, let second = right.baseAddress else { return true }
            return unsafe CRYPTO_memcmp(first, second, left.count) == 0
        }
    }
}
