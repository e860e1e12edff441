import Entitlements
import Storage
import TestSupport
import Testing

@testable import Service

@Suite struct LongHistoryTakingTests {
    /// A history to which one event after the other is added; mostly of daily life.
    private struct Life {
        var random: RandomFacts
        var history = CustomerHistory()
        var clock: Int64 = 0
        var next = 10

        mutating func event() -> LongHistoryEvent {
            clock += Int64(random.generator.number(0...5))
            var event = LongHistoryEvent(changes: [], renewals: [], terms: [:])
            if !random.generator.oneIn(5) { event.changes.append(change()) }
            let chain = event.changes.first?.after.transaction.originalTransactionID ?? "1"
            if history.hasChain(chain), random.generator.oneIn(2) {
                event.renewals = [renew(chain)]
            }
            for change in event.changes {
                let chain = change.after.transaction.originalTransactionID
                event.terms[chain] = history.renewals[chain].map { RenewalTerms($0) }
            }
            return event
        }

        private mutating func change() -> LongHistoryEvent.Change {
            var transaction = random.daily("\(next)", at: clock)
            if random.generator.oneIn(12) { transaction = random.transaction("\(next)") }
            if random.generator.oneIn(3),
                let known = history.transactions.values.map(\.transaction)
                    .sorted(by: { $0.isNewerPurchase(than: $1) }).prefix(5).randomElement(
                        using: &random.generator)
            {
                transaction = known
                transaction.signedDate = max(
                    known.signedDate, Timestamp(milliseconds: clock + 3))
                if random.generator.oneIn(6) { transaction.expiresDate = random.date() }
                if random.generator.oneIn(12) { transaction.isUpgraded.toggle() }
            }
            next += 1
            let id = transaction.transactionID
            let before = history.transactions[id]
            let isChainNew = !history.hasChain(transaction.originalTransactionID)
            var fact = TransactionFact(
                transaction: transaction, evidence: before?.evidence ?? Evidence(),
                matched: before?.matched)
            fact.evidence.grantNotification = Timestamp(
                milliseconds: max(
                    clock, fact.evidence.grantNotification?.milliseconds ?? .min))
            history.transactions[id] = fact
            return LongHistoryEvent.Change(
                before: before, after: fact, isChainNew: isChainNew)
        }

        private mutating func renew(_ chain: String) -> RenewalInfo {
            let signed = max(
                clock, history.renewals[chain]?.signedDate.milliseconds ?? .min)
            var renewal = RenewalInfo(
                originalTransactionID: chain, signedDate: Timestamp(milliseconds: signed))
            renewal.isInBillingRetryPeriod = random.generator.oneIn(3)
            renewal.gracePeriodExpiresDate = random.generator.oneIn(3) ? random.date() : nil
            history.renewals[chain] = renewal
            return renewal
        }
    }

    /// After every event: what was taken in without the older facts is what all facts give.
    @Test(arguments: 0..<120)
    func `an event taken in gives what the whole history gives`(seed: UInt64) {
        var life = Life(random: RandomFacts(seed: seed))
        var known: LongHistory?
        var counts = (taken: 0, refused: 0)
        for _ in 0..<60 {
            let event = life.event()
            let fold = Fold(FactSet(life.history), renewals: life.history.renewals)
            let expected = LongHistory(fold, limits: shortLimits)
            if let taken = known?.taking(event, limits: shortLimits) {
                counts.taken += 1
                #expect(taken == expected)
            } else if known != nil {
                counts.refused += 1
            }
            known = expected
        }
        #expect(counts.taken > 0 || life.history.chainCount > 12 || known == nil)
    }

    @Test func `daily life is taken in`() {
        var random = RandomFacts(seed: 11)
        var facts = FactSet()
        for number in 0..<9 {
            facts.put(
                TransactionFact(transaction: random.daily("1\(number)", at: Int64(number))))
        }
        var known = LongHistory(Fold(facts, renewals: [:]), limits: shortLimits)
        for number in 10..<60 {
            let transaction = random.daily("1\(number)", at: Int64(number) * 40)
            let isChainNew = !facts.values.contains {
                isSame(
                    $0.transaction.originalTransactionID, transaction.originalTransactionID)
            }
            let fact = TransactionFact(transaction: transaction)
            facts.put(fact)
            let event = LongHistoryEvent(
                changes: [.init(before: nil, after: fact, isChainNew: isChainNew)], renewals: [],
                terms: [:])
            let taken = known?.taking(event, limits: shortLimits)
            #expect(taken != nil)
            #expect(taken == LongHistory(Fold(facts, renewals: [:]), limits: shortLimits))
            known = taken
        }
    }

    @Test func `a refund, a family copy and an upgrade take the whole history`() {
        var random = RandomFacts(seed: 12)
        var facts = FactSet()
        for number in 0..<9 {
            facts.put(
                TransactionFact(transaction: random.daily("1\(number)", at: Int64(number))))
        }
        let known = LongHistory(Fold(facts, renewals: [:]), limits: shortLimits)
        var refunded = random.daily("50", at: 100)
        refunded.revocationDate = Timestamp(milliseconds: 101)
        var shared = random.daily("51", at: 100)
        shared.rawOwnership = "FAMILY_SHARED"
        var upgraded = random.daily("52", at: 100)
        upgraded.isUpgraded = true
        for transaction in [refunded, shared, upgraded] {
            let change = LongHistoryEvent.Change(
                before: nil, after: TransactionFact(transaction: transaction), isChainNew: true)
            let event = LongHistoryEvent(changes: [change], renewals: [], terms: [:])
            #expect(known?.taking(event, limits: shortLimits) == nil)
        }
        let plain = LongHistoryEvent.Change(
            before: nil, after: TransactionFact(transaction: random.daily("53", at: 100)),
            isChainNew: true)
        let event = LongHistoryEvent(changes: [plain], renewals: [], terms: [:])
        #expect(known?.taking(event, limits: shortLimits) != nil)
    }
}

extension CustomerHistory {
    fileprivate func hasChain(_ chain: String) -> Bool {
        transactions.values.contains { isSame($0.transaction.originalTransactionID, chain) }
    }

    fileprivate var chainCount: Int {
        Set(transactions.values.map { ExactName($0.transaction.originalTransactionID) }).count
    }
}
