import Entitlements
import Testing

@Suite struct AccessDecisionTests {
    @Test(arguments: UInt64(1)...16)
    func `the answer agrees with the rules asked one by one`(seed: UInt64) {
        var random = RandomHistory(seed: seed)
        for _ in 0..<20 {
            let history = random.history()
            let policy = random.policy()
            let rules = ReferenceRules(history: history, policy: policy)
            let grants = history.grantsByProduct()
            let edges = rules.boundaries.flatMap { [$0 - 1, $0, $0 + 1] }
            for product in ["p", "q", "r"] {
                let records = grants[product] ?? []
                let list = GrantArray(sorted: records.map(\.grant))
                for t in edges {
                    let decision = list.fullDecision(at: t, under: policy)
                    let isGranted = rules.isGranted(product, at: t)
                    let isRight =
                        decision.isGranted == isGranted
                        && (isGranted || decision.reason == rules.denial(product, at: t))
                        && decision.validUntil == rules.validUntil(product, at: t)
                    guard isRight else {
                        Issue.record(
                            "seed \(seed), \(product) at \(t): \(decision), \(history), \(policy)")
                        return
                    }
                    #expect(list.decision(at: t, under: policy).reason == decision.reason)
                }
            }
        }
    }

    @Test(arguments: UInt64(100)...110)
    func `the transaction reported grants, and none that grants ends later`(seed: UInt64) {
        var random = RandomHistory(seed: seed)
        for _ in 0..<20 {
            let history = random.history()
            let policy = random.policy()
            let rules = ReferenceRules(history: history, policy: policy)
            for (product, records) in history.grantsByProduct() {
                let list = GrantArray(sorted: records.map(\.grant))
                for t in rules.boundaries {
                    let decision = list.fullDecision(at: t, under: policy)
                    guard decision.isGranted else { continue }
                    let id = records[decision.grantIndex].transactionID
                    guard let reported = history.transactions[id] else { continue }
                    #expect(rules.reason(reported, at: t) == decision.reason)
                    let end = rules.finalEnd(reported.transaction) ?? .max
                    for fact in history.transactions.values
                    where isSame(fact.transaction.productID, product.text)
                        && rules.reason(fact, at: t).isGranted
                    {
                        let other = rules.finalEnd(fact.transaction) ?? .max
                        #expect(other <= end, "seed \(seed) at \(t)")
                    }
                }
            }
        }
    }

    @Test(arguments: UInt64(200)...210)
    func `access changes only at boundary instants`(seed: UInt64) {
        var random = RandomHistory(seed: seed)
        for _ in 0..<8 {
            let history = random.history()
            let policy = random.policy()
            let rules = ReferenceRules(history: history, policy: policy)
            let boundaries = Set(rules.boundaries)
            for records in history.grantsByProduct().values {
                let list = GrantArray(sorted: records.map(\.grant))
                var last = list.decision(at: -21, under: policy).isGranted
                for t in Int64(-20)...600 {
                    let isGranted = list.decision(at: t, under: policy).isGranted
                    if isGranted != last { #expect(boundaries.contains(t), "seed \(seed), \(t)") }
                    last = isGranted
                }
            }
        }
    }

    @Test func `nothing bought and nothing started are two answers`() {
        #expect(CustomerHistory().reason(at: 0) == .noPurchase)
        let history = CustomerHistory(.sample(from: 100, to: 200))
        #expect(history.reason(at: 99) == .notStarted)
        #expect(history.decision(at: 99).validUntil == 100)
        #expect(history.decision(at: 99).grantIndex == -1)
    }

    @Test func `contiguous periods run through and a gap does not`() {
        let history = CustomerHistory(
            .sample("1", from: 100, to: 200), .sample("2", original: "1", from: 200, to: 300),
            .sample("3", original: "1", from: 301, to: 400))
        #expect(history.decision(at: 150).validUntil == 300)
        #expect(history.decision(at: 300).reason == .expired)
        #expect(history.decision(at: 300).validUntil == 301)
        #expect(history.decision(at: 301).validUntil == 400)
        #expect(history.decision(at: 400).validUntil == 0)
    }

    @Test func `a long first period outlives many short ones after it`() {
        var facts: [ExactName: TransactionFact] = [:]
        facts["1"] = TransactionFact(transaction: .sample("1", from: 0, to: 10_000))
        for index in 2...200 {
            let start = Int64(index) * 10
            facts["\(index)"] = TransactionFact(
                transaction: .sample("\(index)", original: "1", from: start, to: start + 5))
        }
        let history = CustomerHistory(transactions: facts)
        #expect(history.decision(at: 5_000).validUntil == 10_000)
        #expect(history.decision(at: 2_007).reason == .active)
        #expect(history.decision(at: 10_000).reason == .expired)
    }

    @Test func `an end that never comes is no end`() {
        let history = CustomerHistory(.lifetime(from: 100))
        #expect(history.decision(at: 100).validUntil == 0)
        #expect(history.decision(at: .max - 1).isGranted)
        #expect(history.decision(at: .min).reason == .notStarted)
    }

    @Test func `the denial is that of the newest purchase that has started`() {
        let history = CustomerHistory(
            .sample("1", from: 100, to: 150),
            .sample("2", from: 100, to: 150, signed: 120) { $0.revocationDate = instant(110) },
            .sample("3", from: 300, to: 400))
        // Equal purchase dates: the newer signature.
        #expect(history.reason(at: 250) == .refunded)
        #expect(history.decision(at: 250).validUntil == 300)
        let tie = CustomerHistory(
            .sample("9", from: 100, to: 150, signed: 100) { $0.revocationDate = instant(100) },
            .sample("10", from: 100, to: 150, signed: 100))
        // Equal signatures too: the greater id, as a number.
        #expect(tie.reason(at: 160) == .expired)
    }
}
