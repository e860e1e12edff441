import Entitlements
import SnapshotTable
import Storage
import TestSupport
import Testing

@testable import Service

@Suite struct FoldTests {
    /// The fold of records and the readable one of decoded facts; their snapshots are the same.
    private func compare(_ history: CustomerHistory, household: [FactSet] = []) {
        let facts = FactSet(history)
        let fold = Fold(
            facts, renewals: history.renewals,
            household: household.isEmpty ? .none : HouseholdPurchases(household + [facts]))
        var whole = history
        if !household.isEmpty {
            whole.householdPurchases = (household + [facts]).flatMap(\.values)
                .compactMap { HouseholdPurchase($0.transaction) }
        }
        let grants = whole.grantsByProduct()
        #expect(fold.grantsByProduct == grants)
        #expect(fold.newestSignedDate == whole.newestSignedDate)
        #expect(
            fold.snapshot
                == SnapshotCodec.encode(grants, newestSignedDate: whole.newestSignedDate))
        for (id, fact) in whole.transactions {
            let record = grants.values.joined().first { isSame($0.transactionID, id.text) }
            #expect(fold.record(ofTransaction: id.text) == record)
            let isEnding = record.map { $0.grant.suspendedFrom != .max || $0.revocation != nil }
            let ended =
                isEnding == true ? record.flatMap { EndedAccess($0, of: fact.transaction) } : nil
            #expect(fold.endings[id] == ended)
        }
    }

    @Test(arguments: 0..<400)
    func `it says what the readable fold says`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        compare(random.history())
    }

    @Test(arguments: 0..<200)
    func `it says the same in a household`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let others = (0..<random.generator.number(1...3)).map { _ in FactSet(random.history()) }
        compare(random.history(), household: others)
    }

    @Test func `it says the same of many products and chains`() {
        var random = RandomFacts(seed: 7)
        var history = CustomerHistory()
        for number in 0..<300 {
            let products = (0..<60).map { "product \($0)" }
            var transaction = random.transaction("\(number)", products: products)
            transaction.originalTransactionID = "\(number % 90)"
            history.transactions["\(number)"] = TransactionFact(transaction: transaction)
        }
        for chain in 0..<70 {
            var renewal = RenewalInfo(
                originalTransactionID: "\(chain)", signedDate: random.date())
            renewal.gracePeriodExpiresDate = random.optionalDate(oneIn: 2)
            history.renewals["\(chain)"] = renewal
        }
        compare(history)
    }

    @Test func `nothing follows from nothing`() {
        let fold = Fold()
        #expect(fold.newestSignedDate == nil)
        #expect(fold.products.isEmpty)
        #expect(fold.snapshot == SnapshotCodec.encode([:], newestSignedDate: nil))
        #expect(fold.record(ofTransaction: "1") == nil)
    }

    @Test(arguments: 0..<50)
    func `flips are told in the order of names`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let (before, after) = (random.history(), random.history())
        let folds = [before, after].map { Fold(FactSet($0), renewals: $0.renewals) }
        let instant = random.date()
        let changes = folds[0].flips(
            to: folds[1], of: "ann", catalog: Catalog(), at: instant, countsReasons: true)
        let products = Set(before.grantsByProduct().keys).union(after.grantsByProduct().keys)
        let expected = products.sorted().filter { product in
            let reasons = [before, after].map { history in
                GrantArray(sorted: (history.grantsByProduct()[product] ?? []).map(\.grant))
                    .fullDecision(at: instant.milliseconds, under: ProductPolicy()).reason
            }
            return reasons[0] != reasons[1]
        }
        #expect(changes.map(\.productID) == expected.map(\.text))
    }
}
