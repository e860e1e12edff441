import Entitlements
import Testing

@testable import entitlebench

@Suite struct SeedPlanTests {
    private let plan = SeedPlan(customerCount: 60_000)

    @Test func `a customer is the same whoever asks, and another one for another seed`() {
        let again = SeedPlan(customerCount: 1_000)
        let other = SeedPlan(seed: 1, customerCount: 1_000)
        let kinds = (0..<1_000).map { plan.kind(of: $0) }
        #expect(kinds == (0..<1_000).map { again.kind(of: $0) })
        #expect(kinds != (0..<1_000).map { other.kind(of: $0) })
        for index in [0, 7, 999] {
            #expect(plan.transactions(of: index) == again.transactions(of: index))
            #expect(plan.expectation(of: index) == again.expectation(of: index))
        }
    }

    @Test func `a name has 40 bytes and ascends`() {
        #expect(plan.name(of: 0) == "customer-0000000000000000000000000000000")
        #expect(plan.name(of: 15_999_999) == "customer-0000000000000000000000015999999")
        #expect(plan.name(of: 9).utf8.count == 40)
        #expect(plan.name(of: 9) < plan.name(of: 10))
    }

    @Test func `the shares are those of the table`() {
        var counts: [SeedPlan.Kind: Int] = [:]
        for index in 0..<60_000 { counts[plan.kind(of: index), default: 0] += 1 }
        func share(_ kind: SeedPlan.Kind) -> Int { counts[kind, default: 0] * 1_000 / 60_000 }
        #expect((440...485).contains(share(.active)))
        #expect((140...170).contains(share(.expired)))
        #expect((35...50).contains(share(.retrying)))
        #expect((35...50).contains(share(.refunded)))
        #expect((40...50).contains(share(.familyBuyer)))
        #expect(counts[.familyMember] == counts[.familyBuyer].map { $0 * 5 })
        #expect(counts[.refundedFamilyMember] == counts[.refundedFamilyBuyer].map { $0 * 5 })
    }

    @Test func `somebody beyond the population is unknown`() {
        let expected = plan.expectation(of: 60_000)
        #expect(expected.reason == .unknownCustomer)
        #expect(expected.transactionID.isEmpty)
        #expect(!expected.isGranted)
        #expect(plan.expectation(of: 59_999).reason != .unknownCustomer)
    }

    @Test func `the number of transactions is within its bounds, and one in a family`() {
        let plan = SeedPlan(customerCount: 6_000, transactionCounts: 1...3)
        var seen: Set<Int> = []
        for index in 0..<6_000 {
            let count = plan.transactionCount(of: index)
            seen.insert(count)
            #expect(plan.transactions(of: index).count == count)
            #expect(count == plan.transactionCount(of: index - index % 6))
        }
        #expect(seen == [1, 2, 3])
    }

    @Test(arguments: [(16_000_000, 1...2), (170_000, 2_500...2_500)])
    func `the largest populations are possible`(count: Int, transactions: ClosedRange<Int>) {
        #expect(SeedPlan(customerCount: count, transactionCounts: transactions).seed == 4_711)
    }

    @Test func `what is beyond is a mistake of the caller`() async {
        await #expect(processExitsWith: .failure) { _ = SeedPlan(customerCount: 16_000_001) }
        await #expect(processExitsWith: .failure) {
            _ = SeedPlan(customerCount: 6, transactionCounts: 0...1)
        }
        await #expect(processExitsWith: .failure) {
            _ = SeedPlan(customerCount: 1_000_000, transactionCounts: 1_000...1_000)
        }
    }
}
