import RocksDB
import Testing

@Suite struct PinnedValueTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `its bytes stay while the record is replaced, flushed and compacted away`() throws {
        let database = try Database.small(directory.appending("db"))
        let value = [UInt8](repeating: 7, count: 10_000)
        try database.put(value, for: [1])
        try database.flush(defaultFamily)
        let pinned = try database.value(for: [1], in: defaultFamily)
        try database.put([8], for: [1])
        try database.flush(defaultFamily)
        database.compact(defaultFamily)
        let copy = pinned?.copy()
        #expect(copy == value)
        let byteSum = pinned?.sum
        #expect(byteSum == 7 * value.count)
        #expect(try database.copy(of: [1]) == [8])
    }

    @Test func `an empty value is no missing value`() throws {
        let database = try Database.small(directory.appending("db"))
        try database.put([], for: [1])
        #expect(try database.copy(of: [1]) == [])
        #expect(try database.copy(of: []) == nil)
        try database.put([5], for: [])
        #expect(try database.copy(of: []) == [5])
    }

    @Test func `it keeps its database open`() throws {
        var database: Database? = try Database.small(directory.appending("db"))
        try database?.put([4], for: [1])
        let pinned = try database?.value(for: [1], in: defaultFamily)
        database = nil
        let bytes = pinned?.copy()
        #expect(bytes == [4])
        _ = consume pinned
        // Now it has gone, and the database may be opened again.
        _ = try Database.small(directory.appending("db"))
    }
}

extension PinnedValue {
    /// The sum of its bytes, read in place.
    fileprivate var sum: Int {
        var sum = 0
        for index in bytes.indices { sum += Int(bytes[index]) }
        return sum
    }
}
