import Entitlements

/// Small random histories in which dates coincide, periods touch and everything odd happens.
struct RandomHistory {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func date() -> Timestamp { instant(Int64(generator.next() % 25) * 10) }

    mutating func optionalDate(oneIn count: UInt64) -> Timestamp? {
        generator.oneIn(count) ? date() : nil
    }

    mutating func transaction(_ id: Int, shared: Bool? = nil) -> Transaction {
        let type = generator.pick([
            "Auto-Renewable Subscription", "Auto-Renewable Subscription", "Non-Consumable",
            "Non-Renewing Subscription", "Consumable", "Seat License",
        ])
        let ownership = generator.pick([
            "PURCHASED", "PURCHASED", "FAMILY_SHARED", "FAMILY_SHARED", "ASSIGNED", "LENT",
        ])
        let start = date()
        let chain = generator.pick(["1", "2", "\(id)"])
        var x = Transaction.sample(
            "\(id)", original: chain, product: generator.pick(["p", "p", "q"]), type: type,
            ownership: shared == true ? "FAMILY_SHARED" : ownership,
            from: generator.oneIn(20) ? nil : start.milliseconds,
            to: generator.oneIn(20)
                ? nil : start.milliseconds + Int64(generator.next() % 12) * 10 - 10,
            signed: date().milliseconds)
        x.subscriptionGroupID = generator.pick([nil, "g", "h"])
        x.isUpgraded = generator.oneIn(6)
        if generator.oneIn(3) {
            x.revocationDate = date()
            x.revocationReason = generator.pick([nil, 0, 1])
            x.revocationType = generator.pick([
                nil, nil, "REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE", "ASSIGNMENT_REVOKE",
                "LATER_TYPE",
            ])
        }
        return x
    }

    mutating func evidence() -> Evidence {
        var evidence = Evidence()
        evidence.datelessRevoke = optionalDate(oneIn: 3)
        evidence.grantNotification = optionalDate(oneIn: 4)
        evidence.activeStatus = optionalDate(oneIn: 5)
        evidence.datedCopy = optionalDate(oneIn: 5)
        return evidence
    }

    /// A purchase that somebody recognised; the rules ask whether it matters.
    mutating func matched() -> MatchedPurchase? {
        guard generator.oneIn(2) else { return nil }
        let refund = PurchaseRefund(
            date: date(), isProrated: generator.oneIn(3), signedDate: date())
        return MatchedPurchase(
            transactionID: "90", kind: generator.pick([.likely, .strong]),
            refund: generator.oneIn(4) ? nil : refund)
    }

    mutating func history() -> CustomerHistory {
        var history = CustomerHistory()
        for id in 1...Int(1 + generator.next() % 7) {
            history.transactions["\(id)"] = TransactionFact(
                transaction: transaction(id), evidence: evidence(), matched: matched())
        }
        for chain in ["1", "2", "3"] where generator.oneIn(2) {
            history.renewals[chain] = .sample(
                chain, signed: date().milliseconds, retry: generator.oneIn(2),
                grace: optionalDate(oneIn: 2)?.milliseconds)
        }
        if generator.oneIn(2) {
            history.householdPurchases = (50...Int(50 + generator.next() % 4)).compactMap {
                HouseholdPurchase(transaction($0))
            }
        }
        return history
    }

    mutating func policy() -> ProductPolicy {
        ProductPolicy(
            duration: generator.pick([0, 30, 70]), keepsProratedRefunds: generator.oneIn(2),
            familyCut: generator.pick([.off, .declared, .matched, .matched]))
    }
}
