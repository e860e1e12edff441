import Entitlements
import Storage
import Testing

@testable import Service

@Suite struct FoldContextTests {
    private func transaction(
        _ id: String, chain: String, group: String?, at date: Int64?, upgraded: Bool = false
    ) -> TransactionFact {
        var transaction = Transaction(
            transactionID: id, originalTransactionID: chain, productID: "p",
            rawType: "Auto-Renewable Subscription", rawOwnership: "PURCHASED",
            purchaseDate: date.map { Timestamp(milliseconds: $0) },
            signedDate: Timestamp(milliseconds: 1))
        transaction.subscriptionGroupID = group
        transaction.isUpgraded = upgraded
        return TransactionFact(transaction: transaction)
    }

    @Test func `renewal info counts for the newest of its chain`() {
        var facts = FactSet()
        facts.put(transaction("1", chain: "1", group: nil, at: 10))
        facts.put(transaction("2", chain: "1", group: nil, at: 20))
        facts.put(transaction("3", chain: "3", group: nil, at: 30))
        var renewal = RenewalInfo(
            originalTransactionID: "1", signedDate: Timestamp(milliseconds: 1))
        renewal.isInBillingRetryPeriod = true
        let context = FoldContext(facts, renewals: ["1": renewal])
        #expect(context.terms(of: 0) == nil)
        #expect(context.terms(of: 1) == RenewalTerms(renewal))
        #expect(context.terms(of: 2) == nil)
    }

    @Test func `what follows an upgrade is the next of its chain or group`() {
        var facts = FactSet()
        facts.put(transaction("1", chain: "a", group: "g", at: 10, upgraded: true))
        facts.put(transaction("2", chain: "a", group: nil, at: 40))
        facts.put(transaction("3", chain: "g", group: "h", at: 20))
        facts.put(transaction("4", chain: "b", group: "g", at: 10))
        facts.put(transaction("5", chain: "c", group: "g", at: nil))
        var context = FoldContext(facts, renewals: [:])
        #expect(context.successor(of: facts.rows[0], in: facts) == 40)
        facts.put(transaction("6", chain: "c", group: "g", at: 30))
        context = FoldContext(facts, renewals: [:])
        #expect(context.successor(of: facts.rows[0], in: facts) == 30)
    }
}
