internal import COpenSSL

/// Makes certificates of every kind, the defective ones included: for tests, and for the drill
/// that plays with a certificate authority of its own.
package struct CertificateBuilder: Sendable {
    /// The common name of the subject.
    package var subject: String
    /// When the certificate is valid; whole seconds, the milliseconds are cut.
    package var validity: ValidityWindow
    /// The serial number.
    package var serialNumber: Int
    /// Whether basicConstraints says CA:TRUE (with keyCertSign in keyUsage).
    package var isAuthority: Bool
    /// How many certificate authorities may follow below; nil writes no limit.
    package var pathLength: Int?
    /// Extensions that are only there, with an ASN.1 NULL as content: dotted numbers.
    package var markerOIDs: [String]
    /// An extension nobody knows, marked critical, which a verifier must refuse; nil for none.
    package var unknownCriticalOID: String?
    /// What a TLS client compares with the host that it wanted: "DNS:localhost", "IP:127.0.0.1".
    package var alternativeNames: [String] = []

    /// A certificate that ends a chain: no authority, no marker.
    ///
    /// - Parameters:
    ///   - subject: The common name.
    ///   - validity: When it is valid.
    ///   - serialNumber: The serial number.
    ///   - isAuthority: Whether it may issue certificates.
    ///   - markerOIDs: Extensions that are only there.
    package init(
        subject: String, validity: ValidityWindow, serialNumber: Int = 1, isAuthority: Bool = false,
        markerOIDs: [String] = []
    ) {
        self.subject = subject
        self.validity = validity
        self.serialNumber = serialNumber
        self.isAuthority = isAuthority
        self.markerOIDs = markerOIDs
    }

    /// Makes a self-signed certificate.
    ///
    /// - Parameter key: The key that it carries and that signs it.
    /// - Returns: The certificate.
    /// - Throws: ``OpenSSLError``.
    package func selfSigned(by key: SigningKey) throws(OpenSSLError) -> Certificate {
        try make(for: key, issuer: nil, issuerKey: key)
    }

    /// Makes a certificate that another one issues.
    ///
    /// - Parameters:
    ///   - key: The key that it carries; only its public half goes in.
    ///   - issuer: The certificate of the issuer.
    ///   - issuerKey: The key that signs; another than the issuer's makes a bad signature.
    /// - Returns: The certificate.
    /// - Throws: ``OpenSSLError``.
    package func issued(
        for key: SigningKey, by issuer: Certificate, _ issuerKey: SigningKey
    ) throws(OpenSSLError) -> Certificate {
        try make(for: key, issuer: issuer, issuerKey: issuerKey)
    }

    private func make(
        for key: SigningKey, issuer: Certificate?, issuerKey: SigningKey
    ) throws(OpenSSLError) -> Certificate {
        let attempt = "make a certificate"
        let x509 = try unsafe OpenSSLError.unwrap(X509_new(), attempt)
        do throws(OpenSSLError) {
            try OpenSSLError.check(unsafe X509_set_version(x509, 2), attempt)
            let serial = unsafe X509_get_serialNumber(x509)
            try OpenSSLError.check(unsafe ASN1_INTEGER_set(serial, serialNumber), attempt)
            try unsafe setValidity(of: x509)
            try unsafe setNames(of: x509, issuer: issuer)
            try OpenSSLError.check(unsafe X509_set_pubkey(x509, key.key), attempt)
            try unsafe addExtensions(to: x509, issuer: issuer)
            let digest = unsafe issuerKey.curve == .p256 ? EVP_sha256() : EVP_sha384()
            guard unsafe X509_sign(x509, issuerKey.key, digest) > 0 else { throw .drained(attempt) }
        } catch {
            unsafe X509_free(x509)
            throw error
        }
        // Parsed anew, so that what tests use went through the same door as what comes by wire.
        let made = try unsafe Certificate(owning: x509)
        return try Certificate(der: made.der.span)
    }

    private func setValidity(of x509: OpaquePointer) throws(OpenSSLError) {
        let attempt = "set a validity"
        let notBefore = unsafe X509_getm_notBefore(x509)
        let notAfter = unsafe X509_getm_notAfter(x509)
        guard unsafe ASN1_TIME_set(notBefore, Int(validity.notBeforeMilliseconds / 1_000)) != nil,
            unsafe ASN1_TIME_set(notAfter, Int(validity.notAfterMilliseconds / 1_000)) != nil
        else { throw .drained(attempt) }
    }

    private func setNames(of x509: OpaquePointer, issuer: Certificate?) throws(OpenSSLError) {
        let attempt = "set a name"
        let name = unsafe X509_get_subject_name(x509)
        let text = Array(subject.utf8)
        let done = unsafe text.withUnsafeBufferPointer { buffer in
            unsafe X509_NAME_add_entry_by_txt(
                name, "CN", MBSTRING_UTF8, buffer.baseAddress, Int32(buffer.count), -1, 0)
        }
        try OpenSSLError.check(done, attempt)
        let issuerName =
            if let issuer { unsafe X509_get_subject_name(issuer.x509) } else { unsafe name }
        try OpenSSLError.check(unsafe X509_set_issuer_name(x509, issuerName), attempt)
    }

    private func addExtensions(
        to x509: OpaquePointer, issuer: Certificate?
    ) throws(OpenSSLError) {
        let limit = pathLength.map { ",pathlen:\($0)" } ?? ""
        let usage = isAuthority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature"
        let authority = isAuthority ? "critical,CA:TRUE\(limit)" : "critical,CA:FALSE"
        let issuerX509 = unsafe issuer?.x509 ?? x509
        try unsafe Self.add(NID_basic_constraints, authority, to: x509, issuer: issuerX509)
        try unsafe Self.add(NID_key_usage, usage, to: x509, issuer: issuerX509)
        try unsafe Self.add(NID_subject_key_identifier, "hash", to: x509, issuer: issuerX509)
        if issuer != nil {
            try unsafe Self.add(
                NID_authority_key_identifier, "keyid:always", to: x509, issuer: issuerX509)
        }
        if !alternativeNames.isEmpty {
            try unsafe Self.add(
                NID_subject_alt_name, alternativeNames.joined(separator: ","), to: x509,
                issuer: issuerX509)
        }
        for oid in markerOIDs { try unsafe Self.addMarker(oid, isCritical: false, to: x509) }
        if let oid = unknownCriticalOID {
            try unsafe Self.addMarker(oid, isCritical: true, to: x509)
        }
    }

    private static func add(
        _ extensionNID: Int32, _ value: String, to x509: OpaquePointer, issuer: OpaquePointer
    ) throws(OpenSSLError) {
        let attempt = "add an extension"
        var context = unsafe X509V3_CTX()
        unsafe entitled_x509v3_context(&context, issuer, x509)
        let made = unsafe X509V3_EXT_conf_nid(nil, &context, extensionNID, value)
        let part = try unsafe OpenSSLError.unwrap(made, attempt)
        defer { unsafe X509_EXTENSION_free(part) }
        try OpenSSLError.check(unsafe X509_add_ext(x509, part, -1), attempt)
    }

    private static func addMarker(
        _ oid: String, isCritical: Bool, to x509: OpaquePointer
    ) throws(OpenSSLError) {
        let attempt = "add the extension \(oid)"
        let object = try unsafe OpenSSLError.unwrap(OBJ_txt2obj(oid, 1), attempt)
        defer { unsafe ASN1_OBJECT_free(object) }
        let content = unsafe ASN1_OCTET_STRING_new()
        defer { unsafe ASN1_OCTET_STRING_free(content) }
        let null: [UInt8] = [0x05, 0x00]
        let done = unsafe null.withUnsafeBufferPointer { buffer in
            unsafe ASN1_OCTET_STRING_set(content, buffer.baseAddress, Int32(buffer.count))
        }
        try OpenSSLError.check(done, attempt)
        let part = try unsafe OpenSSLError.unwrap(
            X509_EXTENSION_create_by_OBJ(nil, object, isCritical ? 1 : 0, content), attempt)
        defer { unsafe X509_EXTENSION_free(part) }
        try OpenSSLError.check(unsafe X509_add_ext(x509, part, -1), attempt)
    }
}
