import Entitlements
import RocksDBStorage
import Storage
import Testing

@Suite struct StoreLoaderTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.appending("data")
    }

    /// A finished table of these keys, each with itself as its value.
    private func table(
        _ loader: StoreLoader, _ keyspace: Keyspace, _ name: String, _ keys: [[UInt8]]
    ) throws -> FinishedTable? {
        var table = loader.table(of: keyspace, named: name)
        for key in keys { try table.put(key, for: key) }
        return try table.finish()
    }

    private var last: ChangeSet {
        var changes = ChangeSet()
        changes.put([7], for: Key.revision, in: .meta)
        return changes
    }

    @Test func `what was loaded is a store like any other`() throws {
        do {
            let loader = try StoreLoader(directory: path, options: .small)
            let tables = try [
                table(loader, .customers, "a", [[1], [2]]),
                table(loader, .customers, "b", [[3]]),
                table(loader, .payloads, "a", [[9, 9]]),
            ].compactMap(\.self)
            #expect(tables.count == 3)
            try loader.finish(tables, last: last)
        }
        let store = try RocksDBStore(directory: path, options: .small)
        #expect(try store.keys(.customers) == [[1], [2], [3]])
        #expect(try store.value(for: [9, 9], in: .payloads) == [9, 9])
        #expect(try store.value(for: Key.revision, in: .meta) == [7])
        try store.put([[4]])
        #expect(try store.keys(.customers) == [[1], [2], [3], [4]])
    }

    @Test func `without tables there is an empty store`() throws {
        do {
            let loader = try StoreLoader(directory: path, options: .small)
            #expect(try table(loader, .usage, "none", []) == nil)
            try loader.finish([], last: last)
        }
        let store = try RocksDBStore(directory: path, options: .small)
        #expect(try store.keys(.meta) == [Key.revision])
    }

    @Test func `a load that was broken off is opened by nobody`() throws {
        do {
            let loader = try StoreLoader(directory: path, options: .small)
            _ = try table(loader, .customers, "a", [[1]])
        }
        for _ in 0..<2 {
            let error = #expect(throws: StorageError.self) {
                try RocksDBStore(directory: path, options: .small)
            }
            guard case .foreignDirectory = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(throws: StorageError.self) {
                try StoreLoader(directory: path, options: .small)
            }
        }
    }

    @Test func `a store that is there, or is used, is not loaded into`() throws {
        let store = try RocksDBStore(directory: path, options: .small)
        #expect(throws: StorageError.self) { try StoreLoader(directory: path, options: .small) }
        store.close()
        #expect(throws: StorageError.self) { try StoreLoader(directory: path, options: .small) }
    }

    @Test func `keys out of order are refused`() throws {
        let loader = try StoreLoader(directory: path, options: .small)
        var table = loader.table(of: .customers, named: "a")
        try table.put([], for: [2])
        do {
            try table.put([], for: [1])
            Issue.record("it was taken")
        } catch {
            #expect(error != .damaged(message: ""))
        }
    }
}
