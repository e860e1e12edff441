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
                    .sorted(by: { $0.isNewerPurchase(than: $1) }).prefix(9).randomElement(
                        using: &random.generator)
            {
                transaction = known
                transaction.signedDate = max(
                    known.signedDate, Timestamp(milliseconds: clock + 3))
                if random.generator.oneIn(6) { transaction.expiresDate = random.date() }
                if random.generator.oneIn(12) { transaction.isUpgraded.toggle() }
                if random.generator.oneIn(4) { random.revoke(&transaction, at: clock) }
            } else if random.generator.oneIn(8) {
                transaction.rawOwnership = "FAMILY_SHARED"
            } else if random.generator.oneIn(8) {
                transaction.isUpgraded = true
            }
            next += 1
            let id = transaction.transactionID
            let before = history.transactions[id]
            let isChainNew = !history.hasChain(transaction.originalTransactionID)
            var fact = TransactionFact(
                transaction: transaction, evidence: before?.evidence ?? Evidence(),
                matched: before?.matched)
            var evidence = Evidence()
            if transaction.revocationDate != nil { evidence.datedCopy = transaction.signedDate }
            if random.generator.oneIn(6) {
                evidence.datelessRevoke = Timestamp(milliseconds: clock)
            } else {
                evidence.grantNotification = Timestamp(milliseconds: clock)
            }
            fact.evidence.merge(evidence)
            if random.generator.oneIn(6) { fact.matched = random.matched() }
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

    /// Nine renewals of one chain, each of which ends with the next; and what a server has at hand.
    private struct Subscriber {
        var facts = FactSet()
        /// Of each change whether it was taken in without the older facts.
        var outcomes: [Bool] = []

        init() {
            for number in 10..<19 { facts.put(fact("\(number)", at: Int64(number) * 100)) }
        }

        func fact(_ id: String, at date: Int64) -> TransactionFact {
            var transaction = Transaction(
                transactionID: id, originalTransactionID: "10", productID: "p",
                rawType: "Auto-Renewable Subscription", rawOwnership: "PURCHASED",
                purchaseDate: Timestamp(milliseconds: date),
                signedDate: Timestamp(milliseconds: date + 1))
            transaction.expiresDate = Timestamp(milliseconds: date + 100)
            transaction.subscriptionGroupID = "g"
            return TransactionFact(transaction: transaction)
        }

        /// Takes a change in, and compares with what all facts give.
        mutating func take(_ fact: TransactionFact) {
            let known = LongHistory(Fold(facts, renewals: [:]), limits: shortLimits)
            let id = fact.transaction.transactionID
            let change = LongHistoryEvent.Change(
                before: facts[id], after: fact, isChainNew: false)
            facts.put(fact)
            let event = LongHistoryEvent(changes: [change], renewals: [], terms: [:])
            let taken = known?.taking(event, limits: shortLimits)
            let expected = LongHistory(Fold(facts, renewals: [:]), limits: shortLimits)
            #expect(taken == nil || taken == expected)
            outcomes.append(taken != nil)
        }

        /// The same transaction, signed anew.
        mutating func again(
            _ id: String, at date: Int64, _ change: (inout Transaction) -> Void
        ) {
            guard var fact = facts[id] else { return outcomes.append(false) }
            fact.transaction.signedDate = Timestamp(milliseconds: date)
            change(&fact.transaction)
            take(fact)
        }
    }

    @Test(arguments: ["18", "17", "11"])
    func `a refund and its reversal are taken in, of new purchases and of old ones`(id: String) {
        var subscriber = Subscriber()
        subscriber.again(id, at: 2_000) { $0.revocationDate = Timestamp(milliseconds: 1_990) }
        subscriber.again(id, at: 2_010) { $0.revocationDate = nil }
        subscriber.take(subscriber.fact("19", at: 2_020))
        #expect(subscriber.outcomes == [true, true, true])
    }

    @Test func `a family copy and its two kinds of REVOKE are taken in`() {
        var subscriber = Subscriber()
        var copy = subscriber.fact("19", at: 1_900)
        copy.transaction.rawOwnership = "FAMILY_SHARED"
        subscriber.take(copy)
        copy.evidence.datelessRevoke = Timestamp(milliseconds: 1_950)
        subscriber.take(copy)
        subscriber.again("19", at: 1_960) {
            $0.revocationDate = Timestamp(milliseconds: 1_955)
            $0.revocationType = "FAMILY_REVOKE"
        }
        #expect(subscriber.outcomes == [true, true, true])
    }

    @Test func `the recognised purchase behind a copy is taken in, and its refund`() {
        var subscriber = Subscriber()
        var copy = subscriber.fact("19", at: 1_900)
        copy.transaction.rawOwnership = "FAMILY_SHARED"
        subscriber.take(copy)
        for refund in [nil, Timestamp(milliseconds: 1_950), nil] {
            copy.matched = MatchedPurchase(
                transactionID: "90", kind: .strong,
                refund: refund.map { PurchaseRefund(date: $0, isProrated: false, signedDate: $0) })
            subscriber.take(copy)
        }
        // The date of the refund was the newest of all: what is the newest now takes all facts.
        #expect(subscriber.outcomes == [true, true, true, false])
    }

    @Test func `an upgrade is taken in before and after what follows it`() {
        var subscriber = Subscriber()
        subscriber.again("18", at: 1_850) { $0.isUpgraded = true }
        var next = subscriber.fact("19", at: 1_850)
        next.transaction.productID = "q"
        subscriber.take(next)
        next = subscriber.fact("20", at: 1_900)
        subscriber.take(next)
        subscriber.again("19", at: 1_910) { $0.isUpgraded = true }
        subscriber.again("19", at: 1_920) { $0.isUpgraded = false }
        #expect(subscriber.outcomes == [true, true, true, true, true])
    }

    @Test func `what gives access again and was left out takes the whole history`() {
        var subscriber = Subscriber()
        subscriber.again("11", at: 1_900) { $0.expiresDate = Timestamp(milliseconds: 9_000) }
        #expect(subscriber.outcomes == [false])
    }

    @Test func `what comes years late among what was upgraded takes the whole history`() {
        var subscriber = Subscriber()
        subscriber.again("12", at: 1_900) { $0.isUpgraded = true }
        subscriber.take(subscriber.fact("1x", at: 1_250))
        #expect(subscriber.outcomes == [true, false])
    }
}

extension RandomFacts {
    /// A refund or what a family's REVOKE says, or none any more.
    fileprivate mutating func revoke(_ transaction: inout Transaction, at date: Int64) {
        let isRevoked = transaction.revocationDate == nil
        transaction.revocationDate = isRevoked ? Timestamp(milliseconds: date) : nil
        transaction.revocationType =
            isRevoked
            ? generator.pick([nil, "REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE"]) : nil
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
