#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// An address without its port, in a form that compares fast: IPv4 as IPv6 has it.
struct PeerAddress: Hashable, Sendable {
    let high: UInt64
    let low: UInt64
}

/// One open connection, from its acceptance to its closing.
///
/// `@unchecked Sendable`: what varies is touched under the registry's lock only.
@safe final class PeerConnection: @unchecked Sendable {
    /// Whose turn it is.
    enum Phase {
        /// The peer's: nothing of a request is here.
        case idle
        /// The peer's: a request has begun.
        case receiving
        /// Ours: no deadline of the peer runs.
        case answering
        /// The peer's: it has to read.
        case sending
    }

    let descriptor: Int32
    let peer: PeerAddress
    fileprivate(set) var phase = Phase.idle
    /// When it is cut, in `MonotonicTime`; counts in every phase but `answering`.
    fileprivate(set) var deadline: UInt64
    /// Since when it is the peer's turn.
    fileprivate(set) var waitingSince: UInt64
    fileprivate(set) var isCut = false
    /// Its request was answered before its body was read: what still comes must be taken away, or
    /// the reset that TCP sends for it destroys the answer on its way.
    fileprivate(set) var mustLinger = false
    fileprivate var index = 0

    init(descriptor: Int32, peer: PeerAddress, now: UInt64, deadline: UInt64) {
        self.descriptor = descriptor
        self.peer = peer
        self.deadline = deadline
        waitingSince = now
    }
}

/// All open connections of a listener, and until when each may keep us waiting.
///
/// libmicrohttpd's own time-out counts silence, so one byte in time keeps a connection for ever;
/// the deadlines here count whole requests. A connection that is cut is shut down and not closed:
/// the library notices and closes it, and no descriptor is used by two.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [PeerConnection] = []
        var countsByPeer: [PeerAddress: Int] = [:]
        var isStopping = false
        /// Descriptors of our own of connections that the library has closed.
        var lingering: [Int32] = []
        /// How many lingering descriptors are open in all.
        var lingeringCount = 0
    }

    /// Beyond, a connection is closed without waiting for its peer.
    private static let lingeringCountMax = 64

    private let state = Monitor(State())
    private let options: HTTPListenerOptions
    private let counters: ListenerCounters

    init(options: HTTPListenerOptions, counters: ListenerCounters) {
        self.options = options
        self.counters = counters
    }

    /// How many connections are open.
    var count: Int { state.withLock { $0.connections.count } }

    /// Whether no more requests are taken.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Whether a connection from this address is taken. At the limit of all connections the one
    /// that has kept us waiting longest goes: so a crowd of silent ones keeps nobody out.
    func accepts(_ peer: PeerAddress) -> Bool {
        let (isAccepted, isEvicting) = state.withLock { state -> (Bool, Bool) in
            if state.isStopping { return (false, false) }
            if let limit = options.connectionCountPerPeerMax, state.countsByPeer[peer] ?? 0 >= limit
            {
                return (false, false)
            }
            let excess = state.connections.count - options.connectionCountMax
            guard excess >= 0 else { return (true, false) }
            // Those that were cut are still there until the library has noticed: up to twice the
            // limit are borne.
            guard excess < options.connectionCountMax,
                let oldest = state.connections.lazy
                    .filter({ $0.phase != .answering && !$0.isCut })
                    .min(by: { $0.waitingSince < $1.waitingSince })
            else { return (false, false) }
            cut(oldest)
            return (true, true)
        }
        if !isAccepted { counters.refusedConnections.increase() }
        if isEvicting { counters.evictedConnections.increase() }
        return isAccepted
    }

    /// Adds a connection.
    func open(descriptor: Int32, peer: PeerAddress) -> PeerConnection {
        let now = MonotonicTime.milliseconds
        let connection = PeerConnection(
            descriptor: descriptor, peer: peer, now: now, deadline: idleDeadline(from: now))
        counters.acceptedConnections.increase()
        state.withLock { state in
            connection.index = state.connections.count
            state.connections.append(connection)
            state.countsByPeer[peer, default: 0] += 1
        }
        return connection
    }

    /// Takes a connection out before the library closes its descriptor.
    func close(_ connection: PeerConnection) {
        state.withLockNotifying { state in
            let last = state.connections.removeLast()
            if last !== connection {
                last.index = connection.index
                state.connections[connection.index] = last
            }
            let count = state.countsByPeer[connection.peer] ?? 1
            state.countsByPeer[connection.peer] = count > 1 ? count - 1 : nil
            if connection.mustLinger, !connection.isCut, !state.isStopping,
                state.lingeringCount < Self.lingeringCountMax
            {
                let descriptor = dup(connection.descriptor)
                if descriptor >= 0 {
                    state.lingering.append(descriptor)
                    state.lingeringCount += 1
                }
            }
        }
    }

    /// The first line of a request is here.
    func beganRequest(_ connection: PeerConnection) {
        let now = MonotonicTime.milliseconds
        state.withLock { _ in
            connection.phase = .receiving
            connection.deadline = min(connection.deadline, now + requestMilliseconds)
        }
    }

    /// The request is whole; the handler has the word.
    func beganAnswering(_ connection: PeerConnection) {
        state.withLock { _ in connection.phase = .answering }
    }

    /// The response is on its way; an early one when the request's body was not read.
    func beganSending(_ connection: PeerConnection, isEarly: Bool) {
        let now = MonotonicTime.milliseconds
        state.withLock { _ in
            connection.phase = .sending
            connection.deadline = now + requestMilliseconds
            connection.waitingSince = now
            if isEarly { connection.mustLinger = true }
        }
    }

    /// The response is sent, or the request has failed.
    func endedRequest(_ connection: PeerConnection) {
        let now = MonotonicTime.milliseconds
        state.withLock { state in
            connection.phase = .idle
            connection.deadline = idleDeadline(from: now)
            connection.waitingSince = now
            if state.isStopping { cut(connection) }
        }
    }

    /// Cuts what is past its deadline.
    ///
    /// - Returns: When the next deadline is, in `MonotonicTime`.
    func cutExpired(at now: UInt64) -> UInt64 {
        state.withLock { state in
            var next = UInt64.max
            for connection in state.connections
            where connection.phase != .answering && !connection.isCut {
                if connection.deadline <= now {
                    counters.timedOutConnections.increase()
                    cut(connection)
                } else {
                    next = min(next, connection.deadline)
                }
            }
            return next
        }
    }

    /// Ends what is idle; what has begun is still answered.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            for connection in state.connections where connection.phase == .idle {
                cut(connection)
            }
        }
    }

    /// Waits until every connection is closed, at most until `instant`.
    ///
    /// - Returns: Whether they are.
    @discardableResult
    func waitUntilEmpty(until instant: UInt64) -> Bool {
        state.wait(until: instant) { $0.connections.isEmpty ? true : nil } ?? false
    }

    /// Hands over the descriptors that are to linger.
    func takeLingering() -> [Int32] {
        state.withLock { state in
            defer { state.lingering = [] }
            return state.lingering
        }
    }

    /// A descriptor does not linger any more.
    func endedLingering(_ descriptor: Int32) {
        closeDescriptor(descriptor)
        state.withLock { $0.lingeringCount -= 1 }
    }

    private var requestMilliseconds: UInt64 { UInt64(options.requestMilliseconds) }

    /// A request that begins at the end of the idle time has its whole time still.
    private func idleDeadline(from now: UInt64) -> UInt64 {
        now + UInt64(options.idleSeconds) * 1_000 + requestMilliseconds
    }

    /// Under the lock, in which the descriptor is surely still this connection's.
    private func cut(_ connection: PeerConnection) {
        connection.isCut = true
        shutdown(connection.descriptor, Int32(SHUT_RDWR))
    }
}
