import RocksDB
import Testing

@Suite struct LiveHandlesTests {
    /// In a process of its own, so that no other test's handles are counted.
    @Test func `every handle is destroyed, in whatever order things go`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("db")
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(LiveHandles.total == 0)
            for _ in 0..<20 { try LiveHandlesTests.useEverything(path) }
            #expect(LiveHandles.total == 0)
        }
    }

    /// Makes one of each, lets go of the database first, and fails to open it meanwhile.
    static func useEverything(_ path: String) throws {
        var database: Database? = try Database.small(path)
        try database?.put([1], for: [1])
        let pinned = try database?.value(for: [1], in: defaultFamily)
        let snapshot = database.map { Snapshot(of: $0) }
        var iterator = try RangeIterator(
            #require(database), family: otherFamily, from: [1], upTo: [2], at: snapshot)
        iterator.seekToFirst()
        #expect(LiveHandles.count(of: .database) == 1)
        #expect(LiveHandles.count(of: .columnFamily) == 2)
        #expect(LiveHandles.count(of: .iterator) == 1)
        #expect(LiveHandles.count(of: .snapshot) == 1)
        #expect(LiveHandles.count(of: .pinnedValue) == 1)
        #expect(LiveHandles.count(of: .cache) == 1)
        database = nil
        #expect(throws: RocksDBError.self) { try Database.small(path) }
        #expect(LiveHandles.count(of: .database) == 1)
        let bytes = pinned?.copy()
        #expect(bytes == [1])
    }
}
