internal import EventLoop
internal import Session
internal import Storage
internal import Synchronization
internal import Wire

/// Moves the bytes of one client's connection; its session decides, the loop's responder answers.
///
/// Owned by its loop until the socket is closed.
final class ConnectionHandler {
    /// Which connection of its loop.
    let id: UInt64
    var session: ClientConnection
    /// When the loop looks at this connection's deadlines; nil = not at all.
    var armedDeadline: Int64?
    /// The lowest revision that a check of it waits for, as of its last event; nil = none waits.
    var awaitedRevision: UInt64?
    /// Calls of this connection that have left the loop.
    var callIDs: Set<UInt64> = []
    /// Nil: plain text.
    let secure: SecureChannel?
    let stream: StreamConnection
    let loop: ServerLoop
    var parts: ServerLoop.Parts { loop.parts }

    /// Who is counted for it; nil: nobody.
    var admittedPeer: PeerAddress?
    /// Whether it is only being told that it is refused.
    var isRefused = false
    /// What it holds, as the loop knows.
    var accountedByteCount = 0

    init(
        id: UInt64, stream: StreamConnection, peer: PeerAddress?, secure: SecureChannel?,
        loop: ServerLoop
    ) {
        self.id = id
        self.stream = stream
        self.secure = secure
        self.loop = loop
        session = ClientConnection(limits: loop.options.limits)
        session.peer.address = peer?.text ?? ""
        if secure != nil { session.beganHandshake(at: loop.nowMilliseconds) }
    }

    /// Starts to read.
    func start() {
        stream.handler = self
        settle()
    }

    /// Writes the answers that wait in the loop's buffer, sends calls on their way, and does what
    /// the session says then. After every event of this connection.
    func settle() {
        loop.clockIsOld()
        settle(&session, &loop.output)
    }

    /// One access of the session and of the buffer for all of it: Swift checks each access of a
    /// class's variable for overlaps while it runs. With one check for each use they took 3 % of
    /// the loop's time at one request in flight.
    private func settle(_ session: inout ClientConnection, _ output: inout OutputBuffer) {
        guard !stream.isClosing else { return output.removeAll() }
        let now = loop.nowMilliseconds
        while true {
            guard write(&output) else { return close(&session) }
            session.outputPending(byteCount: stream.queuedByteCount, at: now)
            submitCalls(&session, &output)
            guard output.isEmpty else { continue }
            guard session.shouldResume else { break }
            loop.responder.resume(&session, output: &output, at: now)
        }
        let held = session.bufferedByteCount
        if held != accountedByteCount {
            loop.account(self, byteCount: held)
            if loop.mustShed(self) { return shed(&session) }
        }
        followSession(&session)
        loop.watch(self, session)
    }

    /// All connections together hold too much, and this one more than its share: what it asked for
    /// is not answered.
    private func shed(_ session: inout ClientConnection) {
        loop.parts.counters.shedConnections.add(1, ordering: .relaxed)
        if secure == nil, !stream.isClosing {
            // Best effort: whoever does not read does not read this either.
            let frame = ConnectionRefusal.tooMuchBuffered
            _ = try? stream.tryWrite(frame.span)
        }
        close(&session)
    }

    /// One call of `write` for all that was answered; what the socket does not take is queued.
    ///
    /// - Returns: false when the socket is broken.
    private func write(_ output: inout OutputBuffer) -> Bool {
        guard !output.isEmpty else { return true }
        defer { output.removeAll() }
        loop.responder.counts.sent(byteCount: output.count)
        if let secure { return send(output, by: secure) }
        do throws(UVError) {
            try stream.write(output.bytes)
            return true
        } catch {
            return false
        }
    }

    private func submitCalls(_ session: inout ClientConnection, _ output: inout OutputBuffer) {
        while session.hasCall, let call = session.takeCall() {
            guard let refusal = loop.submit(call, of: self) else { continue }
            loop.responder.refused(call.tag, refusal, on: &session, output: &output)
        }
    }

    private func followSession(_ session: inout ClientConnection) {
        switch session.step {
        case .proceed(let reads):
            if reads, !isWaitingForHandshake { stream.startReading() } else { stream.stopReading() }
        case .endOutput:
            if let secure { sayGoodbye(secure) }
            stream.shutdownWrites()
            session.outputEnded(at: loop.nowMilliseconds)
            if session.step == .close { close(&session) } else { stream.startReading() }
        case .close:
            close(&session)
        }
    }

    /// Tells the peer something that answers none of its requests, and ends the connection. Plain
    /// text only: before a handshake nothing can be said.
    func refuse(with frame: [UInt8]) {
        loop.output.append(frame.span)
        session.drain()
        settle()
    }

    /// Closes the socket as it is.
    func close() { close(&session) }

    private func close(_ session: inout ClientConnection) {
        guard !stream.isClosing else { return }
        if let secure {
            secure.waiting = []
            endHandshake(secure)
            loop.warmChannels.forget(secure)
        }
        session.closed()
        loop.forget(self)
        stream.close()
    }
}

extension ConnectionHandler: StreamHandler {
    func stream(_ stream: StreamConnection, didRead bytes: Span<UInt8>) {
        if let secure { return received(bytes, by: secure) }
        loop.beginBatch()
        receive(bytes)
        loop.endBatch()
    }

    /// Takes what the peer said, within a batch of the loop.
    func receive(_ bytes: Span<UInt8>) { serve(bytes, &session, &loop.output) }

    private func serve(
        _ bytes: Span<UInt8>, _ session: inout ClientConnection, _ output: inout OutputBuffer
    ) {
        let responder = loop.responder
        responder.counts.received(byteCount: bytes.count)
        responder.received(bytes, on: &session, output: &output, at: loop.nowMilliseconds)
        settle(&session, &output)
    }

    func streamDidReachEnd(_ stream: StreamConnection) {
        loop.responder.inputEnded(on: &session, output: &loop.output, at: loop.nowMilliseconds)
        settle()
    }

    func stream(_ stream: StreamConnection, didFail error: UVError) { close() }

    func streamDidWrite(_ stream: StreamConnection) { settle() }

    func streamDidClose(_ stream: StreamConnection) { loop.wasClosed(self) }
}
