internal import EventLoop
internal import OpenSSL
internal import Service
internal import Session
internal import Storage
internal import Synchronization
internal import Wire

/// One event loop of a server: its listeners, its connections, and the calls that have left it.
///
/// Loop thread only. A check is read, answered and written here without a lock, an allocation or
/// another thread; at idle no timer runs.
final class ServerLoop {
    /// What the loop needs from outside.
    struct Parts {
        var index: Int
        var access: AccessReader
        var options: ServerOptions
        var desk: CallDesk
        var port: LoopPort
        var counters: ServerCounters
        var census: PeerCensus
        /// Nil: nothing is metered.
        var usage: UsageDesk?
        var onEnd: @Sendable () -> Void
    }

    /// A call that has left the loop.
    struct CallInFlight {
        var connectionID: UInt64
        var tag: CallTag
        var claim: WorkClaim
    }

    /// What a deadline is about.
    enum DeadlineKey {
        case call(UInt64)
        case connection(UInt64)
    }

    enum State {
        case serving
        case draining
        case ended
    }

    let loop: Loop
    let parts: Parts
    let responder: Responder
    private(set) var flusher: UsageFlusher?
    let handshakes: HandshakeQueue
    /// What the connections hold.
    var budget: BufferBudget
    /// Where every TLS connection of the loop decrypts and encrypts.
    let tlsBuffers = TLSBuffers()
    var warmChannels = WarmChannels()
    /// Connections that are being told why they are refused.
    var politeRefusalCount = 0
    /// The answers of the event at hand; empty between events.
    var output = OutputBuffer(capacity: Loop.readByteCountMax)
    var state = State.serving
    var listeners: [Listener] = []
    var connections: [UInt64: ConnectionHandler] = [:]
    var calls: [UInt64: CallInFlight] = [:]
    var deadlines = DeadlineQueue<DeadlineKey>()
    var armedConnectionCount = 0
    /// Connections with a check that waits for a revision.
    var awaiting: Set<UInt64> = []
    var deadlineTimer: Timer?
    /// When `deadlineTimer` fires; nil = it is stopped.
    var timerDeadline: Int64?
    var drainTimers: [Timer] = []
    /// The monotonic clock at the end of the last batch of this iteration; 0 = not known.
    private var endOfBatch: UInt64 = 0
    var nextConnectionID: UInt64 = 0
    private var nextCallID: UInt64 = 0

    var options: ServerOptions { parts.options }

    /// The loop's clock, in milliseconds.
    var nowMilliseconds: Int64 { Int64(truncatingIfNeeded: loop.nowMilliseconds) }

    init(loop: Loop, parts: Parts) throws(UVError) {
        self.loop = loop
        self.parts = parts
        budget = BufferBudget(
            byteCountMax: parts.options.bufferedByteCountMax / parts.options.loopCount)
        handshakes = try HandshakeQueue(loop: loop, countMax: parts.options.handshakeCountMax)
        flusher = try parts.usage.map { (desk) throws(UVError) in
            try UsageFlusher(
                loop: loop, desk: desk, loopIndex: parts.index,
                intervalMilliseconds: parts.options.usageFlushMilliseconds)
        }
        responder = Responder(
            access: parts.access, limits: parts.options.limits, identity: parts.options.identity,
            meter: flusher?.meter, counts: parts.port.counts, keys: parts.options.keys,
            audit: parts.options.audit)
        deadlineTimer = try Timer(loop: loop) { [unowned self] in timerFired() }
        _ = try LoopHook(loop: loop, phase: .beforeSleep) { [unowned self] in
            clockIsOld()
            handshakes.iterationEnded()
        }
    }

    // MARK: Connections

    /// Listens on `sockets`.
    func listen(on sockets: [ListeningSocket]) throws(UVError) {
        for socket in sockets {
            let tls = parts.options.tls(for: socket.address)
            let listener = try Listener(loop: loop, socket: socket) { [unowned self] _, result in
                accepted(result, tls)
            }
            listeners.append(listener)
        }
    }

    /// A connection is being closed: gives up its calls.
    func forget(_ handler: ConnectionHandler) {
        for callID in handler.callIDs {
            guard let call = calls.removeValue(forKey: callID) else { continue }
            _ = call.claim.abandon()
            responder.abandoned(call.tag)
        }
        handler.callIDs = []
        awaiting.remove(handler.id)
        account(handler, byteCount: 0)
        if handler.armedDeadline != nil {
            handler.armedDeadline = nil
            armedConnectionCount -= 1
        }
    }

    /// A connection is closed.
    func wasClosed(_ handler: ConnectionHandler) {
        forget(handler)
        guard connections.removeValue(forKey: handler.id) != nil else { return }
        if let peer = handler.admittedPeer { parts.census.release(peer) }
        if handler.isRefused { politeRefusalCount -= 1 }
        parts.counters.connections.subtract(1, ordering: .relaxed)
        if state == .draining, connections.isEmpty { end() }
    }

    // MARK: Calls

    /// Sends a call to the other threads.
    ///
    /// - Returns: why it was not taken; nil when it was.
    func submit(_ call: PendingCall, of handler: ConnectionHandler) -> Refusal? {
        let callID = nextCallID
        nextCallID += 1
        let claim = WorkClaim()
        let job = CallDesk.Job(
            ticket: CallTicket(loopIndex: parts.index, callID: callID), pending: call, claim: claim)
        guard parts.desk.submit(job) else {
            parts.counters.overloadedCalls.add(1, ordering: .relaxed)
            return Refusal(
                .overloaded, "too many calls are waiting on this server",
                retryAfterMilliseconds: 100)
        }
        calls[callID] = CallInFlight(connectionID: handler.id, tag: call.tag, claim: claim)
        handler.callIDs.insert(callID)
        deadlines.insert(.call(callID), atMilliseconds: call.deadlineMilliseconds)
        startTimer()
        return nil
    }

    // MARK: The clock of batches

    /// Requests are about to be answered. A batch begins where the one before ended, reading its
    /// bytes included: one look at the clock (40 ns) for each batch instead of two.
    func beginBatch() {
        responder.batchMicroseconds =
            endOfBatch > 0 ? endOfBatch : MonotonicClock.nowMicroseconds
    }

    /// Their answers have left.
    func endBatch() {
        endOfBatch = MonotonicClock.nowMicroseconds
        responder.batchEnded(atMicroseconds: endOfBatch)
    }

    /// The loop may sleep, or does something else than answering: the next batch looks at the
    /// clock.
    func clockIsOld() { endOfBatch = 0 }
}
