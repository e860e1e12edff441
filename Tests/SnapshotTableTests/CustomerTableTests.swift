import SnapshotTable
import Synchronization
import Testing

@Suite struct CustomerTableTests {
    private func makeTable(
        customers: Int = 0, bytes: Int = 1 << 28, readers: Int = 4
    ) -> CustomerTable {
        CustomerTable(customerCount: customers, byteCountMax: bytes, readerCount: readers)
    }

    @Test func `what was put is found under its scope and name alone`() {
        let table = makeTable()
        let reader = table.makeReader()
        table.put(scope: 1, name: Array("ann".utf8), snapshot: [1])
        table.put(scope: 2, name: Array("ann".utf8), snapshot: [2])
        table.put(scope: 1, name: [], snapshot: [3])
        table.put(scope: 1, name: Array("empty".utf8), snapshot: [])
        #expect(table.read(1, "ann", reader) == [1])
        #expect(table.read(2, "ann", reader) == [2])
        #expect(table.read(1, "", reader) == [3])
        #expect(table.read(1, "empty", reader) == [])
        #expect(table.read(3, "ann", reader) == nil)
        #expect(table.read(1, "an", reader) == nil)
        #expect(table.read(1, "ann\u{0}", reader) == nil)
        #expect(table.usage.customers == 4)
    }

    @Test func `a replacement is seen at once and frees what it replaced`() {
        let table = makeTable()
        let reader = table.makeReader()
        let name = Array("ann".utf8)
        table.put(scope: 1, name: name, snapshot: [UInt8](repeating: 1, count: 1_000))
        let before = table.usage.bytes
        for value in UInt8(2)...200 {
            table.put(scope: 1, name: name, snapshot: [UInt8](repeating: value, count: 1_000))
            #expect(table.read(1, "ann", reader)?.allSatisfy { $0 == value } == true)
        }
        table.reclaim()
        #expect(table.usage.bytes == before)
        #expect(table.usage.customers == 1)
        table.put(scope: 1, name: name, snapshot: [7])
        #expect(table.usage.bytes == before - 999)
    }

    @Test func `warming never overwrites what a commit has published`() {
        let table = makeTable()
        let reader = table.makeReader()
        table.put(scope: 1, name: Array("ann".utf8), snapshot: [2])
        table.insertIfAbsent(scope: 1, name: Array("ann".utf8), snapshot: [1])
        table.insertIfAbsent(scope: 1, name: Array("bob".utf8), snapshot: [3])
        table.insertIfAbsent(scope: 1, name: Array("bob".utf8), snapshot: [4])
        #expect(table.read(1, "ann", reader) == [2])
        #expect(table.read(1, "bob", reader) == [3])
    }

    @Test func `it grows to many customers and finds each of them`() {
        let table = makeTable()
        let reader = table.makeReader()
        let count = 200_000
        for number in 0..<count {
            let name = Array("customer-\(number)".utf8)
            table.put(scope: UInt16(number % 3), name: name, snapshot: Array("\(number)".utf8))
        }
        table.reclaim()
        table.finishWarming()
        #expect(table.isComplete)
        #expect(table.usage.customers == count)
        var wrong = 0
        for number in 0..<count {
            let found = table.read(UInt16(number % 3), "customer-\(number)", reader)
            if found != Array("\(number)".utf8) { wrong += 1 }
        }
        #expect(wrong == 0)
        #expect(table.read(0, "customer-\(count)", reader) == nil)
    }

    @Test func `it is complete only when told so`() {
        let table = makeTable()
        #expect(!table.isComplete)
        table.put(scope: 1, name: [1], snapshot: [1])
        #expect(!table.isComplete)
        table.finishWarming()
        #expect(table.isComplete)
    }

    /// Found as a fault: a table that had left customers out called itself complete after warming,
    /// and people with a purchase were told that nobody knew them.
    @Test func `a table that left somebody out in warming is never complete`() {
        let table = makeTable(bytes: 16_000)
        for number in 0..<1_000 {
            table.insertIfAbsent(
                scope: 1, name: Array("\(number)".utf8),
                snapshot: [UInt8](repeating: 0, count: 100))
        }
        #expect(table.usage.customers < 1_000)
        #expect(table.usage.bytes <= 16_000)
        table.finishWarming()
        #expect(!table.isComplete)
    }

    @Test func `past the budget a new customer is left out, and those who are in stay exact`() {
        let table = makeTable(bytes: 16_000)
        let reader = table.makeReader()
        let snapshot = [UInt8](repeating: 1, count: 1_000)
        table.put(scope: 1, name: Array("in".utf8), snapshot: snapshot)
        table.finishWarming()
        #expect(table.isComplete)
        for number in 0..<20 {
            table.put(scope: 1, name: Array("more-\(number)".utf8), snapshot: snapshot)
        }
        #expect(!table.isComplete)
        #expect(table.read(1, "more-19", reader) == nil)
        table.put(scope: 1, name: Array("in".utf8), snapshot: [9, 9])
        #expect(table.read(1, "in", reader) == [9, 9])
        table.finishWarming()
        #expect(!table.isComplete)
    }

    /// A snapshot read before a commit must not get in after that commit's was left out.
    @Test func `once a change was left out, warming adds nobody`() {
        let table = makeTable(bytes: 12_000)
        let reader = table.makeReader()
        let name = Array("ann".utf8)
        table.put(scope: 1, name: name, snapshot: [UInt8](repeating: 2, count: 100_000))
        #expect(table.read(1, "ann", reader) == nil)
        table.insertIfAbsent(scope: 1, name: name, snapshot: [1])
        #expect(table.read(1, "ann", reader) == nil)
        table.put(scope: 1, name: name, snapshot: [3])
        #expect(table.read(1, "ann", reader) == [3])
    }

    @Test func `what a reader may still see is not freed`() {
        let table = makeTable()
        let reader = table.makeReader()
        let name = Array("ann".utf8)
        table.put(scope: 1, name: name, snapshot: [UInt8](repeating: 1, count: 64))
        table.beginReading(reader)
        let isIntact = table.readInBatch(1, "ann", reader) { snapshot in
            // Replaced and reclaimed many times while this reader looks at the first one.
            for value in UInt8(2)...100 {
                table.put(scope: 1, name: name, snapshot: [UInt8](repeating: value, count: 64))
                table.reclaim()
            }
            return bytes(snapshot) == [UInt8](repeating: 1, count: 64)
        }
        #expect(isIntact == true)
        table.endReading(reader)
        table.reclaim()
        #expect(table.read(1, "ann", reader) == [UInt8](repeating: 100, count: 64))
    }

    @Test func `readers see whole values while a writer replaces and the table grows`() async {
        let table = makeTable(readers: 3)
        let tally = Tally()
        for customer in 0..<8 {
            table.put(scope: 1, name: name(customer), snapshot: value(0))
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                let reader = table.makeReader()
                group.addTask {
                    var last = [UInt8](repeating: 0, count: 8)
                    while !tally.isDone.load(ordering: .acquiring) {
                        table.beginReading(reader)
                        for customer in 0..<8 {
                            let found = table.readInBatch(1, customer, reader)
                            if Set(found).count != 1 { tally.torn.add(1, ordering: .relaxed) }
                            let now = found.first ?? 0
                            if now < last[customer] { tally.older.add(1, ordering: .relaxed) }
                            last[customer] = now
                        }
                        table.endReading(reader)
                        tally.reads.add(1, ordering: .relaxed)
                        // There may be fewer threads than tasks.
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                // Warming goes on beside the commits, with what it read before them.
                while !tally.isDone.load(ordering: .acquiring) {
                    for customer in 0..<8 {
                        table.insertIfAbsent(scope: 1, name: name(customer), snapshot: value(0))
                    }
                    await Task.yield()
                }
            }
            group.addTask {
                for round in 1...250 {
                    for customer in 0..<8 {
                        table.put(scope: 1, name: name(customer), snapshot: value(UInt8(round)))
                    }
                    for extra in 0..<16 {
                        let name = Array("extra-\(round)-\(extra)".utf8)
                        table.put(scope: 2, name: name, snapshot: [1])
                    }
                    table.reclaim()
                }
                while tally.reads.load(ordering: .relaxed) < 10 { await Task.yield() }
                tally.isDone.store(true, ordering: .releasing)
            }
        }
        #expect(tally.torn.load(ordering: .relaxed) == 0)
        #expect(tally.older.load(ordering: .relaxed) == 0)
        table.reclaim()
    }

    @Test func `a read outside of a batch stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let table = CustomerTable(customerCount: 1, byteCountMax: 1 << 20, readerCount: 1)
            let reader = table.makeReader()
            let name: [UInt8] = [1]
            _ = table.withSnapshot(scope: 1, name: name.span, reader: reader) { _ in }
        }
    }

    @Test func `more readers than the table was made for stop the program`() async {
        await #expect(processExitsWith: .failure) {
            let table = CustomerTable(customerCount: 1, byteCountMax: 1 << 20, readerCount: 1)
            _ = table.makeReader()
            _ = table.makeReader()
        }
    }
}

/// What readers and writer tell one another.
private final class Tally: Sendable {
    let isDone = Atomic<Bool>(false)
    let torn = Atomic<Int>(0)
    let older = Atomic<Int>(0)
    let reads = Atomic<Int>(0)
}

private func name(_ customer: Int) -> [UInt8] { Array("customer-\(customer)".utf8) }

/// A value whose bytes are all the same; its length differs from round to round.
private func value(_ round: UInt8) -> [UInt8] {
    [UInt8](repeating: round, count: 64 + Int(round) % 7 * 16)
}

extension CustomerTable {
    /// Reads in a batch of its own.
    fileprivate func read(_ scope: UInt16, _ name: String, _ reader: ReaderSlot) -> [UInt8]? {
        beginReading(reader)
        defer { endReading(reader) }
        return readInBatch(scope, name, reader) { bytes($0) }
    }

    fileprivate func readInBatch<Result>(
        _ scope: UInt16, _ name: String, _ reader: ReaderSlot, _ body: (Span<UInt8>) -> Result
    ) -> Result? {
        let name = Array(name.utf8)
        var result: Result?
        _ = withSnapshot(scope: scope, name: name.span, reader: reader) { result = body($0) }
        return result
    }

    fileprivate func readInBatch(
        _ scope: UInt16, _ customer: Int, _ reader: ReaderSlot
    ) -> [UInt8] {
        readInBatch(scope, "customer-\(customer)", reader) { bytes($0) } ?? []
    }
}
