import Testing

@testable import entitlebench

@Suite struct SeedTransactionsTests {
    private let plan = SeedPlan(customerCount: 6_000, transactionCounts: 1...3)

    @Test func `a chain is one, its periods follow each other, its ids ascend`() {
        for index in 0..<600 {
            let transactions = plan.transactions(of: index)
            for (earlier, later) in zip(transactions, transactions.dropFirst()) {
                #expect(earlier.expiresDate == later.purchaseDate)
                #expect(earlier.transactionID < later.transactionID)
                #expect(earlier.revocationDate == 0)
            }
            #expect(Set(transactions.map(\.originalTransactionID)).count == 1)
            #expect(transactions[0].transactionID == transactions[0].originalTransactionID)
            #expect(transactions.allSatisfy { $0.transactionID.utf8.count == 15 })
        }
    }

    @Test func `ids and instants ascend with the customers`() {
        for index in 0..<600 {
            let (one, next) = (plan.transactions(of: index), plan.transactions(of: index + 1))
            #expect(one[one.count - 1].transactionID < next[0].transactionID)
            #expect(one[0].appTransactionID < next[0].appTransactionID)
            guard one[0].productID == next[0].productID else { continue }
            #expect(one[one.count - 1].purchaseDate <= next[next.count - 1].purchaseDate)
        }
        let tokens = (0..<6_000).compactMap { plan.transactions(of: $0)[0].appAccountToken }
        #expect(tokens == tokens.sorted())
        #expect(Set(tokens).count == tokens.count)
        #expect((1_800...2_500).contains(tokens.count))
        #expect(tokens.allSatisfy { $0.utf8.count == 36 })
    }

    @Test func `a family has product and dates in common, and nobody else has`() {
        var purchases: [String: Int] = [:]
        for index in 0..<6_000 {
            let last = plan.transactions(of: index).last
            guard let last else { continue }
            purchases["\(last.productID) \(last.purchaseDate)", default: 0] += 1
            #expect(last.isShared == plan.kind(of: index).isMember)
            if last.isShared { #expect(last.lineItemID == nil) }
        }
        #expect(Set(purchases.values) == [1, 6])
    }

    @Test func `what is revoked was bought before, and what runs out has run out`() {
        for index in 0..<6_000 {
            let kind = plan.kind(of: index)
            guard let last = plan.transactions(of: index).last else { continue }
            #expect((last.revocationDate != 0) == kind.isRevoked)
            if kind.isRevoked { #expect(last.revocationDate > last.purchaseDate) }
            #expect(last.signedDate < SeedFixture.now)
            let isOver = kind == .expired || kind == .retrying
            #expect((last.expiresDate < SeedFixture.now) == isOver)
            #expect((plan.renewal(of: index) != nil) == (kind == .retrying))
        }
    }

    /// The last customer that there may be must not have bought, or lost, in the future.
    @Test func `the dates of the last customer of all are past`() {
        let all = SeedPlan(customerCount: SeedPlan.customerCountMax)
        for index in SeedPlan.customerCountMax - 60..<SeedPlan.customerCountMax {
            for transaction in all.transactions(of: index) {
                #expect(transaction.signedDate < SeedFixture.now)
                #expect(transaction.purchaseDate < SeedCalendar.refund)
            }
        }
    }
}
