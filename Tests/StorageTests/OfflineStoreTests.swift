import FoundationEssentials
import RocksDBStorage
import Storage
import Testing

@Suite struct OfflineStoreTests {
    private func names(in directory: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory).sorted()
    }

    @Test func `a store that nobody uses is read, and nothing of it changes`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("data")
        let store = try RocksDBStore(directory: path, options: .small)
        try store.put([[1], [2], [3]])
        store.close()
        let before = try names(in: path)
        let offline = try OfflineStore(directory: path, options: .small)
        #expect(offline.format == storageFormatVersion && offline.unfinished.isEmpty)
        #expect(try offline.keys(.customers) == [[1], [2], [3]])
        #expect(try offline.keys(.customers, reversed: true) == [[3], [2], [1]])
        #expect(try offline.value(for: [2], in: .customers) == [1])
        var walked: [Int] = []
        try offline.walk(.customers, prefix: [], from: [2]) { key, _ in
            walked.append(Int(key[0]))
            return true
        }
        #expect(walked == [2, 3])
        #expect(throws: StorageError.self) { try offline.put([[4]]) }
        #expect(try names(in: path) == before)
    }

    @Test func `a store in use is refused, and so is a server while it is looked at`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("data")
        let store = try RocksDBStore(directory: path, options: .small)
        #expect {
            _ = try OfflineStore(directory: path, options: .small)
        } throws: {
            if case .locked? = $0 as? StorageError { true } else { false }
        }
        store.close()
        let offline = try OfflineStore(directory: path, options: .small)
        #expect {
            _ = try RocksDBStore(directory: path, options: .small)
        } throws: {
            if case .locked? = $0 as? StorageError { true } else { false }
        }
        #expect(try offline.keys(.customers).isEmpty)
    }

    @Test func `what is no store is left as it is`() throws {
        let directory = try TemporaryDirectory()
        for path in [directory.path, directory.appending("nothing")] {
            #expect(throws: StorageError.self) {
                _ = try OfflineStore(directory: path, options: .small)
            }
        }
        #expect(try names(in: directory.path).isEmpty)
    }

    @Test func `data of a newer release are refused`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("data")
        try RocksDBStore(directory: path, options: .small).close()
        try Data("entitled data format 77\n".utf8).write(to: URL(filePath: path + "/FORMAT"))
        #expect(
            throws: StorageError.newerFormat(
                directory: path, found: 77, supported: storageFormatVersion)
        ) { _ = try OfflineStore(directory: path, options: .small) }
    }
}
