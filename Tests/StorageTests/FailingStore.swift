import Storage
import Synchronization

/// A store whose commits can be made to fail.
final class FailingStore: EntitlementWriter, Sendable {
    let isFailing = Mutex(false)
    private let base: MemoryStore

    init(_ base: MemoryStore) { self.base = base }

    func value(for key: [UInt8], in keyspace: Keyspace) throws(StorageError) -> [UInt8]? {
        try base.value(for: key, in: keyspace)
    }

    func scan(
        _ keyspace: Keyspace, prefix: [UInt8], from start: [UInt8]?, reversed: Bool,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws(StorageError) {
        try base.scan(keyspace, prefix: prefix, from: start, reversed: reversed, body)
    }

    func commit(_ changes: ChangeSet) throws(StorageError) {
        guard !isFailing.withLock({ $0 }) else { throw .unavailable(message: "as told") }
        try base.commit(changes)
    }
}
