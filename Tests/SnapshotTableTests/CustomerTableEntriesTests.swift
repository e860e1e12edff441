import SnapshotTable
import Testing

@Suite struct CustomerTableEntriesTests {
    private static let bound = 1 << 18

    private func makeTable(bytes: Int = bound) -> (CustomerTable, ReaderSlot) {
        let table = CustomerTable(customerCount: 0, byteCountMax: bytes, readerCount: 2)
        return (table, table.makeReader())
    }

    @Test func `the bound holds, and the last who came are in`() {
        let (table, reader) = makeTable()
        let snapshot = [UInt8](repeating: 1, count: 100)
        for number in 0..<20_000 {
            #expect(table.offer(1, "customer-\(number)", snapshot) == .taken)
            if number.isMultiple(of: 97) { #expect(table.usage.bytes <= Self.bound) }
        }
        #expect(!table.isComplete)
        #expect(table.usage.customers > 400)
        for number in 19_900..<20_000 {
            #expect(table.read(1, "customer-\(number)", reader) == snapshot)
        }
    }

    @Test func `those who are asked for again and again stay in`() {
        let (table, reader) = makeTable()
        let snapshot = [UInt8](repeating: 1, count: 100)
        let hot = (0..<100).map { "hot-\($0)" }
        for name in hot { #expect(table.offer(1, name, snapshot) == .taken) }
        var missed = 0
        for number in 0..<20_000 {
            _ = table.offer(1, "cold-\(number)", snapshot)
            let name = hot[number % hot.count]
            if table.read(1, name, reader) == nil {
                missed += 1
                _ = table.offer(1, name, snapshot)
            }
        }
        #expect(missed < 20)
    }

    @Test func `a large snapshot is kept apart, counted, replaced and put out`() {
        let (table, reader) = makeTable(bytes: 1 << 20)
        let large = [UInt8](repeating: 3, count: 100_000)
        table.put(scope: 1, name: Array("ann".utf8), snapshot: [1])
        let before = table.usage.bytes
        table.put(scope: 1, name: Array("ann".utf8), snapshot: large)
        #expect(table.read(1, "ann", reader) == large)
        #expect(table.usage.bytes >= before + 100_000)
        table.put(scope: 1, name: Array("ann".utf8), snapshot: [2])
        table.reclaim()
        #expect(table.read(1, "ann", reader) == [2])
        #expect(table.usage.bytes == before)
        for number in 0..<100 {
            _ = table.offer(1, "large-\(number)", large)
            #expect(table.usage.bytes <= 1 << 20)
        }
        #expect(table.usage.customers < 12)
    }

    @Test func `a large one that a reader looks at is not freed`() {
        let (table, reader) = makeTable(bytes: 1 << 20)
        let name = Array("ann".utf8)
        table.put(scope: 1, name: name, snapshot: [UInt8](repeating: 1, count: 50_000))
        table.beginReading(reader)
        let isIntact = table.readInBatch(1, "ann", reader) { snapshot in
            for value in UInt8(2)...5 {
                table.put(
                    scope: 1, name: name, snapshot: [UInt8](repeating: value, count: 50_000))
                table.reclaim()
            }
            return bytes(snapshot) == [UInt8](repeating: 1, count: 50_000)
        }
        table.endReading(reader)
        #expect(isIntact == true)
        #expect(table.read(1, "ann", reader)?.first == 5)
    }

    @Test func `replacing many for long takes no more memory than the bound, and puts nobody out`()
    {
        let (table, reader) = makeTable()
        for number in 0..<200 {
            table.put(scope: 1, name: Array("customer-\(number)".utf8), snapshot: [0])
        }
        table.finishWarming()
        for round in 1...500 {
            let byte = UInt8(round % 251)
            for number in 0..<200 {
                table.put(
                    scope: 1, name: Array("customer-\(number)".utf8),
                    snapshot: [UInt8](repeating: byte, count: 1 + (round + number) % 200))
            }
            table.reclaim()
        }
        #expect(table.isComplete)
        #expect(table.usage.customers == 200)
        #expect(table.usage.bytes <= Self.bound)
        for number in 0..<200 {
            #expect(table.read(1, "customer-\(number)", reader)?.first == UInt8(249))
        }
    }

    /// What a customer's snapshot must be if he is in the table: the last one published or offered
    /// with effect.
    @Test(arguments: UInt64(1)...12)
    func `whoever is in the table has the newest snapshot, whatever happens`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = 1 << Int(15 + seed % 5)
        let (table, reader) = makeTable(bytes: bytes)
        var model: [String: [UInt8]] = [:]
        var inside = 0
        for step in 0..<6_000 {
            let name = "c\(random.next() % (seed % 3 == 0 ? 40 : 2_000))"
            let isLarge = random.next() % 60 == 0
            let count = isLarge ? Int(random.next() % 4_000) : Int(random.next() % 300)
            let snapshot = [UInt8](repeating: UInt8(step % 256), count: count)
            switch random.next() % 8 {
            case 0...2:
                table.put(scope: 1, name: Array(name.utf8), snapshot: snapshot)
                model[name] = snapshot
            case 3...4:
                let isKnown = table.read(1, name, reader) != nil
                let offer = table.offer(1, name, model[name] ?? snapshot, evicting: step % 3 > 0)
                #expect(offer == .known || !isKnown)
                if offer == .taken { model[name] = model[name] ?? snapshot }
            case 5: table.reclaim()
            default:
                let found = table.read(1, name, reader)
                if found != nil { inside += 1 }
                #expect(found == nil || found == model[name])
            }
            #expect(table.usage.bytes <= bytes)
        }
        table.finishWarming()
        if table.isComplete {
            for (name, snapshot) in model { #expect(table.read(1, name, reader) == snapshot) }
        }
        #expect(inside > 0)
    }
}
