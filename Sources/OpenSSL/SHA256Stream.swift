internal import COpenSSL

/// The digest of bytes that come piece by piece.
@safe package struct SHA256Stream: ~Copyable {
    private let context: OpaquePointer

    /// The digest of nothing yet.
    package init() {
        guard let context = unsafe EVP_MD_CTX_new() else {
            preconditionFailure("OpenSSL has no memory left")
        }
        unsafe self.context = unsafe context
        let done = unsafe EVP_DigestInit_ex2(context, Algorithms.sha256.pointer, nil)
        precondition(done == 1, "SHA-256 of the default provider cannot fail")
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds the next bytes.
    package mutating func update(_ bytes: [UInt8]) {
        let done = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe EVP_DigestUpdate(context, input.baseAddress, input.count)
        }
        precondition(done == 1, "SHA-256 of the default provider cannot fail")
    }

    /// The digest of all bytes that came.
    package consuming func finish() -> SHA256Digest {
        var bytes = [UInt8](repeating: 0, count: SHA256Digest.byteCount)
        let done = unsafe bytes.withUnsafeMutableBufferPointer { output in
            unsafe EVP_DigestFinal_ex(context, output.baseAddress, nil)
        }
        precondition(done == 1, "SHA-256 of the default provider cannot fail")
        guard let digest = SHA256Digest(bytes: bytes.span) else {
            preconditionFailure("a digest has \(SHA256Digest.byteCount) bytes")
        }
        return digest
    }
}
