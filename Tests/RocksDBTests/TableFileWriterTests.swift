import RocksDB
import Testing

@Suite struct TableFileWriterTests {
    private let directory: TemporaryDirectory
    private let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database.small(directory.appending("db"))
    }

    /// A finished table of these records.
    private func table(_ name: String, _ records: [(key: [UInt8], value: [UInt8])]) throws
        -> String?
    {
        var writer = TableFileWriter(path: directory.appending(name), options: FamilyOptions())
        for record in records { try writer.put(record.value, for: record.key) }
        #expect(writer.count == records.count)
        return try writer.finish()
    }

    @Test
    func `adopted tables are in their family, beside what was there, also after opening again`()
        throws
    {
        try database.put([9], for: [9], in: otherFamily)
        let first = try #require(try table("a", [([1], [10]), ([2], []), ([3, 0], [30])]))
        let second = try #require(try table("b", [([4], [40])]))
        try database.adopt([first, second], into: otherFamily)
        #expect(try database.copy(of: [1], in: otherFamily) == [10])
        #expect(try database.copy(of: [2], in: otherFamily) == [])
        #expect(try database.copy(of: [3, 0], in: otherFamily) == [30])
        #expect(try database.copy(of: [4], in: otherFamily) == [40])
        #expect(try database.copy(of: [9], in: otherFamily) == [9])
        #expect(try database.copy(of: [1]) == nil)
        #expect(try Files.entry(at: first) == nil)
    }

    @Test func `a table that overlaps with what is there wins over it`() throws {
        try database.put([1], for: [5])
        let path = try #require(try table("a", [([4], [2]), ([5], [2])]))
        try database.adopt([path], into: defaultFamily)
        #expect(try database.copy(of: [5]) == [2])
    }

    @Test(arguments: [[[2], [1]], [[1], [1]]] as [[[UInt8]]])
    func `keys out of order are refused`(keys: [[UInt8]]) throws {
        var writer = TableFileWriter(path: directory.appending("a"), options: FamilyOptions())
        try writer.put([], for: keys[0])
        do {
            try writer.put([], for: keys[1])
            Issue.record("it was taken")
        } catch {
            #expect(error.kind == .invalidArgument)
        }
        #expect(writer.count == 1)
    }

    @Test func `without records there is no file, and nothing is adopted`() throws {
        #expect(try table("a", []) == nil)
        #expect(try Files.entry(at: directory.appending("a")) == nil)
        try database.adopt([], into: defaultFamily)
        #expect(database.latestSequenceNumber == 0)
    }

    @Test func `a file that is no table is refused, and the database goes on`() throws {
        let path = directory.appending("a")
        try Files.replace(path, with: [UInt8](repeating: 7, count: 4_096))
        #expect(throws: RocksDBError.self) {
            try database.adopt([path], into: defaultFamily)
        }
        try database.put([1], for: [1])
        #expect(try database.copy(of: [1]) == [1])
    }

    @Test func `a place that is not there is refused when the first record comes`() throws {
        var writer = TableFileWriter(
            path: directory.appending("none/a"), options: FamilyOptions())
        do {
            try writer.put([], for: [1])
            Issue.record("it was taken")
        } catch {
            #expect(error.operation == "make a table")
        }
    }
}
