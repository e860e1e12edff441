import Entitlements
import SnapshotTable
import Storage
import TestSupport
import Testing

@testable import Service

/// Small limits, so that short random histories are long ones.
let shortLimits = LongHistoryLimits(transactionCountMax: 4, headCount: 2, chainCountMax: 12)

@Suite struct LongHistoryTests {
    private static let policies = [
        ProductPolicy(), ProductPolicy(duration: 40),
        ProductPolicy(duration: 70, keepsProratedRefunds: true, familyCut: .off),
        ProductPolicy(keepsProratedRefunds: true, familyCut: .matched),
    ]

    /// Compares what a long snapshot answers with what all facts answer.
    private func compareAnswers(_ long: LongHistory, _ fold: Fold, _ random: inout RandomFacts) {
        let snapshot = long.snapshot
        let view = SnapshotView(snapshot.span)
        var isSound = view.isWellFormed && view.productCount == fold.products.count
        for (index, product) in fold.products.enumerated() {
            isSound = isSound && view.reaches(back: view.newestSignedDate, ofProductAt: index)
            for policy in Self.policies {
                for _ in 0..<12 {
                    let instant =
                        random.date().milliseconds + Int64(random.generator.number(-1...1))
                    guard view.reaches(back: instant, ofProductAt: index) else { continue }
                    let grants = view.grants(ofProductAt: index)
                    let expected = fold.grants(of: product)
                        .fullDecision(at: instant, under: policy)
                    isSound = isSound && grants.fullDecision(at: instant, under: policy) == expected
                    isSound =
                        isSound && grants.quickDecision(at: instant, under: policy) == expected
                }
            }
        }
        #expect(isSound)
    }

    @Test(arguments: 0..<300)
    func `from the horizon on a head answers as all grants do`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let history = random.history(countMax: 24)
        let fold = Fold(FactSet(history), renewals: history.renewals)
        guard let long = LongHistory(fold, limits: shortLimits) else {
            let facts = history.transactions.values.map(\.transaction)
            let chains = Set(
                facts.filter { $0.type == .autoRenewable || $0.isUpgraded }
                    .map { ExactName($0.originalTransactionID) })
            let groups = Set(facts.compactMap { $0.subscriptionGroupID.map { ExactName($0) } })
            #expect(facts.count <= 4 || chains.count + groups.count > 12)
            return
        }
        compareAnswers(long, fold, &random)
        #expect(LongHistory(snapshot: long.snapshot) == long)
    }

    @Test func `a short history is none, nor is one of too many chains`() {
        var random = RandomFacts(seed: 3)
        var facts = FactSet()
        for number in 0..<4 {
            facts.put(TransactionFact(transaction: random.daily("\(number)", at: Int64(number))))
        }
        let limits = LongHistoryLimits(transactionCountMax: 4, headCount: 2, chainCountMax: 0)
        #expect(LongHistory(Fold(facts, renewals: [:]), limits: shortLimits) == nil)
        facts.put(TransactionFact(transaction: random.daily("4", at: 4)))
        #expect(LongHistory(Fold(facts, renewals: [:]), limits: shortLimits) != nil)
        #expect(LongHistory(Fold(facts, renewals: [:]), limits: limits) == nil)
    }

    @Test func `what is no long snapshot is not taken for one`() {
        var random = RandomFacts(seed: 5)
        var facts = FactSet()
        for number in 0..<9 {
            facts.put(TransactionFact(transaction: random.daily("\(number)", at: Int64(number))))
        }
        let fold = Fold(facts, renewals: [:])
        #expect(LongHistory(snapshot: fold.snapshot) == nil)
        let snapshot = LongHistory(fold, limits: shortLimits)?.snapshot ?? []
        #expect(LongHistory(snapshot: snapshot) != nil)
        for count in 0..<snapshot.count {
            let cut = LongHistory(snapshot: Array(snapshot.prefix(count)))
            #expect(cut == nil || count == 0 && snapshot.isEmpty)
        }
    }
}

extension RandomFacts {
    /// A transaction of daily life: bought at `date` and signed soon after.
    mutating func daily(_ id: String, at date: Int64) -> Transaction {
        let isRenewing = generator.oneIn(2)
        let chain = isRenewing ? generator.pick(["1", "10"]) : id
        var transaction = Transaction(
            transactionID: id, originalTransactionID: chain,
            productID: isRenewing ? "p" : generator.pick(["c", "n"]),
            rawType: isRenewing
                ? "Auto-Renewable Subscription"
                : generator.pick(["Consumable", "Consumable", "Non-Consumable"]),
            rawOwnership: "PURCHASED", purchaseDate: Timestamp(milliseconds: date),
            signedDate: Timestamp(milliseconds: date + Int64(generator.number(0...2))))
        if isRenewing {
            transaction.subscriptionGroupID = "g"
            transaction.expiresDate = Timestamp(
                milliseconds: date + Int64(generator.number(0...30)))
        }
        return transaction
    }
}
