internal import Bytes
internal import COpenSSL

/// A private key on P-256 or P-384: signs test messages and test certificates, and the tokens of
/// the App Store Server API.
///
/// Never changed after `init`, and every signature has a context of its own, so threads may share
/// it (OpenSSL's threads(7)).
@safe package final class SigningKey: @unchecked Sendable {
    /// The owned `EVP_PKEY *`.
    let key: OpaquePointer
    /// The curve of the key.
    package let curve: EllipticCurve

    /// Makes a new key from the system's randomness.
    ///
    /// - Parameter curve: Where the key lies.
    /// - Throws: ``OpenSSLError``.
    package init(generatedOn curve: EllipticCurve) throws(OpenSSLError) {
        unsafe key = try unsafe OpenSSLError.unwrap(
            entitled_ec_generate(curve.rawValue), "generate a \(curve.rawValue) key")
        self.curve = curve
    }

    /// Reads an unencrypted private key in PEM: what Apple hands out as a `.p8` file.
    ///
    /// - Parameter pem: The content of the file.
    /// - Throws: ``OpenSSLError`` also for a key on another curve.
    package init(pem: Span<UInt8>) throws(OpenSSLError) {
        let attempt = "read a private key"
        let key = try unsafe OpenSSLError.unwrap(Self.parse(pem: pem), attempt)
        guard let curve = EllipticCurve.allCases.first(where: { unsafe $0.isCurve(of: key) })
        else {
            unsafe EVP_PKEY_free(key)
            ERR_clear_error()
            throw OpenSSLError(attempt: attempt, reasons: ["it is not on P-256 or P-384"])
        }
        unsafe self.key = unsafe key
        self.curve = curve
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// The unencrypted private key in a PEM text, of whatever kind; nil where there is none, and
    /// the library's queue says why. The caller owns it.
    static func parse(pem: Span<UInt8>) -> OpaquePointer? {
        unsafe pem.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            guard
                let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count))
            else { return nil }
            defer { unsafe BIO_free(bio) }
            // An encrypted file must fail; without a callback OpenSSL would ask on the terminal.
            let refuse:
                @convention(c) (
                    UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?
                ) -> Int32 = { _, _, _, _ in -1 }
            return unsafe PEM_read_bio_PrivateKey(bio, nil, refuse, nil)
        }
    }

    /// The public half.
    ///
    /// - Returns: nil unless the key is on P-256.
    package func es256PublicKey() -> ES256PublicKey? {
        guard unsafe EVP_PKEY_up_ref(key) == 1 else { return nil }
        return unsafe ES256PublicKey(owning: key)
    }

    /// The private key as unencrypted PKCS #8 in PEM, as in Apple's `.p8` files.
    ///
    /// - Returns: ASCII.
    /// - Throws: ``OpenSSLError``.
    package func pem() throws(OpenSSLError) -> [UInt8] {
        try unsafe Self.text("write a private key") { bio in
            unsafe PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil)
        }
    }

    /// The public key as SubjectPublicKeyInfo in PEM.
    ///
    /// - Returns: ASCII.
    /// - Throws: ``OpenSSLError``.
    package func publicKeyPEM() throws(OpenSSLError) -> [UInt8] {
        try unsafe Self.text("write a public key") { bio in unsafe PEM_write_bio_PUBKEY(bio, key) }
    }

    /// Signs with SHA-256 and ECDSA: ES256 where the key is on P-256.
    ///
    /// - Parameter message: What to sign, not its digest.
    /// - Returns: r and s, big-endian, each as long as the field: 64 bytes on P-256.
    /// - Throws: ``OpenSSLError``.
    package func signature(of message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let attempt = "sign"
        let encoded = try derSignature(of: message)
        let parsed = unsafe encoded.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &cursor, buffer.count)
        }
        let numbers = try unsafe OpenSSLError.unwrap(parsed, attempt)
        defer { unsafe ECDSA_SIG_free(numbers) }
        let byteCount = curve == .p256 ? 32 : 48
        var raw = [UInt8](repeating: 0, count: 2 * byteCount)
        let written = unsafe raw.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let start = buffer.baseAddress else { return 0 }
            let r = unsafe BN_bn2binpad(ECDSA_SIG_get0_r(numbers), start, Int32(byteCount))
            let s = unsafe BN_bn2binpad(
                ECDSA_SIG_get0_s(numbers), start + byteCount, Int32(byteCount))
            return r + s
        }
        guard written == Int32(raw.count) else { throw .drained(attempt) }
        return raw
    }

    /// Signs with SHA-256 and ECDSA.
    ///
    /// - Parameter message: What to sign, not its digest.
    /// - Returns: SEQUENCE { INTEGER r, INTEGER s } in DER, which JWS does not use.
    /// - Throws: ``OpenSSLError``.
    package func derSignature(of message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let attempt = "sign"
        let context = try unsafe OpenSSLError.unwrap(EVP_MD_CTX_new(), attempt)
        defer { unsafe EVP_MD_CTX_free(context) }
        try OpenSSLError.check(
            unsafe EVP_DigestSignInit(context, nil, Algorithms.sha256.pointer, nil, key), attempt)
        var signature = [UInt8](repeating: 0, count: Int(unsafe EVP_PKEY_get_size(key)))
        var byteCount = signature.count
        let result = unsafe message.withUnsafeBufferPointer { input in
            unsafe signature.withUnsafeMutableBufferPointer { output in
                unsafe EVP_DigestSign(
                    context, output.baseAddress, &byteCount, input.baseAddress, input.count)
            }
        }
        try OpenSSLError.check(result, attempt)
        return Array(signature.prefix(byteCount))
    }

    private static func text(
        _ attempt: String, _ write: (OpaquePointer) -> Int32
    ) throws(OpenSSLError) -> [UInt8] {
        let bio = try unsafe OpenSSLError.unwrap(BIO_new(BIO_s_mem()), attempt)
        defer { unsafe BIO_free(bio) }
        try OpenSSLError.check(unsafe write(bio), attempt)
        var start: UnsafeMutablePointer<CChar>?
        let byteCount = unsafe entitled_bio_memory(bio, &start)
        let bytes = unsafe UnsafeBufferPointer(start: start, count: byteCount)
        return unsafe bytes.map { UInt8(bitPattern: $0) }
    }
}
