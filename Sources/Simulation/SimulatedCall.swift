internal import Service
internal import Session

/// A call that has left its loop, with who has the last word on it: the loop that may give it up,
/// or the thread that carries it out. The same three states as in the real transport.
final class SimulatedCall {
    enum State {
        case waiting
        case started
        case abandoned
    }

    let id: Int
    let pending: PendingCall
    let connection: Int
    let loop: Int
    private(set) var state = State.waiting
    /// Whether its chain of certificates was found to be a new one.
    var needsChainCheck = false
    var event: Event?

    init(id: Int, pending: PendingCall, connection: Int, loop: Int) {
        self.id = id
        self.pending = pending
        self.connection = connection
        self.loop = loop
    }

    /// Takes the call for good; false when the loop has given it up.
    func start() -> Bool {
        guard state == .waiting else { return false }
        state = .started
        return true
    }

    /// Gives the call up; false when it has been started.
    func abandon() -> Bool {
        guard state == .waiting else { return false }
        state = .abandoned
        return true
    }
}

/// What other threads tell a loop.
enum SimulatedMessage {
    case completed(call: Int, frame: [UInt8])
    case revisionReached
}
