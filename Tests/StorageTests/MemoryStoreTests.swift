import Storage
import Testing

/// What only the store in memory can do: fail when told.
@Suite struct MemoryStoreTests {
    @Test func `commits fail as often as told, change nothing, and are counted when they succeed`()
        throws
    {
        let store = MemoryStore()
        try store.put([[1]], value: [1])
        store.failCommits(next: 2, message: "disk full")
        for _ in 0..<2 {
            #expect(throws: StorageError.unavailable(message: "disk full")) {
                try store.put([[1], [2]], value: [2])
            }
            #expect(try store.records(.customers) == [Record(key: [1], value: [1])])
        }
        try store.put([[2]], value: [2])
        #expect(try store.keys(.customers) == [[1], [2]])
        #expect(store.commitCount == 2)
    }

    @Test func `zero ends the failing`() throws {
        let store = MemoryStore()
        store.failCommits(next: 5)
        store.failCommits(next: 0)
        try store.put([[1]])
        #expect(store.commitCount == 1)
    }

    @Test func `a negative count of failures is a mistake of the caller`() async {
        await #expect(processExitsWith: .failure) { MemoryStore().failCommits(next: -1) }
    }
}
