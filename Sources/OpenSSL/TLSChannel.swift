internal import COpenSSL

/// One TLS connection without its socket: bytes of the network in, bytes of the network out.
///
/// | state | event | next state |
/// | --- | --- | --- |
/// | handshaking | the peer's part of the handshake is good | open |
/// | handshaking, open | the peer breaks the protocol, or its certificate is not taken | failed |
/// | open | the peer says that it sends no more (`close_notify`) | ended; sending goes on |
///
/// What is to be sent after any call lies in the buffers' output. On the buffers' thread only.
@safe package final class TLSChannel {
    /// Where the connection is in its life.
    package enum State: Sendable {
        /// Nothing can be sent yet.
        case handshaking
        /// Both directions work.
        case open
        /// The peer sends no more; it still takes what we send.
        case ended
        /// Nothing more can be read or sent; the output may hold an alert that says why.
        case failed
    }

    /// Where the connection is in its life.
    package private(set) var state = State.handshaking
    /// Why it failed; nil = it did not.
    package private(set) var failure: OpenSSLError?
    private let tls: OpaquePointer
    private let buffers: TLSBuffers
    private var hasSaidGoodbye = false

    /// A connection that was accepted.
    ///
    /// - Throws: ``OpenSSLError`` when memory is short.
    package convenience init(
        accepting context: TLSContext, buffers: TLSBuffers
    ) throws(OpenSSLError) {
        precondition(context.isServer)
        try self.init(context, buffers)
        unsafe SSL_set_accept_state(tls)
    }

    /// A connection that was made: the first words of the handshake are in the output.
    ///
    /// - Parameters:
    ///   - context: Whom we trust, and who we are.
    ///   - buffers: Those of the thread.
    ///   - host: The DNS name or the IP address that the server's certificate must carry.
    ///   - session: Of an earlier connection to the same server: spares a part of the handshake
    ///     where the server still takes it.
    /// - Throws: ``OpenSSLError``, also when `host` is no name.
    package convenience init(
        connecting context: TLSContext, buffers: TLSBuffers, host: String,
        resuming session: TLSSession? = nil
    ) throws(OpenSSLError) {
        precondition(!context.isServer)
        try self.init(context, buffers)
        unsafe SSL_set_connect_state(tls)
        let parameters = unsafe SSL_get0_param(tls)
        // An address is compared with addresses only; 0 says that the text is none.
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, host) != 1 {
            ERR_clear_error()
            try OpenSSLError.check(
                unsafe SSL_set1_host(tls, host), "expect a server of this name")
            try OpenSSLError.check(
                Int32(unsafe entitled_tls_set_server_name(tls, host)), "ask for a server by name")
        }
        if let session { unsafe SSL_set_session(tls, session.session) }
        ERR_clear_error()
        buffers.claim(by: self)
        shakeHands()
        if let failure { throw failure }
    }

    private init(_ context: TLSContext, _ buffers: TLSBuffers) throws(OpenSSLError) {
        let attempt = "set up a TLS connection"
        self.buffers = buffers
        let tls = try unsafe OpenSSLError.unwrap(SSL_new(context.context), attempt)
        do throws(OpenSSLError) {
            let bio = try unsafe TLSPipeMethod.makeBIO(over: buffers.pipe)
            // One BIO for both directions: the connection owns it once.
            unsafe SSL_set_bio(tls, bio, bio)
        } catch {
            unsafe SSL_free(tls)
            throw error
        }
        unsafe self.tls = unsafe tls
    }

    deinit {
        // Without this the library takes the session of a connection that the network ended for a
        // bad one, and it could not be resumed. That of a failed one is bad.
        if state != .failed {
            unsafe SSL_set_shutdown(tls, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        }
        unsafe SSL_free(tls)
    }

    // MARK: Receiving

    /// Takes bytes of the network: goes on with the handshake, and decrypts.
    ///
    /// - Parameters:
    ///   - bytes: At most `TLSBuffers.inputByteCountMax`.
    ///   - deliver: Called once with all that was decrypted, unless it is nothing. The bytes are
    ///     gone after the call.
    package func receive(_ bytes: Span<UInt8>, _ deliver: (Span<UInt8>) -> Void) {
        precondition(bytes.count <= TLSBuffers.inputByteCountMax)
        guard state != .failed else { return }
        buffers.claim(by: self)
        // What another call left in the queue would be blamed on this one.
        ERR_clear_error()
        let byteCount = unsafe bytes.withUnsafeBufferPointer { input -> Int in
            unsafe buffers.pipe.pointee.input = input.baseAddress
            unsafe buffers.pipe.pointee.inputByteCount = input.count
            defer {
                unsafe buffers.pipe.pointee.input = nil
                unsafe buffers.pipe.pointee.inputByteCount = 0
            }
            if state == .handshaking { shakeHands() }
            return state == .open ? decrypt() : 0
        }
        guard byteCount > 0 else { return }
        deliver(
            unsafe Span(_unsafeStart: UnsafePointer(buffers.plaintext), count: byteCount))
    }

    private func shakeHands() {
        let result = unsafe SSL_do_handshake(tls)
        if result == 1 {
            state = .open
        } else if unsafe SSL_get_error(tls, result) != SSL_ERROR_WANT_READ {
            fail("shake hands for TLS")
        }
    }

    /// - Returns: how many bytes are in the plaintext buffer.
    private func decrypt() -> Int {
        var filled = 0
        while true {
            var count = 0
            let room = TLSBuffers.plaintextCapacity - filled
            // A record never holds more than came, so there is room for all of it.
            precondition(room > 0)
            let result = unsafe SSL_read_ex(tls, buffers.plaintext + filled, room, &count)
            guard result != 1 else {
                filled += count
                // Asking for more when there is none takes as long as decrypting a small record.
                if unsafe buffers.pipe.pointee.inputByteCount == 0 && SSL_has_pending(tls) == 0 {
                    return filled
                }
                continue
            }
            switch unsafe SSL_get_error(tls, result) {
            case SSL_ERROR_WANT_READ: break
            case SSL_ERROR_ZERO_RETURN: state = .ended
            default: fail("read from a TLS connection")
            }
            return filled
        }
    }

    @discardableResult
    private func fail(_ attempt: String) -> OpenSSLError {
        var error = OpenSSLError.drained(attempt)
        let verdict = unsafe SSL_get_verify_result(tls)
        if verdict != Int(X509_V_OK) {
            let reason = unsafe String(cString: X509_verify_cert_error_string(verdict))
            error = OpenSSLError(attempt: attempt, reasons: error.reasons + [reason])
        }
        state = .failed
        failure = error
        return error
    }

    // MARK: Sending

    /// Encrypts `bytes` into the output; open or ended only.
    ///
    /// - Throws: ``OpenSSLError`` when the connection has failed: close it.
    package func send(_ bytes: Span<UInt8>) throws(OpenSSLError) {
        precondition(state == .open || state == .ended)
        buffers.claim(by: self)
        var sent = 0
        ERR_clear_error()
        while sent < bytes.count {
            let written = unsafe bytes.withUnsafeBufferPointer { source -> Int in
                guard let start = source.baseAddress else { return 0 }
                var count = 0
                let result = unsafe SSL_write_ex(tls, start + sent, source.count - sent, &count)
                return result == 1 ? count : 0
            }
            // The output takes everything, so there is nothing to wait for.
            guard written > 0 else {
                let error = fail("write to a TLS connection")
                throw error
            }
            sent += written
        }
    }

    /// Says that nothing more will be sent, once; receiving goes on.
    package func sayGoodbye() {
        guard !hasSaidGoodbye, state == .open || state == .ended else { return }
        hasSaidGoodbye = true
        buffers.claim(by: self)
        ERR_clear_error()
        // 0: said, and the peer has not said it yet.
        if unsafe SSL_shutdown(tls) < 0 { ERR_clear_error() }
    }

    /// Gives back the library's own buffers, 34 KiB, until the next call; for connections at rest.
    package func releaseBuffers() {
        // 0: something is in them, and they stay.
        if unsafe SSL_free_buffers(tls) != 1 { ERR_clear_error() }
    }

    // MARK: What was agreed

    /// Names in the peer's verified certificate: those of its subjectAltName as `dns:`, `uri:` and
    /// `email:`, and its common name as `cn:`. Empty where it showed none.
    package var peerNames: [String] {
        guard unsafe SSL_get_verify_result(tls) == Int(X509_V_OK),
            let certificate = unsafe SSL_get1_peer_certificate(tls)
        else { return [] }
        defer { unsafe X509_free(certificate) }
        return unsafe CertificateNames.names(of: certificate)
    }

    /// "TLSv1.3" or "TLSv1.2".
    package var version: String { unsafe String(cString: SSL_get_version(tls)) }

    /// Whether an earlier session was resumed.
    package var isResumed: Bool { unsafe SSL_session_reused(tls) == 1 }

    /// What a later connection to the same server can resume; nil before the server gave a ticket.
    package func session() -> TLSSession? {
        guard let session = unsafe SSL_get1_session(tls) else { return nil }
        guard unsafe SSL_SESSION_is_resumable(session) == 1 else {
            unsafe SSL_SESSION_free(session)
            return nil
        }
        return unsafe TLSSession(owning: session)
    }
}

/// A session that a client may resume. References are counted atomically and the session is not
/// changed any more, so threads may share it.
@safe package final class TLSSession: @unchecked Sendable {
    /// The owned `SSL_SESSION *`.
    let session: OpaquePointer

    init(owning session: OpaquePointer) { unsafe self.session = unsafe session }

    deinit { unsafe SSL_SESSION_free(session) }
}
