internal import COpenSSL

/// The state of SHA-256 after some bytes, to go on from as often as one likes.
///
/// The header of a JWS is two thirds of what is signed and the same in all; a notification has
/// three of them. Immutable, so threads may share it.
package struct SHA256Prefix: Sendable {
    private let state: SHA256state_st

    /// The state after `bytes`.
    ///
    /// - Parameter bytes: Any number of bytes.
    package init(of bytes: Span<UInt8>) {
        var state = SHA256state_st()
        unsafe entitled_sha256_init(&state)
        unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe entitled_sha256_update(&state, buffer.baseAddress, buffer.count)
        }
        self.state = state
    }

    /// The digest of those bytes with `rest` behind them.
    ///
    /// - Parameter rest: Any number of bytes.
    /// - Returns: 32 bytes.
    package func digest(with rest: Span<UInt8>) -> InlineArray<32, UInt8> {
        var state = state
        var digest: InlineArray<32, UInt8> = .init(repeating: 0)
        var span = digest.mutableSpan
        unsafe rest.withUnsafeBufferPointer { buffer in
            unsafe entitled_sha256_update(&state, buffer.baseAddress, buffer.count)
        }
        unsafe span.withUnsafeMutableBufferPointer { output in
            unsafe entitled_sha256_final(&state, output.baseAddress)
        }
        return digest
    }
}
