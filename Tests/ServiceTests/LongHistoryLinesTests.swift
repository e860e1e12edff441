import Entitlements
import Storage
import Testing

@testable import Service

@Suite struct LongHistoryLinesTests {
    private func fact(_ id: String, chain: String = "1", at date: Int64?) -> TransactionFact {
        var transaction = Transaction(
            transactionID: id, originalTransactionID: chain, productID: "p",
            rawType: "Auto-Renewable Subscription", rawOwnership: "PURCHASED",
            purchaseDate: date.map { Timestamp(milliseconds: $0) },
            signedDate: Timestamp(milliseconds: (date ?? 0) + 1))
        transaction.expiresDate = Timestamp(milliseconds: (date ?? 0) + 100)
        transaction.subscriptionGroupID = "g"
        return TransactionFact(transaction: transaction)
    }

    /// Purchases of one chain at 0, 100, ... of which the last two are at hand.
    private func history(_ count: Int) throws -> LongHistory {
        var facts = FactSet()
        for number in 0..<count {
            facts.put(fact("\(10 + number)", at: Int64(number) * 100))
        }
        return try #require(
            LongHistory(Fold(facts, renewals: [:]), limits: shortLimits))
    }

    private func successor(of fact: TransactionFact, in history: LongHistory) -> (Bool, Int64?) {
        var successor: Int64? = -1
        let isFound = history.find(&successor, of: TakenFact(fact))
        return (isFound, successor)
    }

    @Test func `what followed a purchase is told as far back as all is at hand`() throws {
        let history = try history(8)
        #expect(history.products["p"]?.restLineStart == 500)
        #expect(successor(of: fact("17", at: 700), in: history) == (true, nil))
        #expect(successor(of: fact("16", at: 600), in: history) == (true, 700))
        #expect(successor(of: fact("15", at: 500), in: history) == (true, 600))
        #expect(successor(of: fact("14", at: 400), in: history).0 == false)
        #expect(successor(of: fact("9", at: nil), in: history) == (true, nil))
    }

    @Test func `another chain of the group follows as well, and one of another group does not`()
        throws
    {
        let history = try history(8)
        #expect(successor(of: fact("30", chain: "30", at: 650), in: history) == (true, 700))
        var foreign = fact("30", chain: "30", at: 650)
        foreign.transaction.subscriptionGroupID = "other"
        #expect(successor(of: foreign, in: history) == (true, nil))
    }

    @Test func `the newest date counts evidence and the refund behind a copy`() {
        var fact = fact("1", at: 5)
        #expect(TakenFact(fact).newestDate == 6)
        fact.evidence.activeStatus = Timestamp(milliseconds: 9)
        #expect(TakenFact(fact).newestDate == 9)
        fact.matched = MatchedPurchase(
            transactionID: "2", kind: .strong,
            refund: PurchaseRefund(
                date: Timestamp(milliseconds: 3), isProrated: false,
                signedDate: Timestamp(milliseconds: 12)))
        #expect(TakenFact(fact).newestDate == 12)
    }

    @Test func `a copy is of the same purchase while nothing differs that it is found by`() {
        let known = fact("1", at: 5)
        var copy = known
        copy.transaction.signedDate = Timestamp(milliseconds: 90)
        copy.transaction.expiresDate = nil
        copy.transaction.isUpgraded = true
        #expect(TakenFact(known).isSamePurchase(as: TakenFact(copy)))
        for change: (inout Transaction) -> Void in [
            { $0.productID = "q" }, { $0.originalTransactionID = "2" },
            { $0.rawOwnership = "FAMILY_SHARED" }, { $0.rawType = "Consumable" },
            { $0.purchaseDate = nil }, { $0.appTransactionID = "A" },
            { $0.subscriptionGroupID = nil },
        ] {
            var other = known
            change(&other.transaction)
            #expect(!TakenFact(known).isSamePurchase(as: TakenFact(other)))
        }
    }
}
