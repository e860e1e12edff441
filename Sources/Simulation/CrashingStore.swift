package import Storage
internal import Synchronization
internal import TestSupport

/// A store over a write-ahead log that a crash can cut, in memory.
///
/// What a process sees is one thing, what the disk has another: a batch is appended to the log,
/// synced, applied, acknowledged. A crash keeps every synced batch and, as the dice fall, the one
/// that was being written: whole or not at all, for the log's checksums drop a torn one.
///
/// A write that fails leaves nothing. A sync that fails leaves a batch that may or may not be on
/// disk: it is not shown, and the next commit takes it back before anything else is written, as
/// `RocksDBStore` does; a crash before that may bring it back.
package final class CrashingStore: EntitlementWriter, Sendable {
    /// What becomes of the next commits.
    enum Fate: Sendable {
        case succeed
        /// Nothing reaches the log.
        case failWrite
        /// The batch may have reached the log.
        case failSync
        /// The process dies; true: after the batch was synced.
        case crash(isKept: Bool)
    }

    private struct State {
        /// What this process reads.
        var live = MemoryStore()
        /// What a restart finds.
        var durable = MemoryStore()
        /// Batches that `durable` lacks although they were acknowledged; only a canary has any.
        var unsynced: [ChangeSet] = []
        /// What `durable` was before the last batch; kept for a canary.
        var last: ChangeSet?
        /// A batch whose sync failed.
        var doubtful: ChangeSet?
        var fate = Fate.succeed
        var isDiskFull = false
        var hasCrashed = false
        var generator: SeededGenerator
        var counts = Counts()
    }

    /// What happened to it.
    struct Counts: Sendable {
        var commits = 0
        var failedWrites = 0
        var failedSyncs = 0
        var crashes = 0
    }

    private let state: Mutex<State>
    private let canary: Canary?

    init(seed: UInt64, canary: Canary?) {
        state = Mutex(State(generator: SeededGenerator(seed: seed)))
        self.canary = canary
    }

    var counts: Counts { state.withLock { $0.counts } }

    /// Whether the process has died in a commit: nothing that it does from then on has happened.
    var hasCrashed: Bool { state.withLock { $0.hasCrashed } }

    /// Whether a batch may or may not be on disk.
    var hasDoubtfulBatch: Bool { state.withLock { $0.doubtful != nil } }

    /// Decides about the next commit alone.
    func decide(_ fate: Fate) { state.withLock { $0.fate = fate } }

    /// Says whether the disk has room.
    func setDiskFull(_ isFull: Bool) { state.withLock { $0.isDiskFull = isFull } }

    /// The process is gone, and another one opens what is on disk.
    func restart() {
        state.withLock { state in
            if let doubtful = state.doubtful, state.generator.oneIn(2) {
                Self.apply(doubtful, to: state.durable)
            }
            state.doubtful = nil
            state.unsynced = []
            if case .loseLastBatch? = canary, let last = state.last {
                Self.apply(last, to: state.durable)
            }
            state.last = nil
            state.hasCrashed = false
            state.fate = .succeed
            state.counts.crashes += 1
            state.live = Self.copy(of: state.durable)
        }
    }

    package func value(
        for key: [UInt8], in keyspace: Keyspace
    ) throws(StorageError) -> [UInt8]? {
        try state.withLock { $0.live }.value(for: key, in: keyspace)
    }

    package func scan(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?, reversed: Bool,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws(StorageError) {
        try state.withLock { $0.live }.scan(
            keyspace, prefix: prefix, from: start, reversed: reversed, body)
    }

    package func commit(_ changes: ChangeSet) throws(StorageError) {
        let failure: String? = state.withLock { state in commit(changes, &state) }
        if let failure { throw .unavailable(message: failure) }
    }

    private func commit(_ changes: ChangeSet, _ state: inout State) -> String? {
        guard !state.hasCrashed else { return "the process is gone" }
        guard !changes.isEmpty else { return nil }
        guard !state.isDiskFull else { return "no space left" }
        // Taken back before anything else is written.
        state.doubtful = nil
        let fate = state.fate
        state.fate = .succeed
        switch fate {
        case .failWrite:
            state.counts.failedWrites += 1
            return "the write failed"
        case .failSync:
            state.counts.failedSyncs += 1
            state.doubtful = changes
            return "the sync failed"
        case .crash(let isKept):
            state.hasCrashed = true
            if case .tearBatch? = canary {
                Self.apply(Self.half(of: changes), to: state.durable)
            } else if isKept {
                Self.apply(changes, to: state.durable)
            }
            return "the process is gone"
        case .succeed:
            succeed(changes, &state)
            return nil
        }
    }

    private func succeed(_ changes: ChangeSet, _ state: inout State) {
        state.counts.commits += 1
        var changes = changes
        switch canary {
        case .acknowledgeBeforeSync? where !state.generator.oneIn(3):
            state.unsynced.append(changes)
            Self.apply(changes, to: state.live)
            return
        case .forgetNotifications?:
            changes = Self.without(.notifications, changes)
        case .loseLastBatch?:
            state.last = Self.undo(changes, in: state.durable)
        default: break
        }
        for earlier in state.unsynced { Self.apply(earlier, to: state.durable) }
        state.unsynced = []
        Self.apply(changes, to: state.durable)
        Self.apply(changes, to: state.live)
    }
}

extension CrashingStore {
    private static func apply(_ changes: ChangeSet, to store: MemoryStore) {
        do throws(StorageError) {
            try store.commit(changes)
        } catch {
            preconditionFailure("a store in memory fails only when told to: \(error)")
        }
    }

    private static func copy(of store: MemoryStore) -> MemoryStore {
        let copy = MemoryStore()
        var changes = ChangeSet()
        for keyspace in Keyspace.allCases {
            do throws(StorageError) {
                try store.scan(keyspace, prefix: [], from: nil, reversed: false) { key, value in
                    changes.put(value, for: key, in: keyspace)
                    return true
                }
            } catch {
                preconditionFailure("a store in memory can be read: \(error)")
            }
        }
        apply(changes, to: copy)
        return copy
    }
}

// MARK: - What canaries do to a batch

extension CrashingStore {
    /// Every second change, in the order of keyspaces and keys.
    private static func half(of changes: ChangeSet) -> ChangeSet {
        var half = ChangeSet()
        for keyspace in Keyspace.allCases {
            let records = (changes.changes[keyspace] ?? [:])
                .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            for (index, record) in records.enumerated() where !index.isMultiple(of: 2) {
                half.add(record.value, for: record.key, in: keyspace)
            }
        }
        // The counters come first in the log.
        for (key, change) in changes.changes[.meta] ?? [:] { half.add(change, for: key, in: .meta) }
        return half
    }

    private static func without(_ keyspace: Keyspace, _ changes: ChangeSet) -> ChangeSet {
        var rest = ChangeSet()
        for other in Keyspace.allCases where other != keyspace {
            for (key, change) in changes.changes[other] ?? [:] {
                rest.add(change, for: key, in: other)
            }
        }
        return rest
    }

    /// What takes `changes` back.
    private static func undo(_ changes: ChangeSet, in store: MemoryStore) -> ChangeSet {
        var undo = ChangeSet()
        for keyspace in Keyspace.allCases {
            for key in (changes.changes[keyspace] ?? [:]).keys {
                if let value = try? store.value(for: key, in: keyspace) {
                    undo.put(value, for: key, in: keyspace)
                } else {
                    undo.delete(key, in: keyspace)
                }
            }
        }
        return undo
    }
}

extension ChangeSet {
    fileprivate mutating func add(_ change: Change, for key: [UInt8], in keyspace: Keyspace) {
        switch change {
        case .put(let value): put(value, for: key, in: keyspace)
        case .delete: delete(key, in: keyspace)
        }
    }
}
