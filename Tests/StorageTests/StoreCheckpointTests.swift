import FoundationEssentials
import RocksDBStorage
import Storage
import Testing

@Suite struct StoreCheckpointTests {
    @Test func `a checkpoint is a store of what was committed`() throws {
        let directory = try TemporaryDirectory()
        let store = try RocksDBStore(directory: directory.appending("data"), options: .small)
        try store.put([[1], [2]])
        let copy = directory.appending("copy")
        try FileManager.default.createDirectory(
            atPath: copy, withIntermediateDirectories: false)
        try store.makeCheckpoint(in: copy)
        try store.put([[3]])
        #expect(try OfflineStore(directory: copy, options: .small).keys(.customers) == [[1], [2]])
        // It opens as a data directory does, and takes writes without a trace in the other.
        let other = try RocksDBStore(directory: copy, options: .small)
        try other.put([[9]])
        #expect(try other.keys(.customers) == [[1], [2], [9]])
        #expect(try store.keys(.customers) == [[1], [2], [3]])
    }

    @Test func `beside commits each checkpoint has a whole beginning of them`() async throws {
        let directory = try TemporaryDirectory()
        let store = try RocksDBStore(directory: directory.appending("data"), options: .small)
        let writing = Task.detached {
            var count: UInt8 = 0
            while !Task.isCancelled, count < 250 {
                count += 1
                // Two families in one batch, and some bulk, so that memtables are flushed.
                var changes = ChangeSet()
                changes.put([count], for: [count], in: .customers)
                changes.put([UInt8](repeating: count, count: 40_000), for: [count], in: .payloads)
                try? store.commit(changes)
            }
        }
        for index in 0..<5 {
            let known = try store.keys(.customers).count
            let copy = directory.appending("copy\(index)")
            try FileManager.default.createDirectory(
                atPath: copy, withIntermediateDirectories: false)
            try store.makeCheckpoint(in: copy)
            let offline = try OfflineStore(directory: copy, options: .small)
            let keys = try offline.keys(.customers)
            #expect(keys.count >= known)
            #expect(keys == (0..<keys.count).map { [UInt8($0 + 1)] })
            #expect(try offline.keys(.payloads) == keys)
        }
        writing.cancel()
        await writing.value
    }

    @Test func `a closed store makes none`() throws {
        let directory = try TemporaryDirectory()
        let store = try RocksDBStore(directory: directory.appending("data"), options: .small)
        store.close()
        #expect(throws: StorageError.self) { try store.makeCheckpoint(in: directory.path) }
    }
}
