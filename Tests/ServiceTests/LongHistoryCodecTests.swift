import Entitlements
import SnapshotTable
import Storage
import TestSupport
import Testing

@testable import Service

@Suite struct LongHistoryCodecTests {
    private func history(_ count: Int) -> CustomerHistory {
        var random = RandomFacts(seed: 21)
        var history = CustomerHistory()
        for number in 0..<count {
            let id = "\(number)"
            history.transactions[id] = TransactionFact(
                transaction: random.daily(id, at: Int64(number) * 10))
        }
        return history
    }

    @Test func `what is built by bulk is what a server stores`() throws {
        let fixture = try ServiceFixture()
        var copies: [[UInt8]] = []
        for number in 0..<520 {
            copies.append(
                try fixture.transaction(
                    "\(number)", product: "coins", from: Int64(number) * 10,
                    changes: ["type": "Consumable"]))
        }
        let call = WriteCall.transactions(
            TransactionUpload(customerID: "ann", signedTransactions: copies))
        _ = try fixture.desk.perform(call).get()
        let key = CustomerKey(scope: ScopeNumber(1), number: 1)
        var facts = CustomerHistory()
        for fact in try StoredFacts(of: key, from: fixture.store).transactions.values {
            facts.transactions[fact.transaction.transactionID] = fact
        }
        let stored = try fixture.store.value(
            for: Key.snapshot(of: key, named: "ann"), in: .snapshots)
        #expect(stored != nil && facts.longSnapshot == stored)
    }

    @Test func `a short history has none`() {
        #expect(history(512).longSnapshot == nil)
        #expect(history(513).longSnapshot != nil)
    }

    @Test func `a history comes back from its snapshot`() throws {
        let history = history(40)
        let long = try #require(
            LongHistory(Fold(FactSet(history), renewals: [:]), limits: shortLimits))
        let snapshot = long.snapshot
        #expect(LongHistory(snapshot: snapshot) == long)
        let isWellFormed = SnapshotView(snapshot.span).isWellFormed
        #expect(isWellFormed)
    }
}
