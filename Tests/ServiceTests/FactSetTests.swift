import Entitlements
import Storage
import TestSupport
import Testing

@testable import Service

@Suite struct FactSetTests {
    @Test(arguments: 0..<60)
    func `it keeps what a dictionary keeps`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        var facts = FactSet()
        var expected: [ExactName: TransactionFact] = [:]
        for _ in 0..<60 {
            let id = "\(random.generator.number(0...30))"
            if random.generator.oneIn(4) {
                facts.remove(id)
                expected[id] = nil
            } else {
                let fact = TransactionFact(
                    transaction: random.transaction(id), evidence: random.evidence(),
                    matched: random.matched())
                facts.put(fact)
                expected[id] = fact
            }
            #expect(facts[id] == expected[id])
        }
        #expect(facts.count == expected.count)
        #expect(facts.keys == expected.keys.sorted())
        #expect(facts.values == expected.sorted { $0.key < $1.key }.map(\.value))
        #expect(
            facts.leastChain
                == expected.values.map { ExactName($0.transaction.originalTransactionID) }.min()?
                .text)
        #expect(
            facts.leastAccount
                == expected.values.compactMap(\.transaction.appTransactionID)
                .map { ExactName($0) }.min()?.text)
        for (id, fact) in expected { #expect(facts.record(id.text) == RecordCodec.encode(fact)) }
    }

    @Test(arguments: 0..<40)
    func `the order of purchases is that of transactions`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let facts = FactSet(random.history(countMax: 20))
        let values = facts.values
        for left in values.indices {
            for right in values.indices {
                let isNewer = isNewerPurchase(
                    facts.rows[left], than: facts.rows[right], in: facts.arena.span)
                #expect(
                    isNewer
                        == values[left].transaction.isNewerPurchase(
                            than: values[right].transaction))
            }
        }
    }

    @Test func `a damaged record is refused and leaves the others`() throws {
        var random = RandomFacts(seed: 1)
        var facts = FactSet()
        facts.put(TransactionFact(transaction: random.transaction("1")))
        let record = RecordCodec.encode(TransactionFact(transaction: random.transaction("2")))
        #expect(throws: StorageError.self) { try facts.insert(record: record.dropLast()) }
        #expect(throws: StorageError.self) { try facts.insert(record: record + [0]) }
        #expect(facts.keys == ["1"])
        try facts.insert(record: record)
        #expect(facts.keys == ["1", "2"])
    }
}

extension FactSet {
    fileprivate mutating func insert(record: ArraySlice<UInt8>) throws(StorageError) {
        try insert(record: Array(record))
    }
}
