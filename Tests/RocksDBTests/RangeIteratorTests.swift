import RocksDB
import Testing

@Suite struct RangeIteratorTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func databaseOfTen() throws -> Database {
        let database = try Database.small(directory.appending("db"))
        for byte in UInt8(0)..<10 { try database.put([byte], for: [byte]) }
        return database
    }

    @Test func `it walks both ways between its bounds`() throws {
        let database = try databaseOfTen()
        var iterator = RangeIterator(database, family: defaultFamily, from: [3], upTo: [6])
        #expect(place(of: iterator) == nil)
        var keys: [[UInt8]] = []
        iterator.seekToFirst()
        while iterator.isValid {
            let key = iterator.key
            let value = iterator.value
            #expect(key == value)
            keys.append(iterator.key)
            iterator.next()
        }
        try iterator.checkStatus()
        #expect(keys == [[3], [4], [5]])
        iterator.seekToLast()
        #expect(place(of: iterator) == [5])
        iterator.previous()
        #expect(place(of: iterator) == [4])
        iterator.seek(toLastUpTo: [4, 9])
        #expect(place(of: iterator) == [4])
        iterator.seek(to: [4, 9])
        #expect(place(of: iterator) == [5])
        iterator.seek(to: [6])
        #expect(place(of: iterator) == nil)
        iterator.seek(toLastUpTo: [2])
        #expect(place(of: iterator) == nil)
    }

    @Test func `an empty range shows nothing`() throws {
        let database = try databaseOfTen()
        for (lower, upper) in [([5], [5]), ([20], nil), (nil, [0])] as [([UInt8]?, [UInt8]?)] {
            var iterator = RangeIterator(database, family: defaultFamily, from: lower, upTo: upper)
            iterator.seekToFirst()
            #expect(place(of: iterator) == nil)
            try iterator.checkStatus()
        }
    }

    @Test func `it shows the state at its creation, or that of a snapshot`() throws {
        let database = try databaseOfTen()
        let snapshot = Snapshot(of: database)
        try database.put([1], for: [10])
        var now = RangeIterator(database, family: defaultFamily)
        var then = RangeIterator(database, family: defaultFamily, at: snapshot)
        try database.put([1], for: [11])
        now.seekToLast()
        then.seekToLast()
        #expect(place(of: now) == [10])
        #expect(place(of: then) == [9])
    }

    @Test func `it keeps its database open, and nothing of its caller's`() throws {
        var database: Database? = try databaseOfTen()
        do {
            var iterator = try RangeIterator(
                #require(database), family: defaultFamily, from: [UInt8](repeating: 2, count: 1),
                upTo: [UInt8](repeating: 4, count: 1))
            database = nil
            iterator.seekToFirst()
            #expect(place(of: iterator) == [2])
            iterator.next()
            iterator.next()
            #expect(place(of: iterator) == nil)
        }
        _ = try Database.small(directory.appending("db"))
    }

    @Test func `going on from nowhere is a mistake of the caller`() async throws {
        let path = directory.appending("db")
        await #expect(processExitsWith: .failure) { [path = path as String] in
            guard let database = try? Database.small(path) else { return }
            var iterator = RangeIterator(database, family: defaultFamily)
            iterator.next()
        }
    }

    /// K5, in short: under the address sanitizer this finds a bound that does not live.
    @Test func `eight threads read histories while two write and a compaction runs`() async throws {
        let database = try Database.small(directory.appending("db"))
        let customers = UInt8(0)..<50
        for customer in customers {
            for number in 0...customer { try database.put([number], for: [customer, number]) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in UInt8(0)..<8 {
                group.addTask {
                    for round in 0..<60 {
                        let customer = (reader &* 31 &+ UInt8(round)) % 50
                        var iterator = RangeIterator(
                            database, family: defaultFamily, from: [customer],
                            upTo: [customer + 1])
                        iterator.seekToFirst()
                        for number in 0...customer {
                            #expect(place(of: iterator) == [customer, number])
                            if iterator.isValid { iterator.next() }
                        }
                        #expect(place(of: iterator) == nil)
                        try iterator.checkStatus()
                    }
                }
            }
            for writer in UInt8(0)..<2 {
                group.addTask {
                    for round in UInt8(0)..<60 {
                        let customer = (round &* 7 &+ writer) % 50
                        try database.put([customer], for: [customer, customer])
                        try database.put([round], for: [200, writer, round])
                    }
                }
            }
            group.addTask {
                for _ in 0..<5 {
                    try database.flush(defaultFamily)
                    database.compact(defaultFamily)
                }
            }
            try await group.waitForAll()
        }
    }
}

/// The key that an iterator stands on; nil when it stands nowhere.
func place(of iterator: borrowing RangeIterator) -> [UInt8]? {
    iterator.isValid ? iterator.key : nil
}
