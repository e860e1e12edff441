import Storage
import Synchronization

/// A store in memory that calls a test before a scan and after a commit.
final class PausingStore: EntitlementWriter, Sendable {
    private struct Hooks {
        var beforeScan: (@Sendable (Keyspace) -> Void)?
        var afterCommit: (@Sendable () -> Void)?
    }

    private let store = MemoryStore()
    private let hooks = Mutex(Hooks())

    func onScan(_ hook: (@Sendable (Keyspace) -> Void)?) {
        hooks.withLock { $0.beforeScan = hook }
    }

    func onCommit(_ hook: (@Sendable () -> Void)?) {
        hooks.withLock { $0.afterCommit = hook }
    }

    func value(for key: [UInt8], in keyspace: Keyspace) throws(StorageError) -> [UInt8]? {
        try store.value(for: key, in: keyspace)
    }

    func scan(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?, reversed: Bool,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws(StorageError) {
        hooks.withLock(\.beforeScan)?(keyspace)
        try store.scan(keyspace, prefix: prefix, from: start, reversed: reversed, body)
    }

    func commit(_ changes: ChangeSet) throws(StorageError) {
        try store.commit(changes)
        hooks.withLock(\.afterCommit)?()
    }
}
