import FoundationEssentials
import RocksDBStorage
import Storage
import Testing

@Suite struct StoreErasureTests {
    /// The files of a store in which a text stands.
    private func files(_ directory: String, with text: String) throws -> [String] {
        let needle = Data(text.utf8)
        return try FileManager.default.subpathsOfDirectory(atPath: directory).filter { name in
            let content = FileManager.default.contents(atPath: directory + "/" + name)
            return content?.firstRange(of: needle) != nil
        }.sorted()
    }

    private func key(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: [false, true])
    func `no file holds what was removed or replaced`(isReopened: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("data")
        var store = try RocksDBStore(directory: path, options: .small)
        for round in 0..<3 {
            var changes = ChangeSet()
            for name in ["aaa", "secret-of-mary", "zzz"] {
                changes.put(key("\(name) value \(round)"), for: key(name), in: .identities)
            }
            changes.put(key("it was secret-of-mary"), for: [1], in: .audit)
            try store.commit(changes)
            if isReopened {
                // What was in the log is in tables now.
                store.close()
                store = try RocksDBStore(directory: path, options: .small)
            }
        }
        #expect(try !files(path, with: "secret-of-mary").isEmpty)
        var changes = ChangeSet()
        changes.delete(key("secret-of-mary"), in: .identities)
        changes.put(key("it was somebody"), for: [1], in: .audit)
        try store.commit(changes)
        #expect(try !files(path, with: "secret-of-mary").isEmpty)
        try store.erase([
            KeyRange(.identities, key: key("secret-of-mary")), KeyRange(.audit, key: [1]),
        ])
        let left = try files(path, with: "secret-of-mary")
        #expect(left == [], "\(left)")
        #expect(try store.keys(.identities) == [key("aaa"), key("zzz")])
        #expect(try store.value(for: [1], in: .audit) == key("it was somebody"))
        store.close()
        let again = try RocksDBStore(directory: path, options: .small)
        #expect(try again.keys(.identities) == [key("aaa"), key("zzz")])
    }

    @Test func `beside commits it ends, and takes nothing of theirs`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("data")
        let store = try RocksDBStore(directory: path, options: .small)
        var changes = ChangeSet()
        changes.put(key("secret-of-mary"), for: [0, 0], in: .customers)
        try store.commit(changes)
        let writing = Task.detached {
            var count: UInt8 = 0
            while !Task.isCancelled, count < 250 {
                count += 1
                var changes = ChangeSet()
                changes.put([UInt8](repeating: count, count: 20_000), for: [count], in: .customers)
                try? store.commit(changes)
            }
            return count
        }
        changes = ChangeSet()
        changes.delete([0, 0], in: .customers)
        try store.commit(changes)
        try store.erase([KeyRange(.customers, key: [0, 0])])
        let left = try files(path, with: "secret-of-mary")
        #expect(left == [], "\(left)")
        writing.cancel()
        let count = await writing.value
        #expect(try store.keys(.customers) == (0..<count).map { [$0 + 1] })
    }

    @Test func `a store that is closed erases nothing`() throws {
        let directory = try TemporaryDirectory()
        let store = try RocksDBStore(directory: directory.appending("data"), options: .small)
        store.close()
        #expect(throws: StorageError.self) { try store.erase([KeyRange(.audit, key: [1])]) }
    }
}
