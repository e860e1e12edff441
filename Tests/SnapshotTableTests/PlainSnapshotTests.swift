import Entitlements
import SnapshotTable
import Testing

/// Snapshots that are plain but for one field, and others, by what a table answers from them.
@Suite struct PlainSnapshotTests {
    private let runs = TableRuns()

    /// One grant or few, most of them of the plainest kind, some of which one field is changed.
    private func nearlyPlain(_ generator: inout SeededGenerator) -> [GrantRecord] {
        var records = generator.records(Int(1 + generator.next() % 2))
        for index in records.indices {
            var grant = Grant(
                type: generator.pick([.autoRenewable, .nonConsumable]),
                ownership: generator.pick([.purchased, .familyShared, .assigned]),
                start: records[index].grant.start)
            grant.end = generator.pick([.max, 100, 250])
            let other = records[index].grant
            switch generator.next() % 16 {
            case 0: grant.graceEnd = other.graceEnd
            case 1: grant.revokedFrom = other.revokedFrom
            case 2: grant.overriddenFrom = other.overriddenFrom
            case 3: grant.suspendedFrom = other.suspendedFrom
            case 4: grant.suspendedFromWhenProratedKept = other.suspendedFromWhenProratedKept
            case 5: grant.upgradedFrom = other.upgradedFrom
            case 6: grant.flags = other.flags
            case 7: grant.type = other.type
            case 8: grant = other
            default: break
            }
            records[index].grant = grant
        }
        return records
    }

    @Test(arguments: UInt64(1)...40)
    func `questions that come together are answered as their snapshots say`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let table = CustomerTable(customerCount: 0, byteCountMax: 1 << 22, readerCount: 1)
        let reader = table.makeReader()
        var snapshots: [[UInt8]] = []
        for number in 0..<40 {
            let products: [ExactName: [GrantRecord]] =
                number.isMultiple(of: 3)
                ? generator.products(["a", "b", "meadow.plus.month"])
                : ["a": nearlyPlain(&generator)]
            let signed = Timestamp(milliseconds: Int64(generator.next() % 300))
            snapshots.append(SnapshotCodec.encode(products, newestSignedDate: signed))
            table.put(
                scope: 1, name: Array("customer-\(number)".utf8), snapshot: snapshots[number])
        }
        for now in stride(from: Int64(0), to: 320, by: 20) {
            let asked = (0..<33).map { _ in
                TableRuns.Asked(
                    name: "customer-\(generator.next() % 40)",
                    product: generator.pick(["a", "a", "a", "b", "meadow.plus.month", "x"]),
                    instant: generator.pick([0, 0, Int64(generator.next() % 300)]))
            }
            let found = runs.answers(of: table, reader, asked, at: now)
            for (one, answer) in zip(asked, found) {
                let number = Int(one.name.dropFirst("customer-".count)) ?? 0
                let expected = runs.oracle(snapshots[number], one, at: now)
                #expect(answer == expected, "seed \(seed), \(one)")
            }
        }
    }
}
