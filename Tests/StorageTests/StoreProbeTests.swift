import RocksDBStorage
import Storage
import Testing

@Suite struct StoreProbeTests {
    @Test func `it reads what is there, where it lies, and changes nothing`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("data")
        do {
            let store = try RocksDBStore(directory: path, options: .small)
            try store.put([[1], [2]], value: [7, 7, 7])
            try store.put([[3]], value: [])
        }
        do {
            let probe = try StoreProbe(directory: path, options: .small)
            #expect(try probe.byteCount(of: [1], in: .customers) == 3)
            #expect(try probe.byteCount(of: [3], in: .customers) == 0)
            #expect(try probe.byteCount(of: [4], in: .customers) == nil)
            #expect(try probe.byteCount(of: [1], in: .snapshots) == nil)
            #expect(throws: StorageError.self) { try RocksDBStore(directory: path) }
        }
        let store = try RocksDBStore(directory: path, options: .small)
        #expect(try store.keys(.customers) == [[1], [2], [3]])
    }

    @Test func `where no store is there is nothing to read`() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: StorageError.self) { try StoreProbe(directory: directory.path) }
        let path = directory.appending("data")
        let store = try RocksDBStore(directory: path, options: .small)
        #expect(throws: StorageError.self) { try StoreProbe(directory: path) }
        store.close()
    }
}
