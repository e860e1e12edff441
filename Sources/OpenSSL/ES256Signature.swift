internal import COpenSSL
internal import Synchronization

/// The public half of a P-256 key, prepared to check many ES256 signatures (RFC 7518 3.4).
///
/// Threads may share it: each check borrows a context of its own from a small pool, because
/// EVP_PKEY_verify(3) allows one context many checks after each other but not at once.
@safe package final class ES256PublicKey: @unchecked Sendable {
    /// r and s, 32 bytes each.
    package static let signatureByteCount = 64

    /// How many signatures a key has checked when a table of its multiples is made. The table takes
    /// 35 ms and saves 45 us a check, so it has paid after 800 more; Apple's leaves sign for
    /// years.
    package static let checkCountBeforeTable = 4_096

    let key: OpaquePointer
    private let idle = Mutex(Contexts())
    private let progress = Mutex(Progress.counting(0))

    /// The key of a certificate; nil when it is not on P-256.
    ///
    /// - Parameter certificate: Any certificate.
    package convenience init?(_ certificate: Certificate) {
        defer { ERR_clear_error() }
        guard let key = unsafe X509_get0_pubkey(certificate.x509), unsafe EVP_PKEY_up_ref(key) == 1
        else { return nil }
        unsafe self.init(owning: key)
    }

    /// Takes ownership of `key`, also when it returns nil.
    init?(owning key: OpaquePointer) {
        guard unsafe EVP_PKEY_get_id(key) == EVP_PKEY_EC, unsafe EVP_PKEY_get_bits(key) == 256,
            unsafe EllipticCurve.p256.isCurve(of: key)
        else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        unsafe self.key = unsafe key
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// Whether `signature` is this key's signature of `message`.
    ///
    /// - Parameters:
    ///   - signature: r and s, big-endian, 32 bytes each; any other length is false, and so are
    ///     numbers outside of 1 ..< n.
    ///   - message: What was signed, not its digest.
    /// - Returns: false for anything but a valid signature. About 85 us; 25 us for a good signature
    ///   once the key has checked ``checkCountBeforeTable``, the last of which takes 35 ms.
    package func isValid(signature: Span<UInt8>, of message: Span<UInt8>) -> Bool {
        isValid(signature: signature, ofDigest: SHA256Digest.rawBytes(of: message))
    }

    /// Whether `signature` is this key's signature of the message with this SHA-256 digest.
    ///
    /// - Parameters:
    ///   - signature: As above.
    ///   - digest: Of what was signed.
    /// - Returns: As above.
    package func isValid(
        signature: Span<UInt8>, ofDigest digest: InlineArray<32, UInt8>
    ) -> Bool {
        guard let encoded = Self.der(ofRaw: signature) else { return false }
        if let table = table(), table.accepts(signature: signature, digest: digest) { return true }
        defer { ERR_clear_error() }
        guard let context = unsafe borrow() else { return false }
        let result = unsafe encoded.withUnsafeBufferPointer { signature in
            unsafe digest.span.withUnsafeBufferPointer { digest in
                unsafe EVP_PKEY_verify(
                    context, signature.baseAddress, signature.count, digest.baseAddress,
                    digest.count
                )
            }
        }
        unsafe giveBack(context)
        return result == 1
    }

    /// The DER form that OpenSSL asks for: SEQUENCE { INTEGER r, INTEGER s }.
    ///
    /// - Returns: nil unless there are 64 bytes and neither number is zero. The upper bound, n, is
    ///   checked by OpenSSL.
    static func der(ofRaw signature: Span<UInt8>) -> [UInt8]? {
        guard signature.count == signatureByteCount else { return nil }
        var encoded: [UInt8] = [0x30, 0]
        encoded.reserveCapacity(72)
        guard appendInteger(signature.extracting(0..<32), to: &encoded),
            appendInteger(signature.extracting(32..<64), to: &encoded)
        else { return nil }
        // At most 2 * 35 bytes: the short form of the length always does.
        encoded[1] = UInt8(encoded.count - 2)
        return encoded
    }

    /// Appends a DER INTEGER; false for zero.
    private static func appendInteger(_ number: Span<UInt8>, to encoded: inout [UInt8]) -> Bool {
        var start = 0
        while start < number.count, number[start] == 0 { start += 1 }
        guard start < number.count else { return false }
        let needsPad = number[start] >= 0x80
        encoded.append(0x02)
        encoded.append(UInt8(number.count - start + (needsPad ? 1 : 0)))
        if needsPad { encoded.append(0) }
        for index in start..<number.count { encoded.append(number[index]) }
        return true
    }

    /// Whether checks go by a table of multiples.
    var hasTable: Bool {
        progress.withLock { progress in
            if case .ready = progress { true } else { false }
        }
    }

    /// The table, made by the thread whose check is the one that it was put off to.
    private func table() -> MultiplesTable? {
        let isMine = progress.withLock { progress in
            guard case .counting(let count) = progress else { return false }
            let isDue = count + 1 == Self.checkCountBeforeTable
            progress = isDue ? .without : .counting(count + 1)
            return isDue
        }
        if isMine, let table = MultiplesTable(of: self) {
            progress.withLock { $0 = .ready(table) }
        }
        return progress.withLock { progress in
            if case .ready(let table) = progress { table } else { nil }
        }
    }

    /// How far the table is.
    private enum Progress: Sendable {
        /// So many checks were made without one.
        case counting(Int)
        /// It is being made, or could not be.
        case without
        case ready(MultiplesTable)
    }

    private func borrow() -> OpaquePointer? {
        if let context = unsafe idle.withLock({ unsafe $0.pointers.popLast() }) {
            return unsafe context
        }
        guard let context = unsafe EVP_PKEY_CTX_new(key, nil) else { return nil }
        guard unsafe EVP_PKEY_verify_init(context) == 1 else {
            unsafe EVP_PKEY_CTX_free(context)
            return nil
        }
        return unsafe context
    }

    private func giveBack(_ context: OpaquePointer) {
        idle.withLock { contexts in unsafe contexts.pointers.append(context) }
    }

    /// The contexts that no check is using; at most as many as checks ever ran at once.
    @safe private struct Contexts: ~Copyable, @unchecked Sendable {
        var pointers: [OpaquePointer] = unsafe []

        deinit {
            unsafe pointers.forEach { unsafe EVP_PKEY_CTX_free($0) }
        }
    }
}

/// The curves that App Store certificates use.
package enum EllipticCurve: String, Sendable, CaseIterable {
    /// NIST P-256: leaves, and every ES256 signature.
    case p256 = "P-256"
    /// NIST P-384: Apple's root and intermediates.
    case p384 = "P-384"

    /// OpenSSL's name of the curve.
    private var groupName: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        }
    }

    func isCurve(of key: OpaquePointer) -> Bool {
        var name = [CChar](repeating: 0, count: 64)
        let capacity = name.count
        var byteCount = 0
        let done = unsafe name.withUnsafeMutableBufferPointer { buffer in
            unsafe EVP_PKEY_get_group_name(key, buffer.baseAddress, capacity, &byteCount)
        }
        guard done == 1 else { return false }
        let bytes = name.prefix(byteCount).map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self) == groupName
    }
}
