import RocksDBStorage
import Synchronization
import Testing

@testable import Storage

@Suite struct PackingStoreTests {
    let base = MemoryStore()
    let payload = PackedPayloadTests.Sample().notification(1)
    let other = PackedPayloadTests.Sample().notification(2)

    private func put(
        _ payloads: [[UInt8]: [UInt8]], in store: some EntitlementWriter
    ) throws {
        var changes = ChangeSet()
        for (key, payload) in payloads { changes.put(payload, for: key, in: .payloads) }
        try store.commit(changes)
    }

    @Test func `payloads lie packed and are shown as they came`() throws {
        let store = try PackingStore(base)
        try put([[1, 1]: payload, [1, 2]: other], in: store)
        #expect(try store.value(for: [1, 1], in: .payloads) == payload)
        #expect(
            try store.records(.payloads, prefix: [1])
                == [Record(key: [1, 1], value: payload), Record(key: [1, 2], value: other)])
        #expect(try #require(try base.value(for: [1, 1], in: .payloads)).count < 600)
        #expect(try store.value(for: [3], in: .payloads) == nil)
    }

    @Test func `everything but payloads passes through`() throws {
        let store = try PackingStore(base)
        var changes = ChangeSet()
        for keyspace in Keyspace.allCases where keyspace != .payloads {
            changes.put(payload, for: [1], in: keyspace)
        }
        changes.delete([2], in: .payloads)
        try store.commit(changes)
        for keyspace in Keyspace.allCases where keyspace != .payloads {
            #expect(try base.value(for: [1], in: keyspace) == payload)
            #expect(try store.value(for: [1], in: keyspace) == payload)
            #expect(try store.records(keyspace) == [Record(key: [1], value: payload)])
        }
    }

    @Test func `a delete removes a payload`() throws {
        let store = try PackingStore(base)
        try put([[1]: payload], in: store)
        var changes = ChangeSet()
        changes.delete([1], in: .payloads)
        try store.commit(changes)
        #expect(try store.value(for: [1], in: .payloads) == nil)
    }

    @Test func `what one store has packed another one reads`() throws {
        try put([[1]: payload], in: try PackingStore(base))
        let again = try PackingStore(base)
        #expect(try again.value(for: [1], in: .payloads) == payload)
        try put([[2]: other], in: again)
        #expect(try again.value(for: [2], in: .payloads) == other)
        #expect(try base.records(.meta, prefix: Key.payloadHeaders).count == 1)
    }

    @Test func `payloads of an older store are shown, and replaced by packed ones`() throws {
        try put([[1]: payload], in: base)
        let store = try PackingStore(base)
        #expect(try store.value(for: [1], in: .payloads) == payload)
        try put([[1]: payload], in: store)
        #expect(try #require(try base.value(for: [1], in: .payloads)).count < 600)
    }

    @Test func `a header is written again until a batch with it was taken`() throws {
        let failing = FailingStore(base)
        let store = try PackingStore(failing)
        failing.isFailing.withLock { $0 = true }
        #expect(throws: StorageError.self) { try put([[1]: payload], in: store) }
        #expect(try base.records(.meta, prefix: Key.payloadHeaders).isEmpty)
        failing.isFailing.withLock { $0 = false }
        try put([[2]: other], in: store)
        #expect(try base.records(.meta, prefix: Key.payloadHeaders).count == 1)
        #expect(try PackingStore(base).value(for: [2], in: .payloads) == other)
    }

    @Test func `a payload that does not unpack is damage, also in a scan`() throws {
        try put([[1]: payload, [2]: payload], in: try PackingStore(base))
        let value = try #require(try base.value(for: [1], in: .payloads))
        try put([[1]: Array(value.dropLast())], in: base)
        let store = try PackingStore(base)
        #expect(throws: StorageError.self) { try store.value(for: [1], in: .payloads) }
        #expect(throws: StorageError.self) { try store.records(.payloads) }
        #expect(try store.value(for: [2], in: .payloads) == payload)
    }

    @Test func `a missing header is found out at the start`() throws {
        var changes = ChangeSet()
        changes.put([1], for: Key.payloadHeader(0), in: .meta)
        changes.put([2], for: Key.payloadHeader(2), in: .meta)
        try base.commit(changes)
        #expect(throws: StorageError.self) { try PackingStore(base) }
    }

    @Test func `a store on disk comes back packed after a restart`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("data")
        do {
            let disk = try RocksDBStore(directory: path, options: .small)
            try put([[1]: payload], in: try PackingStore(disk))
            disk.close()
        }
        let disk = try RocksDBStore(directory: path, options: .small)
        let store = try PackingStore(disk)
        #expect(try store.value(for: [1], in: .payloads) == payload)
    }
}
