import EventLoop
import RocksDBStorage
import Storage
import Synchronization
import Testing

@testable import entitled

@Suite struct StoreRevivalTests {
    /// A reserve beyond every disk stands in for a full one.
    private func options(
        reserve: UInt64 = 1 << 60,
        _ onNotice: @escaping @Sendable (StorageNotice) -> Void = { _ in }
    ) -> StorageOptions {
        var options = StorageOptions()
        options.retryIntervalMilliseconds = 1
        options.reserveByteCount = reserve
        options.onNotice = onNotice
        return options
    }

    @Test func `a store that takes writes is left alone, and the end is not waited for`() throws {
        try withTemporaryDirectory { directory in
            let store = try RocksDBStore(
                directory: directory + "/data", options: options(reserve: 0))
            defer { store.close() }
            let revival = StoreRevival()
            revival.writingStopped()
            try revival.start(store, everyMilliseconds: 3_600_000)
            revival.stop()
            revival.stop()
            #expect(store.isWritable)
        }
    }

    @Test func `an end that comes before the start, or in a pause, is an end`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/data"
            try RocksDBStore(directory: path, options: options(reserve: 0)).close()
            let revival = StoreRevival()
            let store = try RocksDBStore(
                directory: path, options: options { _ in revival.writingStopped() })
            defer { store.close() }
            #expect(!store.isWritable)
            try revival.start(store, everyMilliseconds: 3_600_000)
            revival.stop()
            #expect(!store.isWritable)
        }
    }
}
