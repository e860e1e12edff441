internal import EventLoop
internal import OpenSSL
internal import Session
internal import Synchronization
internal import Wire

// MARK: - Handshake

extension ConnectionHandler {
    /// Whether bytes of a handshake wait for their turn.
    var isWaitingForHandshake: Bool { secure.map { !$0.waiting.isEmpty } ?? false }

    /// Takes bytes of the network: handshakes have their turns, content is decrypted at once.
    func received(_ bytes: Span<UInt8>, by secure: SecureChannel) {
        guard secure.isHandshaking, !loop.handshakes.takesStep() else {
            return decrypt(bytes, secure)
        }
        secure.waiting.reserveCapacity(bytes.count)
        for index in bytes.indices { secure.waiting.append(bytes[index]) }
        stream.stopReading()
        loop.handshakes.enqueue(self)
    }

    /// The turn has come.
    func goOnWithHandshake() {
        guard let secure else { return }
        let bytes = secure.waiting
        secure.waiting = []
        decrypt(bytes.span, secure)
    }

    /// The handshake is over, well or not; it does not count any more.
    func endHandshake(_ secure: SecureChannel) {
        guard secure.isHandshaking else { return }
        secure.isHandshaking = false
        loop.handshakes.end()
    }
}

// MARK: - Content

extension ConnectionHandler {
    private func decrypt(_ bytes: Span<UInt8>, _ secure: SecureChannel) {
        loop.beginBatch()
        defer { loop.endBatch() }
        if !secure.isWarm { loop.warmChannels.warm(secure) }
        secure.channel.receive(bytes) { plaintext in
            noteHandshake(of: secure)
            receive(plaintext)
        }
        noteHandshake(of: secure)
        // What the library says by itself: its part of the handshake, tickets, alerts, new keys.
        guard sendEncrypted(secure), !stream.isClosing else { return close() }
        switch secure.channel.state {
        case .handshaking, .open: settle()
        case .ended: streamDidReachEnd(stream)
        case .failed: failed(secure)
        }
    }

    /// Tells the session who is there, once.
    private func noteHandshake(of secure: SecureChannel) {
        guard secure.isHandshaking else { return }
        switch secure.channel.state {
        case .handshaking: return
        case .open, .ended:
            endHandshake(secure)
            parts.counters.handshakes.add(1, ordering: .relaxed)
            var peer = session.peer
            peer.certificateNames = secure.channel.peerNames
            session.endedHandshake(with: peer)
        case .failed:
            endHandshake(secure)
            parts.counters.failedHandshakes.add(1, ordering: .relaxed)
        }
    }

    /// Nothing can be read or sent any more: the alert leaves, then the connection ends.
    private func failed(_ secure: SecureChannel) {
        guard session.inFlightCount == 0 else { return close() }
        session.refusedInput()
        settle()
    }

    /// Encrypts the answers and sends them.
    ///
    /// - Returns: false when the connection is broken.
    func send(_ output: borrowing OutputBuffer, by secure: SecureChannel) -> Bool {
        guard secure.canSend else { return false }
        var isEncrypted = true
        do throws(OpenSSLError) {
            try secure.channel.send(output.bytes)
        } catch {
            isEncrypted = false
        }
        // Also where it failed: what lies in the buffers is nobody else's.
        return sendEncrypted(secure) && isEncrypted
    }

    /// Says to the peer that nothing more follows.
    func sayGoodbye(_ secure: SecureChannel) {
        secure.channel.sayGoodbye()
        _ = sendEncrypted(secure)
    }

    /// - Returns: false when the socket is broken.
    private func sendEncrypted(_ secure: SecureChannel) -> Bool {
        let buffers = secure.buffers
        guard buffers.hasOutput else { return true }
        defer { buffers.removeOutput() }
        do throws(UVError) {
            try stream.write(buffers.output)
            return true
        } catch {
            return false
        }
    }
}
