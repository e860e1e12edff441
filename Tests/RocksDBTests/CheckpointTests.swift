import FoundationEssentials
import RocksDB
import Testing

@Suite struct CheckpointTests {
    @Test func `a checkpoint has what was written before it and nothing of later`() throws {
        let directory = try TemporaryDirectory()
        let database = try Database.small(directory.appending("db"))
        try database.put([1], for: [1])
        try database.flush(defaultFamily)
        try database.put([2], for: [2])
        try database.checkpoint(at: directory.appending("copy"))
        try database.put([3], for: [3])
        let copy = try Database.small(directory.appending("copy"), mode: .readOnly)
        #expect(try copy.copy(of: [1]) == [1] && copy.copy(of: [2]) == [2])
        #expect(try copy.copy(of: [3]) == nil)
    }

    @Test func `tables are links, the log is a copy`() throws {
        let directory = try TemporaryDirectory()
        let database = try Database.small(directory.appending("db"))
        try database.put([1], for: [1])
        try database.flush(defaultFamily)
        try database.put([2], for: [2])
        try database.checkpoint(at: directory.appending("copy"))
        let names = try Files.names(in: directory.appending("copy"))
        for name in names where name.hasSuffix(".sst") || name.hasSuffix(".log") {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: directory.appending("copy/\(name)"))
            let count = attributes[.referenceCount] as? Int
            #expect(count == (name.hasSuffix(".sst") ? 2 : 1), "\(name)")
        }
        #expect(names.contains { $0.hasSuffix(".sst") } && names.contains { $0.hasSuffix(".log") })
    }

    @Test func `a directory that is there is refused`() throws {
        let directory = try TemporaryDirectory()
        let database = try Database.small(directory.appending("db"))
        try database.put([1], for: [1])
        try Files.makeDirectory(directory.appending("copy"))
        #expect(throws: RocksDBError.self) {
            try database.checkpoint(at: directory.appending("copy"))
        }
        #expect(try Files.names(in: directory.appending("copy")).isEmpty)
    }
}
