internal import Synchronization

/// What a server has counted since its start; sums over its loops.
package struct ServerCounts: Equatable, Sendable {
    /// Connections that are open now.
    package var connections = 0
    /// Connections accepted, those beyond the limit included.
    package var acceptedConnections = 0
    /// Connections refused because there were too many.
    package var refusedConnections = 0
    /// Connections lost because the process had no descriptor or memory left.
    package var failedAccepts = 0
    /// Connections refused because their peer had too many; among `refusedConnections`.
    package var refusedConnectionsOfPeers = 0
    /// Connections ended because all together held too much, and they more than their share.
    package var shedConnections = 0
    /// TLS handshakes that ended well.
    package var handshakes = 0
    /// TLS handshakes that failed: another protocol, no certificate, or one that is not taken.
    package var failedHandshakes = 0
    /// Calls refused because too much was outstanding.
    package var overloadedCalls = 0
    /// Calls given up at their deadline, waiting for a revision or for a worker.
    package var expiredCalls = 0
    /// Granted checks that were not metered, because the store was behind or refused.
    package var unmeteredChecks = 0

    /// Nothing yet.
    package init() {}
}

/// The counters behind `ServerCounts`, shared by the loops of one server. Relaxed: they order
/// nothing.
final class ServerCounters: Sendable {
    let connections = Atomic(0)
    let acceptedConnections = Atomic(0)
    let refusedConnections = Atomic(0)
    let failedAccepts = Atomic(0)
    let refusedConnectionsOfPeers = Atomic(0)
    let shedConnections = Atomic(0)
    let handshakes = Atomic(0)
    let failedHandshakes = Atomic(0)
    let overloadedCalls = Atomic(0)
    let expiredCalls = Atomic(0)
    let unmeteredChecks = Atomic(0)

    var counts: ServerCounts {
        var counts = ServerCounts()
        counts.connections = connections.load(ordering: .relaxed)
        counts.acceptedConnections = acceptedConnections.load(ordering: .relaxed)
        counts.refusedConnections = refusedConnections.load(ordering: .relaxed)
        counts.failedAccepts = failedAccepts.load(ordering: .relaxed)
        counts.refusedConnectionsOfPeers = refusedConnectionsOfPeers.load(ordering: .relaxed)
        counts.shedConnections = shedConnections.load(ordering: .relaxed)
        counts.handshakes = handshakes.load(ordering: .relaxed)
        counts.failedHandshakes = failedHandshakes.load(ordering: .relaxed)
        counts.overloadedCalls = overloadedCalls.load(ordering: .relaxed)
        counts.expiredCalls = expiredCalls.load(ordering: .relaxed)
        counts.unmeteredChecks = unmeteredChecks.load(ordering: .relaxed)
        return counts
    }
}
