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

    @Test func `a replacement is seen at once, and what it replaced makes room again`() {
        let table = makeTable(bytes: 64_000)
        let reader = table.makeReader()
        let name = Array("ann".utf8)
        for value in 1...2_000 {
            let byte = UInt8(value % 250)
            table.put(scope: 1, name: name, snapshot: [UInt8](repeating: byte, count: 100))
            #expect(table.read(1, "ann", reader)?.allSatisfy { $0 == byte } == true)
            table.reclaim()
        }
        table.finishWarming()
        #expect(table.isComplete)
        #expect(table.usage.customers == 1)
        #expect(table.usage.bytes <= 64_000)
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
                        _ = table.offer(
                            scope: 1, name: name(customer).span, snapshot: value(0).span,
                            readAt: 0, evicting: true)
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

func name(_ customer: Int) -> [UInt8] { Array("customer-\(customer)".utf8) }

/// A value whose bytes are all the same; its length differs from round to round.
private func value(_ round: UInt8) -> [UInt8] {
    [UInt8](repeating: round, count: 64 + Int(round) % 7 * 16)
}
