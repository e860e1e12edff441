import RocksDB
import Storage
import Synchronization
import Testing

@testable import RocksDBStorage

/// A write that was reported as failed and reached the disk all the same, as after a failed sync.
@Suite struct WriteTroubleTests {
    private static let first: [UInt8] = [1]
    private static let second: [UInt8] = [2]

    /// A store in which `[1]` was acknowledged as 1, and then a write that put 9 there, and a new
    /// record, was reported as failed though it is on disk.
    private func storeWithLandedWrite(
        in directory: TemporaryDirectory, undo: Bool, options: StorageOptions
    ) throws -> RocksDBStore {
        let store = try RocksDBStore(directory: directory.appending("data"), options: options)
        try store.put([Self.first], value: [1])
        var changes = ChangeSet()
        changes.put([9], for: Self.first, in: .customers)
        changes.put([9], for: Self.second, in: .notifications)
        let trouble = try store.current.withReading { current in
            guard case .open(let database) = current else { throw Unexpected() }
            return WriteTrouble(
                cause: "sync: IO error", sequence: database.latestSequenceNumber,
                undo: undo ? try database.contents(of: changes) : nil)
        }
        try store.commit(changes)
        store.writer.withLock { $0.trouble = trouble }
        return store
    }

    private struct Unexpected: Error {}

    @Test func `is taken back before anything else is written`() throws {
        let directory = try TemporaryDirectory()
        let store = try storeWithLandedWrite(in: directory, undo: true, options: .small)
        try store.put([[3]], value: [3])
        let expected = [Record(key: Self.first, value: [1]), Record(key: [3], value: [3])]
        #expect(try store.records(.customers) == expected)
        #expect(try store.records(.notifications) == [])
        store.close()
        let again = try RocksDBStore(directory: directory.appending("data"), options: .small)
        #expect(try again.records(.customers) == expected)
        #expect(try again.records(.notifications) == [])
    }

    @Test func `stops all writing when it cannot be taken back`() throws {
        let directory = try TemporaryDirectory()
        let store = try storeWithLandedWrite(in: directory, undo: false, options: .small)
        for _ in 0..<2 {
            let error = #expect(throws: StorageError.self) { try store.put([[3]]) }
            guard case .unavailable(let message) = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(message.contains("restart the server"))
        }
        #expect(try store.value(for: [3], in: .customers) == nil)
    }

    @Test func `acknowledged changes that are gone after opening again are never passed over`()
        throws
    {
        let directory = try TemporaryDirectory()
        let store = try RocksDBStore(directory: directory.appending("data"), options: .small)
        try store.put([Self.first])
        store.writer.withLock {
            $0.trouble = WriteTrouble(cause: "write", sequence: 1_000, undo: ChangeSet())
        }
        let error = #expect(throws: StorageError.self) { try store.put([[3]]) }
        guard case .damaged(let message) = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
        #expect(message.contains("to 1000 were acknowledged"))
        #expect(throws: StorageError.self) { try store.value(for: Self.first, in: .customers) }
    }

    @Test func `opening again is tried at most once per interval`() throws {
        let directory = try TemporaryDirectory()
        var options = StorageOptions.small
        options.retryIntervalMilliseconds = 3_600_000
        let store = try storeWithLandedWrite(in: directory, undo: true, options: options)
        store.writer.withLock { $0.trouble?.lastTry = .now }
        let expected = StorageError.unavailable(message: "sync: IO error")
        #expect(throws: expected) { try store.put([[3]]) }
        store.writer.withLock { $0.trouble?.lastTry = .now - .seconds(3_601) }
        try store.put([[3]])
        #expect(try store.value(for: Self.first, in: .customers) == [1])
    }
}
