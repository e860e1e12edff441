import SnapshotTable
import Synchronization
import Testing

@Suite struct CustomerTableWritingTests {
    private func makeTable(bytes: Int = 1 << 20, readers: Int = 2) -> CustomerTable {
        CustomerTable(customerCount: 0, byteCountMax: bytes, readerCount: readers)
    }

    // MARK: Names that nobody has any more

    @Test func `who is forgotten is unknown at once, and a miss stays an answer`() {
        let table = makeTable()
        let reader = table.makeReader()
        for number in 0..<200 {
            table.put(scope: 1, name: Array("customer-\(number)".utf8), snapshot: [UInt8(number)])
        }
        table.finishWarming()
        let readAt = table.changeCount
        for number in stride(from: 0, to: 200, by: 2) {
            table.forget(scope: 1, name: Array("customer-\(number)".utf8))
        }
        table.forget(scope: 1, name: Array("nobody".utf8))
        #expect(table.isComplete && table.usage.customers == 100)
        for number in 0..<200 {
            let found = table.read(1, "customer-\(number)", reader)
            #expect(found == (number.isMultiple(of: 2) ? nil : [UInt8(number)]), "\(number)")
        }
        // What was read from the store before does not bring him back.
        #expect(table.offer(1, "customer-0", [9], readAt: readAt) == .outdated)
        // The name is free, and again and again.
        for round in 0..<500 {
            let name = "customer-\(round % 200)"
            table.put(scope: 1, name: Array(name.utf8), snapshot: [1, 2])
            #expect(table.read(1, name, reader) == [1, 2])
            table.forget(scope: 1, name: Array(name.utf8))
            #expect(table.read(1, name, reader) == nil)
        }
        #expect(table.isComplete && table.usage.customers == 0)
    }

    // MARK: Offers are exact

    @Test func `an offer is taken, and never in the place of what is there`() {
        let table = makeTable()
        let reader = table.makeReader()
        #expect(table.offer(1, "ann", [1]) == .taken)
        #expect(table.offer(1, "ann", [2]) == .known)
        #expect(table.read(1, "ann", reader) == [1])
        table.put(scope: 1, name: Array("bob".utf8), snapshot: [3])
        #expect(table.offer(1, "bob", [4]) == .known)
        #expect(table.read(1, "bob", reader) == [3])
    }

    /// The store was read before a commit, whose snapshot found no room.
    @Test func `what was read before a commit does not get in after it`() {
        let table = makeTable(bytes: 1 << 16)
        let reader = table.makeReader()
        let readAt = table.changeCount
        // Larger than the table takes at all: the customer is left out.
        table.put(
            scope: 1, name: Array("ann".utf8), snapshot: [UInt8](repeating: 2, count: 60_000))
        #expect(table.read(1, "ann", reader) == nil)
        #expect(table.offer(1, "ann", [1], readAt: readAt) == .outdated)
        #expect(table.read(1, "ann", reader) == nil)
        #expect(table.offer(1, "ann", [2]) == .taken)
        #expect(table.read(1, "ann", reader) == [2])
    }

    @Test func `what was read before a commit does not get in when that one's was put out again`() {
        let table = makeTable(bytes: 1 << 16)
        let reader = table.makeReader()
        let readAt = table.changeCount
        table.put(scope: 1, name: Array("ann".utf8), snapshot: [2])
        var number = 0
        while table.usage.customers > 0, table.read(1, "ann", reader) != nil, number < 100_000 {
            _ = table.offer(1, "other-\(number)", [UInt8](repeating: 0, count: 100))
            number += 1
            // A read marks the entry: look only now and then, or it is kept for ever.
            if !number.isMultiple(of: 2_000) { continue }
        }
        for extra in 0..<10_000 {
            _ = table.offer(1, "more-\(extra)", [UInt8](repeating: 0, count: 100))
        }
        #expect(table.read(1, "ann", reader) == nil)
        #expect(table.offer(1, "ann", [1], readAt: readAt) == .outdated)
        #expect(table.read(1, "ann", reader) == nil)
    }

    @Test func `a commit after the offer replaces it`() {
        let table = makeTable()
        let reader = table.makeReader()
        let readAt = table.changeCount
        #expect(table.offer(1, "ann", [1], readAt: readAt) == .taken)
        table.put(scope: 1, name: Array("ann".utf8), snapshot: [2])
        #expect(table.read(1, "ann", reader) == [2])
        #expect(table.offer(1, "ann", [1], readAt: readAt) == .outdated)
        #expect(table.read(1, "ann", reader) == [2])
    }

    /// A store of one number per customer, written before it is published, read before it is
    /// offered; a reader must never see less than what was published before he began.
    @Test func `no reader finds less than what was published before he looked`() async {
        let table = makeTable(bytes: 1 << 16, readers: 3)
        let board = Board()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                let reader = table.makeReader()
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(number))
                    while !board.isDone.load(ordering: .acquiring) {
                        for _ in 0..<64 {
                            let customer = Int(random.next() % 64)
                            let least = board.shown[customer].value.load(ordering: .acquiring)
                            table.beginReading(reader)
                            let read = table.readInBatch(1, customer, reader)
                            table.endReading(reader)
                            if let first = read.first {
                                board.found.add(1, ordering: .relaxed)
                                let value = Int(first) << 8 | Int(read[1])
                                if value < least { board.stale.add(1, ordering: .relaxed) }
                                continue
                            }
                            let readAt = table.changeCount
                            let value = board.stored[customer].value.load(ordering: .acquiring)
                            _ = table.offer(
                                1, "customer-\(customer)", snapshot(value), readAt: readAt)
                        }
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                var random = SeededGenerator(seed: 99)
                for value in 1...20_000 {
                    let customer = Int(random.next() % 64)
                    board.stored[customer].value.store(value, ordering: .releasing)
                    table.put(
                        scope: 1, name: Array("customer-\(customer)".utf8),
                        snapshot: snapshot(value))
                    board.shown[customer].value.store(value, ordering: .releasing)
                    if value.isMultiple(of: 16) { table.reclaim() }
                    if value.isMultiple(of: 64) { await Task.yield() }
                }
                board.isDone.store(true, ordering: .releasing)
            }
        }
        #expect(board.stale.load(ordering: .relaxed) == 0)
        #expect(board.found.load(ordering: .relaxed) > 0)
        #expect(table.usage.bytes <= 1 << 16)
    }

    // MARK: Complete

    @Test func `a table that left somebody out in warming is never complete`() {
        let table = makeTable(bytes: 64_000)
        var isFull = false
        for number in 0..<1_000 {
            let offer = table.offerWaiting(
                scope: 1, name: Array("\(number)".utf8).span,
                snapshot: [UInt8](repeating: 0, count: 100).span, readAt: table.changeCount)
            isFull = isFull || offer == .full
            #expect(offer == .taken || isFull)
        }
        #expect(isFull)
        #expect(table.usage.customers < 1_000)
        #expect(table.usage.bytes <= 64_000)
        table.finishWarming()
        #expect(!table.isComplete)
    }

    @Test func `past the bound a new customer is left out, and those who are in stay exact`() {
        let table = makeTable(bytes: 64_000)
        let reader = table.makeReader()
        let snapshot = [UInt8](repeating: 1, count: 200)
        table.put(scope: 1, name: Array("in".utf8), snapshot: snapshot)
        table.finishWarming()
        #expect(table.isComplete)
        for number in 0..<400 {
            table.put(scope: 1, name: Array("more-\(number)".utf8), snapshot: snapshot)
        }
        #expect(!table.isComplete)
        #expect(table.read(1, "more-399", reader) == nil)
        table.put(scope: 1, name: Array("in".utf8), snapshot: [9, 9])
        #expect(table.read(1, "in", reader) == [9, 9])
        table.finishWarming()
        #expect(!table.isComplete)
    }

    /// He asked whether the table is complete, was told so, and may take a miss for an answer.
    @Test func `who was told that the table is complete finds everybody until his batch ends`() {
        let table = makeTable(bytes: 64_000)
        let reader = table.makeReader()
        let snapshot = [UInt8](repeating: 1, count: 200)
        var count = 0
        while table.offer(1, "customer-\(count)", snapshot, evicting: false) == .taken {
            count += 1
        }
        table.finishWarming()
        table.beginReading(reader)
        #expect(table.isComplete)
        for number in 0..<100 {
            #expect(table.offer(1, "other-\(number)", snapshot) == .full)
        }
        #expect(!table.isComplete)
        for number in 0..<count {
            #expect(table.readInBatch(1, number, reader) == snapshot)
        }
        table.endReading(reader)
        #expect(table.offer(1, "other", snapshot) == .taken)
        #expect(table.read(1, "other", reader) == snapshot)
    }
}

/// A number that threads share.
private final class Cell: Sendable {
    let value = Atomic<Int>(0)
}

/// What readers and writer tell one another.
private final class Board: Sendable {
    let stored = (0..<64).map { _ in Cell() }
    let shown = (0..<64).map { _ in Cell() }
    let isDone = Atomic<Bool>(false)
    let stale = Atomic<Int>(0)
    let found = Atomic<Int>(0)
}

private func snapshot(_ value: Int) -> [UInt8] {
    [UInt8(value >> 8), UInt8(value & 0xFF)] + [UInt8](repeating: 7, count: 700 + value % 50)
}
