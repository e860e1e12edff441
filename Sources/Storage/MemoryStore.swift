internal import Synchronization

/// A store in memory: the twin of the one on disk, for tests, rehearsals and simulations.
///
/// It keeps the same promises except durability: ordered, atomic, each scan on one consistent
/// state. Safe from any thread. What `RocksDBStore` does differently is a bug in one of the two.
package final class MemoryStore: EntitlementWriter, Sendable {
    private struct State {
        var records: [Keyspace: SortedRecords] = [:]
        var commitCount: UInt64 = 0
        var lastCommitCounts: [Keyspace: Int] = [:]
        var failuresLeft = 0
        var failureMessage = ""
    }

    private let state = Mutex(State())

    /// An empty store.
    package init() {}

    /// How many commits have succeeded.
    package var commitCount: UInt64 { state.withLock { $0.commitCount } }

    /// How many records the last commit wrote or removed.
    package var lastCommitCounts: [Keyspace: Int] { state.withLock { $0.lastCommitCounts } }

    /// Makes the next `count` commits throw `StorageError.unavailable(message:)`, changing nothing.
    /// Zero ends the failing at once.
    package func failCommits(next count: Int, message: String = "told to fail") {
        precondition(count >= 0, "a count of failures cannot be negative")
        state.withLock { state in
            state.failuresLeft = count
            state.failureMessage = message
        }
    }

    /// The value under `key`, or nil. O(log n).
    package func value(
        for key: [UInt8], in keyspace: Keyspace
    ) throws(StorageError) -> [UInt8]? {
        state.withLock { $0.records[keyspace]?.value(for: key) }
    }

    /// Calls `body` on the records of one consistent state; `body` may use the store.
    package func scan(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?, reversed: Bool,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws(StorageError) {
        let records = state.withLock { $0.records[keyspace] }
        records?.scan(prefix: prefix, from: start, reversed: reversed, body)
    }

    /// Calls `body` with a reader of one consistent state over all keyspaces: whatever it reads, in
    /// however many calls, is from between two commits.
    package func withSnapshot<Result, Failure: Error>(
        _ body: (MemorySnapshot) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(MemorySnapshot(records: state.withLock { $0.records }))
    }

    /// Applies all of `changes` or nothing.
    ///
    /// - Throws: `StorageError.unavailable` while `failCommits` says so.
    package func commit(_ changes: ChangeSet) throws(StorageError) {
        let failure: String? = state.withLock { state in
            guard state.failuresLeft == 0 else {
                state.failuresLeft -= 1
                return state.failureMessage
            }
            for (keyspace, keyed) in changes.changes {
                state.records[keyspace, default: SortedRecords()].apply(keyed)
            }
            state.commitCount += 1
            state.lastCommitCounts = changes.changes.mapValues(\.count)
            return nil
        }
        if let failure { throw .unavailable(message: failure) }
    }
}

/// A reader of one consistent state of a `MemoryStore`.
package struct MemorySnapshot: EntitlementReader, Sendable {
    fileprivate let records: [Keyspace: SortedRecords]

    /// The value that stood under `key`, or nil. O(log n).
    package func value(
        for key: [UInt8], in keyspace: Keyspace
    ) throws(StorageError) -> [UInt8]? {
        records[keyspace]?.value(for: key)
    }

    /// Calls `body` on the records as they stood.
    package func scan(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?, reversed: Bool,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws(StorageError) {
        records[keyspace]?.scan(prefix: prefix, from: start, reversed: reversed, body)
    }
}

/// Records in ascending byte order of their keys. A copy is a consistent state of its own.
private struct SortedRecords: Sendable {
    struct Record: Sendable {
        var key: [UInt8]
        var value: [UInt8]
    }

    /// Above this many changes one merge pass is cheaper than single insertions.
    private static let singleChangeCountMax = 16

    private var records: [Record] = []

    /// The index of the first record whose key is at or after `key`; `count` when there is none.
    private func lowerBound(of key: [UInt8]) -> Int {
        var low = 0
        var high = records.count
        while low < high {
            let middle = low + (high - low) / 2
            if records[middle].key.lexicographicallyPrecedes(key) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    func value(for key: [UInt8]) -> [UInt8]? {
        let index = lowerBound(of: key)
        guard index < records.count, records[index].key == key else { return nil }
        return records[index].value
    }

    func scan(
        prefix: [UInt8], from start: [UInt8]?, reversed: Bool, _ body: ([UInt8], [UInt8]) -> Bool
    ) {
        if reversed {
            scanDescending(prefix: prefix, from: start, body)
        } else {
            scanAscending(prefix: prefix, from: start, body)
        }
    }

    private func scanAscending(
        prefix: [UInt8], from start: [UInt8]?, _ body: ([UInt8], [UInt8]) -> Bool
    ) {
        var first = prefix
        if let start, prefix.lexicographicallyPrecedes(start) { first = start }
        for record in records[lowerBound(of: first)...] {
            guard record.key.starts(with: prefix), body(record.key, record.value) else { return }
        }
    }

    private func scanDescending(
        prefix: [UInt8], from start: [UInt8]?, _ body: ([UInt8], [UInt8]) -> Bool
    ) {
        // The end of the prefix: the first key that does not start with it any more.
        let begin = lowerBound(of: prefix)
        var end = records[begin...].partitionIndex { !$0.key.starts(with: prefix) }
        if let start {
            let index = lowerBound(of: start)
            let isExact = index < records.count && records[index].key == start
            end = min(end, isExact ? index + 1 : index)
        }
        guard begin < end else { return }
        for record in records[begin..<end].reversed() {
            guard body(record.key, record.value) else { return }
        }
    }

    mutating func apply(_ changes: [[UInt8]: ChangeSet.Change]) {
        guard changes.count > Self.singleChangeCountMax else {
            for (key, change) in changes { apply(change, to: key) }
            return
        }
        let sorted = changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        var merged: [Record] = []
        merged.reserveCapacity(records.count + sorted.count)
        var old = records[...]
        for (key, change) in sorted {
            while let record = old.first, record.key.lexicographicallyPrecedes(key) {
                merged.append(record)
                old = old.dropFirst()
            }
            if old.first?.key == key { old = old.dropFirst() }
            if case .put(let value) = change { merged.append(Record(key: key, value: value)) }
        }
        merged.append(contentsOf: old)
        records = merged
    }

    private mutating func apply(_ change: ChangeSet.Change, to key: [UInt8]) {
        let index = lowerBound(of: key)
        let exists = index < records.count && records[index].key == key
        switch change {
        case .put(let value) where exists: records[index].value = value
        case .put(let value): records.insert(Record(key: key, value: value), at: index)
        case .delete where exists: records.remove(at: index)
        case .delete: break
        }
    }
}

extension ArraySlice {
    /// The first index for which `predicate` holds, all elements before it failing it and all
    /// after it passing it; `endIndex` when none does. O(log n).
    fileprivate func partitionIndex(_ predicate: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(self[middle]) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}
