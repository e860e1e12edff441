import Entitlements
import Storage
import Testing

@testable import Service

@Suite struct FamilyCopiesTests {
    private func transaction(
        _ id: String, chain: String, _ ownership: String, _ days: Range<Int64>,
        product: String = "p"
    ) -> Transaction {
        var transaction = Transaction(
            transactionID: id, originalTransactionID: chain, productID: product,
            rawType: "Auto-Renewable Subscription", rawOwnership: ownership,
            purchaseDate: Timestamp(milliseconds: days.lowerBound),
            signedDate: Timestamp(milliseconds: days.lowerBound))
        transaction.expiresDate = Timestamp(milliseconds: days.upperBound)
        return transaction
    }

    /// A household of these members.
    private func family(_ members: [Transaction]...) -> FamilyCopies {
        let purchases = members.joined().filter { $0.ownership == .purchased }
        var copies = FamilyCopies(of: "p")
        for (index, transactions) in members.enumerated() {
            let key = CustomerKey(scope: ScopeNumber(1), number: UInt64(index + 1))
            var state = CustomerState(key: key, record: CustomerRecord(name: "\(index)"))
            for transaction in transactions { state.put(TransactionFact(transaction: transaction)) }
            copies.add(state, sharing: purchases)
        }
        return copies
    }

    private func texts(_ groups: [FamilyCopies.Group]) -> [String] {
        groups.map { group in
            group.served.map(\.transaction.transactionID).joined(separator: " ") + " | "
                + group.beyond.map(\.transaction.transactionID).joined(separator: " ")
        }.sorted()
    }

    @Test func `a copy belongs to the purchase that was bought at the nearest time`() {
        let early = transaction("1", chain: "1", "PURCHASED", 0..<30)
        let late = transaction("2", chain: "1", "PURCHASED", 30..<60)
        let copies = family(
            [early, late],
            [
                transaction("3", chain: "3", "FAMILY_SHARED", 3..<33),
                transaction("4", chain: "3", "FAMILY_SHARED", 33..<63),
            ])
        #expect(texts(copies.groups(from: early.transactionID)) == ["3 | "])
        #expect(texts(copies.groups(from: late.transactionID)) == ["4 | "])
    }

    @Test func `of two that are as near the older id counts, so that no copy is on two bills`() {
        let one = transaction("9", chain: "9", "PURCHASED", 0..<30)
        let other = transaction("10", chain: "10", "PURCHASED", 0..<30)
        let copies = family(
            [one], [other], [transaction("11", chain: "11", "FAMILY_SHARED", 0..<30)])
        #expect(texts(copies.groups(from: one.transactionID)) == ["11 | "])
        #expect(copies.groups(from: other.transactionID).isEmpty)
    }

    @Test func `periods that no purchase covers go with the copy before them`() {
        let bought = transaction("1", chain: "1", "PURCHASED", 0..<30)
        let again = transaction("2", chain: "1", "PURCHASED", 90..<120)
        let copies = family(
            [bought, again],
            [
                transaction("3", chain: "3", "FAMILY_SHARED", 0..<30),
                transaction("4", chain: "3", "FAMILY_SHARED", 30..<60),
                transaction("5", chain: "3", "FAMILY_SHARED", 60..<90),
                transaction("6", chain: "3", "FAMILY_SHARED", 90..<120),
                transaction("7", chain: "3", "FAMILY_SHARED", 120..<150),
            ],
            [transaction("8", chain: "8", "FAMILY_SHARED", 30..<60)])
        #expect(texts(copies.groups(from: bought.transactionID)) == ["3 | 4 5"])
        #expect(texts(copies.groups(from: again.transactionID)) == ["6 | 7"])
    }

    @Test func `other products and what is neither bought nor shared do not count`() {
        let bought = transaction("1", chain: "1", "PURCHASED", 0..<30)
        let copies = family(
            [bought],
            [
                transaction("2", chain: "2", "FAMILY_SHARED", 0..<30, product: "q"),
                transaction("3", chain: "3", "ASSIGNED", 0..<30),
            ])
        #expect(copies.groups(from: bought.transactionID).isEmpty)
        let stray = TransactionFact(
            transaction: transaction("4", chain: "4", "FAMILY_SHARED", 30..<60))
        #expect(CopySource(of: stray, among: [bought]) == nil)
    }

    @Test func `a purchase that was recognised counts where the household has none`() throws {
        var copy = TransactionFact(
            transaction: transaction("4", chain: "4", "FAMILY_SHARED", 0..<30))
        let refund = PurchaseRefund(
            date: Timestamp(milliseconds: 9), isProrated: false,
            signedDate: Timestamp(milliseconds: 9))
        copy.matched = MatchedPurchase(transactionID: "7", kind: .strong, refund: refund)
        let recognised = try #require(CopySource(of: copy, among: []))
        #expect(recognised.transactionID == "7" && recognised.confidence == .strong)
        #expect(recognised.isRefunded)
        let bought = transaction("1", chain: "1", "PURCHASED", 0..<30)
        let declared = try #require(CopySource(of: copy, among: [bought]))
        #expect(declared.transactionID == "1" && declared.confidence == .declared)
        #expect(!declared.isRefunded)
    }
}
