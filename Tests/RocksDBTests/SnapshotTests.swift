import RocksDB
import Testing

@Suite struct SnapshotTests {
    @Test func `it shows one state of all families, also after a compaction`() throws {
        let directory = try TemporaryDirectory()
        let database = try Database.small(directory.appending("db"))
        try database.put([1], for: [1])
        try database.put([1], for: [1], in: otherFamily)
        let snapshot = Snapshot(of: database)
        try database.put([2], for: [1])
        var batch = WriteBatch()
        batch.delete([1], in: otherFamily, of: database)
        try database.write(batch, synced: true)
        for family in [defaultFamily, otherFamily] {
            try database.flush(family)
            database.compact(family)
        }
        #expect(try snapshot.value(for: [1], in: defaultFamily)?.copy() == [1])
        #expect(try snapshot.value(for: [1], in: otherFamily)?.copy() == [1])
        #expect(try snapshot.value(for: [2], in: otherFamily)?.copy() == nil)
        #expect(try database.copy(of: [1]) == [2])
        #expect(try database.copy(of: [1], in: otherFamily) == nil)
    }
}
