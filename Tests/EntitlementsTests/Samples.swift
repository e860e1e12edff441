import Entitlements

/// A short name for an instant: small numbers read well.
func instant(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

extension Transaction {
    /// An auto-renewable purchase of `product`, or what the arguments make of it.
    static func sample(
        _ id: String = "1", original: String? = nil, product: String = "p",
        type: String = "Auto-Renewable Subscription", ownership: String = "PURCHASED",
        from: Int64? = 100, to: Int64? = 200, signed: Int64? = nil,
        _ change: (inout Transaction) -> Void = { _ in }
    ) -> Transaction {
        var transaction = Transaction(
            transactionID: id, originalTransactionID: original ?? id, productID: product,
            rawType: type, rawOwnership: ownership, purchaseDate: from.map(instant),
            signedDate: instant(signed ?? from ?? 0))
        if type == "Auto-Renewable Subscription" {
            transaction.expiresDate = to.map(instant)
            transaction.subscriptionGroupID = "g"
        }
        change(&transaction)
        return transaction
    }

    /// A non-consumable.
    static func lifetime(
        _ id: String = "1", ownership: String = "PURCHASED", from: Int64? = 100,
        signed: Int64? = nil, _ change: (inout Transaction) -> Void = { _ in }
    ) -> Transaction {
        sample(
            id, type: "Non-Consumable", ownership: ownership, from: from, signed: signed, change)
    }
}

extension CustomerHistory {
    /// A history of these transactions.
    init(
        _ transactions: Transaction..., evidence: [String: Evidence] = [:],
        renewals: [RenewalInfo] = [], household: [Transaction] = []
    ) {
        var facts: [ExactName: TransactionFact] = [:]
        for transaction in transactions {
            let id = transaction.transactionID
            facts[id] = TransactionFact(
                transaction: transaction, evidence: evidence[id] ?? Evidence())
        }
        self.init(
            transactions: facts,
            renewals: Dictionary(
                uniqueKeysWithValues: renewals.map { (ExactName($0.originalTransactionID), $0) }),
            householdPurchases: household.compactMap { HouseholdPurchase($0) })
    }

    /// The answer about `product` at `milliseconds`.
    func decision(
        _ product: String = "p", at milliseconds: Int64, under policy: ProductPolicy = .init()
    ) -> AccessDecision {
        let records = grantsByProduct()[product] ?? []
        return GrantArray(sorted: records.map(\.grant))
            .fullDecision(at: milliseconds, under: policy)
    }

    /// The reason about `product` at `milliseconds`.
    func reason(
        _ product: String = "p", at milliseconds: Int64, under policy: ProductPolicy = .init()
    ) -> AccessReason {
        decision(product, at: milliseconds, under: policy).reason
    }
}

extension RenewalInfo {
    static func sample(
        _ chain: String = "1", signed: Int64 = 100, retry: Bool = false, grace: Int64? = nil
    ) -> RenewalInfo {
        var renewal = RenewalInfo(originalTransactionID: chain, signedDate: instant(signed))
        renewal.isInBillingRetryPeriod = retry
        renewal.gracePeriodExpiresDate = grace.map(instant)
        return renewal
    }
}

/// SplitMix64: the same numbers for the same seed, on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func oneIn(_ count: UInt64) -> Bool { next() % count == 0 }

    mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[Int(next() % UInt64(choices.count))]
    }
}
