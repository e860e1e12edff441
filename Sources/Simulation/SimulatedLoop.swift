internal import Session
internal import Wire

/// The server's end of one connection.
final class ServedConnection {
    let id: Int
    let loop: Int
    var session: ClientConnection
    /// What the socket has not taken.
    var queued: [UInt8] = []
    /// What has arrived and is not read.
    var unread: [Segment] = []
    var reads = true
    var isClosed = false
    var hasEndedOutput = false
    var calls: [Int] = []
    var armedDeadline: Int64?
    var awaitedRevision: UInt64?

    init(id: Int, loop: Int, limits: Limits) {
        self.id = id
        self.loop = loop
        session = ClientConnection(limits: limits)
    }
}

/// One event loop: its responder, the answers of the event at hand, and what other threads said.
final class SimulatedLoop {
    let index: Int
    let responder: Responder
    var output = OutputBuffer()
    var inbox: [SimulatedMessage] = []
    /// Connections with a check that waits for a revision, in ascending order.
    var awaiting: [Int] = []

    init(index: Int, responder: Responder) {
        self.index = index
        self.responder = responder
    }
}
