import Entitlements
import Storage
import TestSupport

@testable import Service

/// Small random histories in which dates coincide, periods touch and everything odd happens.
struct RandomFacts {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func date() -> Timestamp {
        Timestamp(milliseconds: Int64(generator.number(0...25)) * 10)
    }

    mutating func optionalDate(oneIn count: UInt64) -> Timestamp? {
        generator.oneIn(count) ? date() : nil
    }

    /// A transaction; ids of one to three digits and some that are no numbers.
    mutating func transaction(_ id: String, products: [String] = ["p", "p", "q"]) -> Transaction {
        let start = date()
        var transaction = Transaction(
            transactionID: id, originalTransactionID: generator.pick(["1", "2", "10", id]),
            productID: generator.pick(products),
            rawType: generator.pick([
                "Auto-Renewable Subscription", "Auto-Renewable Subscription", "Non-Consumable",
                "Non-Renewing Subscription", "Consumable", "Seat License",
            ]),
            rawOwnership: generator.pick([
                "PURCHASED", "PURCHASED", "FAMILY_SHARED", "FAMILY_SHARED", "ASSIGNED", "LENT",
            ]), purchaseDate: generator.oneIn(20) ? nil : start, signedDate: date())
        if transaction.type == .autoRenewable, !generator.oneIn(20) {
            transaction.expiresDate = start.adding(
                milliseconds: Int64(generator.number(-1...11)) * 10)
        }
        transaction.subscriptionGroupID = generator.pick([nil, "g", "1"])
        transaction.isUpgraded = generator.oneIn(6)
        transaction.appTransactionID = generator.pick([nil, "a", "b"])
        if generator.oneIn(3) {
            transaction.revocationDate = date()
            transaction.revocationReason = generator.pick([nil, 0, 1])
            transaction.revocationType = generator.pick([
                nil, nil, "REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE", "ASSIGNMENT_REVOKE",
                "LATER_TYPE",
            ])
        }
        return transaction
    }

    mutating func evidence() -> Evidence {
        var evidence = Evidence()
        evidence.datelessRevoke = optionalDate(oneIn: 3)
        evidence.grantNotification = optionalDate(oneIn: 4)
        evidence.activeStatus = optionalDate(oneIn: 5)
        evidence.datedCopy = optionalDate(oneIn: 5)
        return evidence
    }

    mutating func matched() -> MatchedPurchase? {
        guard generator.oneIn(2) else { return nil }
        let refund = PurchaseRefund(
            date: date(), isProrated: generator.oneIn(3), signedDate: date())
        return MatchedPurchase(
            transactionID: "90", kind: generator.pick([.likely, .strong]),
            refund: generator.oneIn(4) ? nil : refund)
    }

    /// A history of up to `countMax` transactions.
    mutating func history(countMax: Int = 9) -> CustomerHistory {
        var history = CustomerHistory()
        for number in 0..<generator.number(0...countMax) {
            let id = generator.pick(["\(number)", "\(number)0", "\(number)x", "1\(number)"])
            history.transactions[id] = TransactionFact(
                transaction: transaction(id), evidence: evidence(), matched: matched())
        }
        for chain in ["1", "2", "10", "3"] where generator.oneIn(2) {
            var renewal = RenewalInfo(originalTransactionID: chain, signedDate: date())
            renewal.isInBillingRetryPeriod = generator.oneIn(2)
            renewal.gracePeriodExpiresDate = optionalDate(oneIn: 2)
            history.renewals[chain] = renewal
        }
        return history
    }
}

extension FactSet {
    /// The facts of a history.
    init(_ history: CustomerHistory) {
        self.init()
        for fact in history.transactions.values { put(fact) }
    }
}
