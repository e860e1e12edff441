import RocksDB
import Testing

@Suite struct DatabaseTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.appending("db")
    }

    @Test func `a missing database is made only when asked for`() throws {
        let error = #expect(throws: RocksDBError.self) {
            try Database.small(path, creates: false)
        }
        #expect(error?.kind == .invalidArgument)
        _ = try Database.small(path)
        _ = try Database.small(path, creates: false)
    }

    @Test func `a batch is written whole, over families, and is there after opening again`() throws
    {
        do {
            let database = try Database.small(path)
            var batch = WriteBatch()
            batch.put([1], for: [1], in: defaultFamily, of: database)
            batch.put([2], for: [1], in: otherFamily, of: database)
            batch.delete([9], in: otherFamily, of: database)
            #expect(batch.count == 3)
            try database.write(batch, synced: true)
            #expect(database.latestSequenceNumber == 3)
        }
        let database = try Database.small(path)
        #expect(try database.copy(of: [1]) == [1])
        #expect(try database.copy(of: [1], in: otherFamily) == [2])
        #expect(try database.copy(of: [2]) == nil)
        #expect(database.latestSequenceNumber == 3)
    }

    @Test func `an unsynced batch is there after a sync of the log`() throws {
        let database = try Database.small(path)
        var batch = WriteBatch()
        batch.put([1], for: [1], in: defaultFamily, of: database)
        try database.write(batch, synced: false)
        try database.syncLog()
        #expect(try database.copy(of: [1]) == [1])
    }

    @Test func `a family on disk that is not named refuses to open`() throws {
        do { try Database.small(path).put([1], for: [1]) }
        #expect(try Set(Database.familyNames(in: path)) == ["default", "other"])
        let error = #expect(throws: RocksDBError.self) {
            try Database.small(path, names: ["default"])
        }
        #expect(error?.kind == .invalidArgument)
        #expect(error?.message.contains("other") == true)
    }

    @Test func `a family that is missing is made`() throws {
        do { try Database.small(path).put([1], for: [1]) }
        let database = try Database.small(path, names: ["default", "other", "third"])
        let third = ColumnFamily(index: 2)
        try database.put([3], for: [1], in: third)
        #expect(try database.copy(of: [1], in: third) == [3])
        #expect(try database.copy(of: [1]) == [1])
    }

    @Test func `families go by name, in whatever order they are listed`() throws {
        do { try Database.small(path).put([7], for: [1], in: otherFamily) }
        let database = try Database.small(path, names: ["other", "default"])
        #expect(try database.copy(of: [1], in: ColumnFamily(index: 0)) == [7])
        #expect(try database.copy(of: [1], in: ColumnFamily(index: 1)) == nil)
    }

    @Test func `a second opening of the same path says who holds it`() throws {
        let database = try Database.small(path)
        let error = #expect(throws: RocksDBError.self) { try Database.small(path) }
        #expect(error?.kind == .heldHere)
        try database.put([1], for: [1])
    }

    @Test func `opened to read, it shows the log and changes nothing`() throws {
        do { try Database.small(path).put([1], for: [1]) }
        let before = try Files.names(in: path).filter { !$0.hasPrefix("LOG") }.sorted()
        let database = try Database.small(path, mode: .readOnly)
        #expect(try database.copy(of: [1]) == [1])
        #expect(try Files.names(in: path).filter { !$0.hasPrefix("LOG") }.sorted() == before)
        let error = #expect(throws: RocksDBError.self) { try database.put([2], for: [1]) }
        #expect(error?.kind == .notSupported)
    }

    @Test func `a write that failed makes it broken: readable, never written again`() throws {
        do { try Database.small(path).put([1], for: [1]) }
        let database = try Database.small(path, mode: .readOnly)
        #expect(!database.isBroken)
        #expect(throws: RocksDBError.self) { try database.put([2], for: [1]) }
        #expect(database.isBroken)
        #expect(throws: RocksDBError(operation: "sync", message: "IO error: a write failed before"))
        {
            try database.syncLog()
        }
        #expect(try database.copy(of: [1]) == [1])
    }

    @Test func `flushing and compacting change nothing that is read`() throws {
        let database = try Database.small(path)
        for byte in UInt8(0)..<100 {
            try database.put([byte, 1], for: [byte % 10])
            if byte % 25 == 0 { try database.flush(defaultFamily) }
        }
        try database.flush(defaultFamily)
        database.compact(defaultFamily)
        for byte in UInt8(0)..<10 { #expect(try database.copy(of: [byte]) == [90 + byte, 1]) }
        #expect(database.property("rocksdb.num-files-at-level0") == "0")
        #expect(database.property("rocksdb.stats") != nil)
        #expect(database.property("no.such") == nil)
    }

    @Test func `opening without the family default is a mistake of the caller`() async {
        await #expect(processExitsWith: .failure) {
            _ = try? Database.small("/nonexistent", names: ["other"])
        }
    }
}
