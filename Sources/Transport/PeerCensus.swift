internal import EventLoop

/// How many connections each peer has, over all loops. Any thread.
///
/// A peer is whoever one address can be told to belong to; see `PeerAddress.network`.
final class PeerCensus: Sendable {
    private let countMax: Int
    private let countsLoopback: Bool
    private let counts = Locked<[PeerAddress.Network: Int]>([:])

    /// - Parameters:
    ///   - countMax: Connections of one peer.
    ///   - countsLoopback: Whether this machine is a peer like others: all its processes are one.
    init(countMax: Int, countsLoopback: Bool) {
        self.countMax = countMax
        self.countsLoopback = countsLoopback
    }

    /// Counts a connection of `peer`.
    ///
    /// - Returns: false when it has too many, and this one is not counted.
    func admit(_ peer: PeerAddress) -> Bool {
        guard isCounted(peer) else { return true }
        return counts.withLock { counts in
            let count = counts[peer.network, default: 0]
            guard count < countMax else { return false }
            counts[peer.network] = count + 1
            return true
        }
    }

    /// A connection that was admitted is closed.
    func release(_ peer: PeerAddress) {
        guard isCounted(peer) else { return }
        counts.withLock { counts in
            guard let count = counts[peer.network] else { return }
            counts[peer.network] = count > 1 ? count - 1 : nil
        }
    }

    private func isCounted(_ peer: PeerAddress) -> Bool { countsLoopback || !peer.isLoopback }
}
