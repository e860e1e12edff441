internal import COpenSSL

/// What all TLS connections of one side share: its certificate, whom it trusts, which versions.
///
/// Made whole and never changed after `init`: a reload makes another one, and connections keep the
/// one that they began with. Tickets are sealed with keys of this object, so a session of before a
/// reload is never resumed after it. OpenSSL counts references to an `SSL_CTX` atomically and only
/// reads it while connections are made, so threads may share it (openssl-threads(7)).
@safe package final class TLSContext: @unchecked Sendable {
    /// Versions that may be the lowest one spoken.
    package enum Version: String, Sendable, CaseIterable {
        /// RFC 5246, with AEAD ciphers and forward secrecy only.
        case tls12 = "1.2"
        /// RFC 8446.
        case tls13 = "1.3"
    }

    /// A certificate with its chain, and the key to it, both in PEM.
    package struct Identity: Sendable {
        /// The end-entity certificate first, then those that lead towards a root.
        package var certificateChain: [UInt8]
        /// Unencrypted.
        package var privateKey: [UInt8]

        /// An identity from the contents of two PEM files.
        package init(certificateChain: [UInt8], privateKey: [UInt8]) {
            self.certificateChain = certificateChain
            self.privateKey = privateKey
        }
    }

    /// Forward secrecy and authenticated encryption; TLS 1.3 has nothing else.
    private static let ciphers = "ECDHE+AESGCM+AES128:ECDHE+AESGCM:ECDHE+CHACHA20"
    private static let ciphersOfTLS13 =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    private static let groups = "X25519:P-256:P-384"
    /// A client may come back within an hour without a whole handshake.
    private static let sessionSecondCount = 3_600
    /// Certificates between a client's own and a root.
    private static let chainLengthMax: Int32 = 8

    /// The owned `SSL_CTX *`.
    let context: OpaquePointer
    /// Whether it accepts connections.
    let isServer: Bool
    /// The last instant at which its own certificate is valid, in milliseconds since 1970; nil
    /// where it has none.
    package let notAfterMilliseconds: Int64?

    /// The side that accepts.
    ///
    /// - Parameters:
    ///   - identity: Who the server is.
    ///   - clientAuthorities: Certificates in PEM; every client must show a certificate that one of
    ///     them issued, for the purpose of a TLS client. Nil: clients show none.
    ///   - minimumVersion: The lowest version taken.
    /// - Throws: ``OpenSSLError`` for files that are none, or a key that is another certificate's.
    package init(
        server identity: Identity, clientAuthorities: [UInt8]?, minimumVersion: Version
    ) throws(OpenSSLError) {
        isServer = true
        let context = try unsafe Self.makeContext(TLS_server_method(), minimumVersion)
        do throws(OpenSSLError) {
            notAfterMilliseconds = try unsafe Self.install(identity, in: context)
            if let clientAuthorities {
                try unsafe Self.trust(clientAuthorities, in: context, namesThem: true)
                unsafe SSL_CTX_set_verify(
                    context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            }
            // A session is resumed only at the door that made it.
            let name: [UInt8] = Array("entitled".utf8)
            try OpenSSLError.check(
                unsafe name.withUnsafeBufferPointer {
                    unsafe SSL_CTX_set_session_id_context(
                        context, $0.baseAddress, UInt32($0.count))
                }, "name a TLS session context")
            try OpenSSLError.check(
                unsafe entitled_tls_recheck_tickets(context), "check TLS tickets")
            unsafe entitled_tls_insist_on_protocol(context)
        } catch {
            unsafe SSL_CTX_free(context)
            throw error
        }
        unsafe self.context = unsafe context
    }

    /// The side that connects. The server's certificate is always verified.
    ///
    /// - Parameters:
    ///   - authorities: Certificates in PEM that are trusted; nil: those of the system.
    ///   - identity: What is shown to a server that asks for a certificate.
    ///   - minimumVersion: The lowest version taken.
    /// - Throws: ``OpenSSLError`` for files that are none, or a key that is another certificate's.
    package init(
        client authorities: [UInt8]?, identity: Identity? = nil, minimumVersion: Version = .tls12
    ) throws(OpenSSLError) {
        isServer = false
        let context = try unsafe Self.makeContext(TLS_client_method(), minimumVersion)
        do throws(OpenSSLError) {
            if let authorities {
                try unsafe Self.trust(authorities, in: context, namesThem: false)
            } else {
                try OpenSSLError.check(
                    unsafe SSL_CTX_set_default_verify_paths(context),
                    "find the system's certificates")
            }
            var notAfter: Int64?
            if let identity { notAfter = try unsafe Self.install(identity, in: context) }
            notAfterMilliseconds = notAfter
            unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
            try OpenSSLError.check(
                unsafe entitled_tls_offer_protocol(context), "name a TLS protocol")
        } catch {
            unsafe SSL_CTX_free(context)
            throw error
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe SSL_CTX_free(context) }

    private static func makeContext(
        _ method: OpaquePointer?, _ minimumVersion: Version
    ) throws(OpenSSLError) -> OpaquePointer {
        let attempt = "set up TLS"
        let context = try unsafe OpenSSLError.unwrap(SSL_CTX_new(method), attempt)
        let minimum = minimumVersion == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION
        unsafe entitled_tls_harden(context)
        unsafe SSL_CTX_set_verify_depth(context, chainLengthMax)
        unsafe SSL_CTX_set_timeout(context, sessionSecondCount)
        guard unsafe entitled_tls_set_minimum(context, minimum) == 1,
            unsafe SSL_CTX_set_cipher_list(context, ciphers) == 1,
            unsafe SSL_CTX_set_ciphersuites(context, ciphersOfTLS13) == 1,
            unsafe entitled_tls_set_groups(context, groups) == 1
        else {
            unsafe SSL_CTX_free(context)
            throw .drained(attempt)
        }
        return unsafe context
    }

    // MARK: Certificates

    /// - Returns: The last instant at which the whole chain is valid.
    private static func install(
        _ identity: Identity, in context: OpaquePointer
    ) throws(OpenSSLError) -> Int64 {
        let certificates = try Certificate.all(inPEM: identity.certificateChain.span)
        guard let own = certificates.first else {
            throw OpenSSLError(
                attempt: "read a certificate chain", reasons: ["there is no certificate in it"])
        }
        try OpenSSLError.check(
            unsafe SSL_CTX_use_certificate(context, own.x509), "use a certificate for TLS")
        for certificate in certificates.dropFirst() {
            try OpenSSLError.check(
                unsafe entitled_tls_add_chain_certificate(context, certificate.x509),
                "use a certificate chain for TLS")
        }
        // Of every kind: certificates for TLS are often RSA.
        let key = try unsafe OpenSSLError.unwrap(
            SigningKey.parse(pem: identity.privateKey.span),
            "read an unencrypted private key in PEM")
        defer { unsafe EVP_PKEY_free(key) }
        try OpenSSLError.check(
            unsafe SSL_CTX_use_PrivateKey(context, key), "use a private key for TLS")
        try OpenSSLError.check(
            unsafe SSL_CTX_check_private_key(context), "match the private key to its certificate")
        return certificates.map(\.validity.notAfterMilliseconds).min() ?? 0
    }

    /// Trusts certificates; with `namesThem` clients are told which.
    private static func trust(
        _ pem: [UInt8], in context: OpaquePointer, namesThem: Bool
    ) throws(OpenSSLError) {
        let authorities = try Certificate.all(inPEM: pem.span)
        guard !authorities.isEmpty else {
            throw OpenSSLError(
                attempt: "read trusted certificates", reasons: ["there is no certificate in it"])
        }
        let store = unsafe SSL_CTX_get_cert_store(context)
        for authority in authorities {
            try OpenSSLError.check(
                unsafe X509_STORE_add_cert(store, authority.x509), "trust a certificate")
            guard namesThem else { continue }
            try OpenSSLError.check(
                unsafe SSL_CTX_add_client_CA(context, authority.x509), "name a trusted certificate")
        }
    }
}
