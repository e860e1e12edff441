internal import Bytes
internal import COpenSSL

/// An X.509 certificate.
///
/// Unchanged after `init`, which also fills the caches that OpenSSL keeps inside; from then on
/// OpenSSL only reads, or counts references atomically, so threads may share it.
@safe package final class Certificate: @unchecked Sendable {
    /// The owned `X509 *`.
    let x509: OpaquePointer
    /// The instants between which the certificate is valid.
    package let validity: ValidityWindow

    /// Parses one certificate.
    ///
    /// - Parameter der: The whole DER text, nothing after it.
    /// - Throws: ``OpenSSLError`` for anything else.
    package convenience init(der: Span<UInt8>) throws(OpenSSLError) {
        let attempt = "parse a certificate"
        var consumedByteCount = 0
        let parsed = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            guard let start = buffer.baseAddress else { return nil }
            var cursor: UnsafePointer<UInt8>? = unsafe start
            let certificate = unsafe d2i_X509(nil, &cursor, buffer.count)
            consumedByteCount = unsafe cursor.map { unsafe $0 - start } ?? 0
            return unsafe certificate
        }
        let x509 = try unsafe OpenSSLError.unwrap(parsed, attempt)
        guard consumedByteCount == der.count else {
            unsafe X509_free(x509)
            throw OpenSSLError(attempt: attempt, reasons: ["bytes follow the certificate"])
        }
        try unsafe self.init(owning: x509)
    }

    /// Parses the first certificate of a PEM text, or a DER certificate: what a file may hold.
    ///
    /// - Parameter file: The content of the file.
    /// - Throws: ``OpenSSLError`` when it is neither.
    package convenience init(file: Span<UInt8>) throws(OpenSSLError) {
        let isDER = file.count > 0 && file[0] == 0x30
        guard !isDER else {
            try self.init(der: file)
            return
        }
        let parsed = unsafe file.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            guard
                let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count))
            else { return nil }
            defer { unsafe BIO_free(bio) }
            return unsafe PEM_read_bio_X509(bio, nil, nil, nil)
        }
        try unsafe self.init(
            owning: try OpenSSLError.unwrap(parsed, "read a certificate in PEM or DER"))
    }

    /// Parses every certificate of a PEM text, in order.
    ///
    /// - Parameter pem: The content of a file; what stands between certificates is skipped.
    /// - Returns: Nothing where there is no certificate.
    /// - Throws: ``OpenSSLError`` when one of them is none.
    package static func all(inPEM pem: Span<UInt8>) throws(OpenSSLError) -> [Certificate] {
        var parsed: [OpaquePointer] = unsafe []
        let isWhole = unsafe pem.withUnsafeBufferPointer { buffer -> Bool in
            guard
                let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count))
            else { return false }
            defer { unsafe BIO_free(bio) }
            while let x509 = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
                unsafe parsed.append(x509)
            }
            // The end of the text is reported as an error like any other.
            return entitled_is_end_of_pem(ERR_peek_last_error()) == 1
        }
        var certificates: [Certificate] = []
        var failure: OpenSSLError? = isWhole ? nil : .drained("read certificates in PEM")
        ERR_clear_error()
        for index in unsafe parsed.indices {
            do throws(OpenSSLError) {
                certificates.append(try unsafe Certificate(owning: parsed[index]))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return certificates
    }

    /// Takes ownership of `x509`, also when it throws.
    init(owning x509: OpaquePointer) throws(OpenSSLError) {
        unsafe self.x509 = unsafe x509
        do throws(OpenSSLError) {
            validity = ValidityWindow(
                notBeforeMilliseconds: try unsafe Self.milliseconds(X509_get0_notBefore(x509)),
                notAfterMilliseconds: try unsafe Self.milliseconds(X509_get0_notAfter(x509)))
        } catch {
            unsafe X509_free(x509)
            throw error
        }
        // Fills the caches of the extensions now, on one thread.
        unsafe X509_check_purpose(x509, -1, 0)
        ERR_clear_error()
    }

    deinit {
        unsafe X509_free(x509)
    }

    /// Whether the certificate has an extension of this type, whatever its content.
    ///
    /// - Parameter oid: Dotted numbers.
    /// - Returns: false also for a text that is no object identifier.
    package func hasExtension(oid: String) -> Bool {
        guard let object = unsafe OBJ_txt2obj(oid, 1) else {
            ERR_clear_error()
            return false
        }
        defer { unsafe ASN1_OBJECT_free(object) }
        return unsafe X509_get_ext_by_OBJ(x509, object, -1) >= 0
    }

    /// The certificate in DER.
    package var der: [UInt8] {
        var buffer: UnsafeMutablePointer<UInt8>?
        let byteCount = unsafe i2d_X509(x509, &buffer)
        defer { unsafe entitled_free(buffer) }
        guard byteCount > 0, let start = unsafe buffer else {
            ERR_clear_error()
            return []
        }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(byteCount)))
    }

    /// SHA-256 of the DER, which is what certificate authorities publish.
    package var fingerprint: SHA256Digest { SHA256Digest(of: der.span) }

    /// The subject for people, in one line.
    package var subject: String {
        guard let line = unsafe X509_NAME_oneline(X509_get_subject_name(x509), nil, 0) else {
            ERR_clear_error()
            return ""
        }
        defer { unsafe entitled_free(line) }
        return unsafe String(cString: line)
    }

    /// 1 = a certificate authority by its basicConstraints; OpenSSL's other values stand for
    /// certificates that merely look like one.
    var isAuthority: Bool { unsafe X509_check_ca(x509) == 1 }

    private static func milliseconds(_ time: UnsafePointer<ASN1_TIME>?) throws(OpenSSLError)
        -> Int64
    {
        let attempt = "read a certificate's validity"
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { throw .drained(attempt) }
        defer { unsafe ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        try OpenSSLError.check(unsafe ASN1_TIME_diff(&days, &seconds, epoch, time), attempt)
        return (Int64(days) * 86_400 + Int64(seconds)) * 1_000
    }
}

/// The instants between which a certificate, or a whole chain, is valid.
package struct ValidityWindow: Equatable, Sendable {
    /// The first valid instant, in milliseconds since 1970.
    package let notBeforeMilliseconds: Int64
    /// The last valid instant, in milliseconds since 1970 (RFC 5280 4.1.2.5: inclusive).
    package let notAfterMilliseconds: Int64

    /// A window of these two instants.
    ///
    /// - Parameters:
    ///   - notBeforeMilliseconds: The first valid instant.
    ///   - notAfterMilliseconds: The last valid instant.
    package init(notBeforeMilliseconds: Int64, notAfterMilliseconds: Int64) {
        self.notBeforeMilliseconds = notBeforeMilliseconds
        self.notAfterMilliseconds = notAfterMilliseconds
    }

    /// Whether `milliseconds` lies in the window, both ends included.
    ///
    /// - Parameter milliseconds: Since 1970.
    /// - Returns: Whether it is valid then.
    package func contains(_ milliseconds: Int64) -> Bool {
        notBeforeMilliseconds <= milliseconds && milliseconds <= notAfterMilliseconds
    }

    /// The instants that lie in both windows; empty (no instant) where there are none.
    ///
    /// - Parameter other: Another window.
    /// - Returns: The common part.
    package func intersection(_ other: ValidityWindow) -> ValidityWindow {
        ValidityWindow(
            notBeforeMilliseconds: max(notBeforeMilliseconds, other.notBeforeMilliseconds),
            notAfterMilliseconds: min(notAfterMilliseconds, other.notAfterMilliseconds))
    }
}
