import Entitlements
import SnapshotTable
package import Storage

extension EntitlementService {
    /// Puts every named customer into the table, as far as there is room; answers are right
    /// before, and fast after it.
    ///
    /// Any thread, beside readers and the commit thread: what a commit has published meanwhile is
    /// newer and stays. It ends early when the table is full: misses read the store then, and put
    /// in who is asked for.
    ///
    /// - Throws: what the store throws; then misses go on reading the store.
    package func warm() throws(StorageError) {
        for world in worlds {
            var next: [UInt8]?
            repeat {
                guard try warm(world.number, from: &next) else { return }
            } while next != nil
        }
        reader.table.finishWarming()
    }

    /// Offers some customers of a scope, from the key `next` on, and says where to go on; false
    /// when the table is full.
    ///
    /// Few enough that hardly a commit comes in between: a walk sees the state at its beginning,
    /// and what was published since is refused.
    private func warm(
        _ scope: ScopeNumber, from next: inout [UInt8]?
    ) throws(StorageError) -> Bool {
        let readAt = reader.table.changeCount
        let start = next
        next = nil
        var following: [UInt8]?
        var outdated: [[UInt8]] = []
        var count = 0
        var isFull = false
        var isDamaged = false
        try store.walk(.snapshots, prefix: Key.namedSnapshots(of: scope), from: start) {
            key, snapshot in
            guard count < 4_096 else {
                following = key.copied()
                return false
            }
            count += 1
            isDamaged = !SnapshotView(snapshot).isWellFormed
            guard !isDamaged else { return false }
            let name = key.extracting(Key.namedSnapshotNameOffset..<key.count)
            let offer = reader.table.offerWaiting(
                scope: scope.value, name: name, snapshot: snapshot, readAt: readAt)
            if offer == .outdated { outdated.append(key.copied()) }
            isFull = offer == .full
            return !isFull
        }
        if isDamaged { throw .undecodableSnapshot }
        for key in outdated where !isFull { isFull = try !warmAgain(scope, key) }
        next = following
        return !isFull
    }

    /// Reads one snapshot until no commit comes in between; false when the table is full.
    private func warmAgain(_ scope: ScopeNumber, _ key: [UInt8]) throws(StorageError) -> Bool {
        while true {
            let readAt = reader.table.changeCount
            var isDamaged = false
            let offer = try store.withValue(for: key, in: .snapshots) { snapshot in
                isDamaged = !SnapshotView(snapshot).isWellFormed
                if isDamaged { return CustomerTable.Offer.full }
                let name = key.span.extracting(Key.namedSnapshotNameOffset..<key.count)
                return reader.table.offerWaiting(
                    scope: scope.value, name: name, snapshot: snapshot, readAt: readAt)
            }
            if isDamaged { throw .undecodableSnapshot }
            guard let offer else { return true }
            if offer != .outdated { return offer != .full }
        }
    }
}

extension Span<UInt8> {
    /// A copy of the bytes.
    fileprivate func copied() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for index in indices { bytes.append(self[index]) }
        return bytes
    }
}
