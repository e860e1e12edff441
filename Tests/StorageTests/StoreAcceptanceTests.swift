import Storage
import Synchronization
import Testing

/// What every store must do; each test runs on each store.
@Suite struct StoreAcceptanceTests {
    // MARK: Single records

    @Test(arguments: StoreKind.allCases)
    func `a value is read as it was put, and not under another key or keyspace`(
        kind: StoreKind
    ) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        try store.put([[1, 2]], value: [3, 4], in: .customers)
        #expect(try store.value(for: [1, 2], in: .customers) == [3, 4])
        #expect(try store.value(for: [1], in: .customers) == nil)
        #expect(try store.value(for: [1, 2, 0], in: .customers) == nil)
        for keyspace in Keyspace.allCases where keyspace != .customers {
            #expect(try store.value(for: [1, 2], in: keyspace) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every keyspace holds its own records`(kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        var changes = ChangeSet()
        for (index, keyspace) in Keyspace.allCases.enumerated() {
            changes.put([UInt8(index)], for: [7], in: keyspace)
        }
        try store.commit(changes)
        for (index, keyspace) in Keyspace.allCases.enumerated() {
            #expect(try store.records(keyspace) == [Record(key: [7], value: [UInt8(index)])])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a put replaces, a delete removes, and a delete of nothing is no error`(
        kind: StoreKind
    ) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        try store.put([[1]], value: [1])
        try store.put([[1]], value: [2])
        #expect(try store.value(for: [1], in: .customers) == [2])
        var changes = ChangeSet()
        changes.delete([1], in: .customers)
        changes.delete([9], in: .customers)
        try store.commit(changes)
        #expect(try store.value(for: [1], in: .customers) == nil)
        #expect(try store.keys(.customers) == [])
    }

    static let oddKeys: [[UInt8]] = [
        [], [0], [0, 0], [0xFF], [0xFF, 0xFF], [0xFF, 0], [0x00, 0xFF], Array("a\u{0}b".utf8),
        [UInt8](repeating: 0xFF, count: 300), [UInt8](0...255),
    ]

    @Test(arguments: StoreKind.allCases, oddKeys)
    func `any bytes make a key, and an empty value is a value`(
        kind: StoreKind, key: [UInt8]
    ) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        #expect(try store.value(for: key, in: .identities) == nil)
        try store.put([key], value: [], in: .identities)
        #expect(try store.value(for: key, in: .identities) == [])
        #expect(try store.records(.identities) == [Record(key: key, value: [])])
    }

    @Test(arguments: StoreKind.allCases)
    func `a value of one MiB comes back whole, also through a scan`(kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        let value = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        try store.put([[1], [2]], value: value, in: .payloads)
        #expect(try store.value(for: [2], in: .payloads) == value)
        #expect(try store.records(.payloads, prefix: [1]) == [Record(key: [1], value: value)])
    }

    // MARK: Scans

    static let sortedKeys: [[UInt8]] = [
        [], [0], [0, 0xFF], [1], [1, 0], [1, 0, 0], [1, 0xFE], [1, 0xFF], [1, 0xFF, 0],
        [1, 0xFF, 0xFF], [2], [0xFE, 0xFF], [0xFF], [0xFF, 0], [0xFF, 0xFF], [0xFF, 0xFF, 0xFF],
    ]

    @Test(arguments: StoreKind.allCases)
    func `a scan shows all keys in byte order, up or down`(kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        try store.put(Self.sortedKeys.reversed())
        #expect(try store.keys(.customers) == Self.sortedKeys)
        #expect(try store.keys(.customers, reversed: true) == Self.sortedKeys.reversed())
    }

    static let prefixes: [[UInt8]] = [
        [], [0], [1], [1, 0], [1, 0xFF], [1, 0xFF, 0xFF], [3], [0xFE], [0xFF], [0xFF, 0xFF],
        [0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xFF],
    ]
    static let starts: [[UInt8]?] =
        [nil] + sortedKeys.map { $0 } + [[0, 1], [1, 0xFD], [1, 0xFF, 7], [3], [0xFF, 0xFF, 1]]

    /// The two stores against a plain filter of the sorted keys: the rule in four lines.
    @Test(arguments: StoreKind.allCases)
    func `every prefix with every start, in both directions, is the filter of the sorted keys`(
        kind: StoreKind
    ) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        try store.put(Self.sortedKeys)
        for prefix in Self.prefixes {
            for start in Self.starts {
                let inside = Self.sortedKeys.filter { $0.starts(with: prefix) }
                let up = inside.filter { key in start.map { !key.isBefore($0) } ?? true }
                let down = inside.filter { key in start.map { !$0.isBefore(key) } ?? true }
                #expect(
                    try store.keys(.customers, prefix: prefix, from: start) == up,
                    "prefix \(prefix), start \(String(describing: start))")
                #expect(
                    try store.keys(.customers, prefix: prefix, from: start, reversed: true)
                        == down.reversed(),
                    "prefix \(prefix), start \(String(describing: start)), reversed")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a scan stops where its body says so`(kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        try store.put([[1], [2], [3]])
        #expect(try store.records(.customers, limit: 1).map(\.key) == [[1]])
        #expect(try store.records(.customers, reversed: true, limit: 2).map(\.key) == [[3], [2]])
    }

    @Test(arguments: StoreKind.allCases)
    func `a scan of an empty keyspace calls nothing`(kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        for reversed in [false, true] {
            #expect(try fixture.store.keys(.audit, from: [1], reversed: reversed) == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `deleted records are not shown`(kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        try store.put((0..<100).map { [1, $0] })
        var changes = ChangeSet()
        for byte in UInt8(0)..<100 where byte % 3 != 0 {
            changes.delete([1, byte], in: .customers)
        }
        try store.commit(changes)
        let left = (UInt8(0)..<100).filter { $0 % 3 == 0 }.map { [1, $0] }
        #expect(try store.keys(.customers, prefix: [1]) == left)
    }

    @Test(arguments: StoreKind.allCases)
    func `the body of a scan may read, scan and commit, and the scan keeps its state`(
        kind: StoreKind
    ) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        try store.put([[1], [2], [3]])
        var seen: [[UInt8]] = []
        var failure: (any Error)?
        try store.scan(.customers, prefix: [], from: nil, reversed: false) { key, _ in
            seen.append(key)
            do {
                #expect(try store.value(for: [1], in: .customers) != nil)
                var changes = ChangeSet()
                changes.put([], for: key + [0], in: .customers)
                if key == [1] { changes.delete([3], in: .customers) }
                try store.commit(changes)
                #expect(try store.keys(.customers, prefix: key).contains(key + [0]))
            } catch { failure = error }
            return true
        }
        #expect(failure == nil)
        #expect(seen == [[1], [2], [3]])
        #expect(try store.keys(.customers) == [[1], [1, 0], [2], [2, 0], [3, 0]])
    }

    // MARK: Commits

    @Test(arguments: StoreKind.allCases)
    func `the last change to a key within one set wins`(kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        var changes = ChangeSet()
        changes.put([1], for: [1], in: .meta)
        changes.delete([1], in: .meta)
        changes.put([2], for: [2], in: .meta)
        var later = ChangeSet()
        later.put([3], for: [2], in: .meta)
        later.put([4], for: [4], in: .audit)
        changes.merge(later)
        try store.commit(changes)
        #expect(try store.records(.meta) == [Record(key: [2], value: [3])])
        #expect(try store.records(.audit) == [Record(key: [4], value: [4])])
    }

    @Test(arguments: StoreKind.allCases)
    func `an empty set commits`(kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        try fixture.store.commit(ChangeSet())
    }

    /// Sets of 1 to 200 changes, so that both ways of applying a set in memory are taken.
    @Test(arguments: StoreKind.allCases, [UInt64(1), 2, 3])
    func `random sets leave what a dictionary holds`(kind: StoreKind, seed: UInt64) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        var random = SplitMix(state: seed)
        var model: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<60 {
            var changes = ChangeSet()
            for _ in 0..<(1 + random.next() % 200) {
                let key = (0..<(random.next() % 3)).map { _ in UInt8(random.next() % 7 * 42) }
                if random.next() % 3 == 0 {
                    changes.delete(key, in: .history)
                    model[key] = nil
                } else {
                    let value = [UInt8(truncatingIfNeeded: random.next())]
                    changes.put(value, for: key, in: .history)
                    model[key] = value
                }
            }
            try store.commit(changes)
            let expected = model.sorted { $0.key.isBefore($1.key) }.map(Record.init)
            #expect(try store.records(.history) == expected, "seed \(seed)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a snapshot shows one state over all keyspaces, whatever is committed meanwhile`(
        kind: StoreKind
    ) throws {
        let fixture = try StoreFixture(kind)
        try expectStableSnapshot(of: fixture.store)
    }

    private func expectStableSnapshot(of store: some SnapshotTaking) throws {
        try store.put([[1], [2]], value: [1], in: .customers)
        try store.put([[1]], value: [1], in: .audit)
        try store.withSnapshot { snapshot in
            for round in UInt8(2)...20 {
                var changes = ChangeSet()
                changes.put([round], for: [1], in: .customers)
                changes.put([round], for: [round], in: .customers)
                changes.delete([1], in: .audit)
                try store.commit(changes)
                let expected = [Record(key: [1], value: [1]), Record(key: [2], value: [1])]
                #expect(try snapshot.records(.customers) == expected)
                let reversed = try snapshot.records(.customers, prefix: [], reversed: true)
                #expect(reversed == expected.reversed())
                #expect(try snapshot.value(for: [1], in: .customers) == [1])
                #expect(try snapshot.value(for: [1], in: .audit) == [1])
                #expect(try snapshot.value(for: [round + 1], in: .customers) == nil)
            }
        }
        #expect(try store.records(.customers).count == 20)
        #expect(try store.value(for: [1], in: .audit) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `eight readers beside a writer see whole sets only`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        let keys = (UInt8(0)..<20).map { [$0] }
        let isDone = Flag()
        try store.put(keys, value: [0])
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var scanCount = 0
                    while !isDone.isSet || scanCount == 0 {
                        let records = try store.records(.customers)
                        #expect(records.map(\.key) == keys)
                        #expect(Set(records.map(\.value)).count == 1, "a set was seen in part")
                        scanCount += 1
                    }
                    return scanCount
                }
            }
            for round in UInt8(1)...100 {
                try store.put(keys, value: [round])
                #expect(try store.value(for: [0], in: .customers) == [round], "read-your-writes")
            }
            isDone.set()
            for try await count in group { #expect(count > 0) }
        }
    }
}

extension [UInt8] {
    /// Byte order.
    func isBefore(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}

/// A flag between threads.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}

/// A small seeded generator, the same on every run.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

// MARK: - By what every store must do

extension StoreAcceptanceTests {
    @Test(arguments: StoreKind.allCases)
    func `a scan that decodes ends with what its body throws`(kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        try store.put([[1], [2], [3]])
        var seen: [[UInt8]] = []
        let failure = StorageError.corruptRecord(keyspace: .customers, message: "none")
        #expect(throws: failure) {
            try store.scanDecoding(.customers, prefix: []) { (key, _) throws(StorageError) in
                seen.append(key)
                if key == [2] { throw failure }
                return true
            }
        }
        #expect(seen == [[1], [2]])
    }

    @Test(arguments: StoreKind.allCases)
    func `a scan that decodes begins and ends as a scan does`(kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        try store.put([[1], [2], [3], [4]])
        var seen: [[UInt8]] = []
        try store.scanDecoding(.customers, prefix: [], from: [3], reversed: true) {
            (key, _) throws(StorageError) in
            seen.append(key)
            return key != [2]
        }
        #expect(seen == [[3], [2]])
    }
}
