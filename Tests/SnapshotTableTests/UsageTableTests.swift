import SnapshotTable
import Testing

@Suite struct UsageTableTests {
    private func count(
        _ table: UsageTable, _ id: String, day: UInt32 = 1, scope: UInt16 = 0, units: UInt64 = 0
    ) -> Bool {
        let bytes = Array(id.utf8)
        let slot = table.slot(scope: scope, transactionID: bytes.span, day: day)
        guard slot >= 0 else { return false }
        table.add(units: units, to: slot)
        return true
    }

    private func entries(_ table: UsageTable) -> [UsageTable.Entry] {
        var all: [UsageTable.Entry] = []
        table.forEachGroup(of: 3) { group in
            #expect(!group.isEmpty && group.count <= 3)
            all += group
        }
        return all.sorted {
            ($0.scope, $0.day, String(decoding: $0.transactionID, as: UTF8.self))
                < ($1.scope, $1.day, String(decoding: $1.transactionID, as: UTF8.self))
        }
    }

    @Test func `checks and units add up by world, transaction and day`() {
        let table = UsageTable(slotCount: 64)
        for _ in 0..<3 { #expect(count(table, "504319184420155588", units: 7)) }
        #expect(count(table, "504319184420155588", day: 2, units: 1))
        #expect(count(table, "504319184420155588", scope: 1))
        #expect(count(table, "504319184420155589"))
        #expect(count(table, ""))
        #expect(table.count == 5)
        let found = entries(table).map {
            "\($0.scope) \($0.day) \(String(decoding: $0.transactionID, as: UTF8.self))"
                + " \($0.checks) \($0.units)"
        }
        #expect(
            found == [
                "0 1  1 0", "0 1 504319184420155588 3 21", "0 1 504319184420155589 1 0",
                "0 2 504319184420155588 1 1", "1 1 504319184420155588 1 0",
            ])
        table.removeAll()
        #expect(table.count == 0 && entries(table).isEmpty)
        #expect(count(table, "504319184420155588", units: 2))
        #expect(entries(table).map(\.units) == [2])
    }

    @Test func `seven eighths of the slots can be taken, and what is in goes on counting`() {
        let table = UsageTable(slotCount: 64)
        for index in 0..<47 { #expect(count(table, "\(index)")) }
        #expect(!table.isCrowded)
        #expect(count(table, "47"))
        #expect(table.isCrowded)
        for index in 48..<56 { #expect(count(table, "\(index)")) }
        #expect(!count(table, "56"))
        #expect(table.count == 56)
        for index in 0..<56 { #expect(count(table, "\(index)", units: UInt64(index))) }
        let all = entries(table)
        #expect(all.count == 56 && all.allSatisfy { $0.checks == 2 })
        #expect(all.reduce(0) { $0 + $1.units } == 56 * 55 / 2)
    }

    @Test(arguments: [31, 32, 33, 128])
    func `an id of any length is told apart by its last byte and goes along`(length: Int) {
        let table = UsageTable(slotCount: 64)
        let other = UsageTable(slotCount: 64)
        let start = String(repeating: "7", count: length - 1)
        for _ in 0..<2 { #expect(count(table, start + "1", units: 3)) }
        #expect(count(table, start + "2"))
        table.exchange(with: other)
        #expect(entries(table).isEmpty)
        let ids = entries(other).map { String(decoding: $0.transactionID, as: UTF8.self) }
        #expect(ids == [start + "1", start + "2"])
        #expect(entries(other).map(\.checks) == [2, 1])
    }

    @Test func `an id of 128 bytes is counted, a longer one is not`() {
        let table = UsageTable(slotCount: 8)
        let longest = String(repeating: "a", count: 127) + "b"
        #expect(count(table, longest))
        #expect(count(table, String(repeating: "a", count: 128)))
        #expect(!count(table, longest + "c"))
        #expect(entries(table).map(\.transactionID.count) == [128, 128])
    }

    @Test func `at the largest numbers counts stay`() {
        let table = UsageTable(slotCount: 8)
        #expect(count(table, "1", units: .max - 1))
        #expect(count(table, "1", units: 1))
        #expect(entries(table).map(\.units) == [.max])
        #expect(count(table, "1", units: 1))
        #expect(entries(table).map(\.units) == [.max])
        #expect(entries(table).map(\.checks) == [3])
    }

    @Test func `a slot that was found and not counted in says nothing`() {
        let table = UsageTable(slotCount: 8)
        let id = Array("1".utf8)
        let slot = table.slot(scope: 0, transactionID: id.span, day: 1)
        #expect(entries(table).isEmpty && table.count == 1)
        let again = table.slot(scope: 0, transactionID: id.span, day: 1)
        #expect(slot == again)
        table.add(units: 0, to: slot)
        #expect(entries(table).count == 1)
    }

    @Test func `two tables exchange what is in them`() {
        let (one, other) = (UsageTable(slotCount: 8), UsageTable(slotCount: 8))
        #expect(count(one, "1", units: 5))
        one.exchange(with: other)
        #expect(one.count == 0 && entries(one).isEmpty)
        #expect(entries(other).map(\.units) == [5])
        #expect(count(one, "2"))
        #expect(entries(other).count == 1)
    }

    @Test func `what is noted counts as if it had been counted at once`() {
        var generator = SeededGenerator(seed: 5)
        let (noting, counting) = (UsageTable(slotCount: 64), UsageTable(slotCount: 64))
        for round in 0..<400 {
            var (noted, dropped) = (0, 0)
            for _ in 0..<Int(generator.next() % 70) {
                let length = Int(generator.next() % 33)
                let digit = UInt8(0x30 + generator.next() % 2)
                let id = [UInt8](repeating: digit, count: length)
                let scope = UInt16(generator.next() % 2)
                let units = generator.pick([0, 1, 7, UInt64.max])
                let isNoted = noting.note(
                    scope: scope, transactionID: id.span, day: 9, units: units)
                #expect(isNoted == (noted < UsageTable.notedCountMax))
                guard isNoted else { continue }
                noted += 1
                let slot = counting.slot(scope: scope, transactionID: id.span, day: 9)
                if slot >= 0 { counting.add(units: units, to: slot) } else { dropped += 1 }
            }
            #expect(noting.countNoted() == dropped, "round \(round)")
            #expect(noting.countNoted() == 0)
            #expect(entries(noting) == entries(counting), "round \(round)")
        }
        #expect(noting.count == 56)
    }

    @Test func `an id of 33 bytes is not noted`() {
        let table = UsageTable(slotCount: 8)
        let id = [UInt8](repeating: 0x31, count: 33)
        let isNoted = table.note(scope: 0, transactionID: id.span, day: 1, units: 0)
        #expect(!isNoted)
        let short = id.span.extracting(1..<33)
        let isShortNoted = table.note(scope: 0, transactionID: short, day: 1, units: 0)
        #expect(isShortNoted)
    }

    @Test func `notes are given with their slots in order, or forgotten, and count nothing`() {
        let table = UsageTable(slotCount: 8)
        for (index, id) in ["1", "2", "1"].enumerated() {
            let bytes = Array(id.utf8)
            table.note(scope: 0, transactionID: bytes.span, day: 1, units: UInt64(index))
        }
        var resolved: [(slot: Int, units: UInt64)] = []
        table.resolveNoted(into: &resolved)
        #expect(resolved.map(\.units) == [0, 1, 2])
        #expect(resolved[0].slot == resolved[2].slot && resolved[0].slot != resolved[1].slot)
        let third = Array("3".utf8)
        table.note(scope: 0, transactionID: third.span, day: 1, units: 1)
        table.forgetNoted()
        #expect(table.countNoted() == 0)
        #expect(table.count == 2 && entries(table).isEmpty)
    }
}
