internal import EventLoop
internal import Session
internal import Storage
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
    private let stream: StreamConnection
    private let loop: ServerLoop

    init(id: UInt64, stream: StreamConnection, loop: ServerLoop) {
        self.id = id
        self.stream = stream
        self.loop = loop
        session = ClientConnection(limits: loop.options.limits)
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
        followSession(&session)
        loop.watch(self, session)
    }

    /// One call of `write` for all that was answered; what the socket does not take is queued.
    ///
    /// - Returns: false when the socket is broken.
    private func write(_ output: inout OutputBuffer) -> Bool {
        guard !output.isEmpty else { return true }
        defer { output.removeAll() }
        loop.responder.counts.sent(byteCount: output.count)
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
            if reads { stream.startReading() } else { stream.stopReading() }
        case .endOutput:
            stream.shutdownWrites()
            session.outputEnded(at: loop.nowMilliseconds)
            if session.step == .close { close(&session) } else { stream.startReading() }
        case .close:
            close(&session)
        }
    }

    /// Tells the peer something that answers none of its requests, and ends the connection.
    func refuse(with frame: [UInt8]) {
        loop.output.append(frame.span)
        session.drain()
        settle()
    }

    /// Closes the socket as it is.
    func close() { close(&session) }

    private func close(_ session: inout ClientConnection) {
        guard !stream.isClosing else { return }
        session.closed()
        loop.forget(self)
        stream.close()
    }
}

extension ConnectionHandler: StreamHandler {
    func stream(_ stream: StreamConnection, didRead bytes: Span<UInt8>) {
        loop.beginBatch()
        serve(bytes, &session, &loop.output)
        loop.endBatch()
    }

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
