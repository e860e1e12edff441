internal import Entitlements

/// What happens to the population of a plan after it was seeded: every event is one notification
/// of Apple's that somebody bought or renewed, and all about it is computed from its number.
///
/// Event `e` brings customer `customer(of: e)` a transaction that no event before brought: it runs
/// longer than all he has, so from the answer to its ingest on a check has to name it, or a later
/// one. Neighbouring events are of customers far apart.
struct WriteEvents: Hashable, Sendable {
    /// Whom they happen to.
    let plan: SeedPlan

    /// 2026-03-01: when event 0 was bought; past everything of the plan.
    private static let purchase: Int64 = 1_772_323_200_000
    /// Between two events.
    private static let step: Int64 = 100
    /// Both are prime, so that one of them has no factor in common with any number of customers up
    /// to their product, which is beyond `SeedPlan.customerCountMax`.
    private static let strides = [7_919, 7_927]

    private var stride: Int {
        plan.customerCount % Self.strides[0] == 0 ? Self.strides[1] : Self.strides[0]
    }

    /// To whom event `event` happens.
    ///
    /// - Precondition: there are customers.
    func customer(of event: Int) -> Int {
        (event % plan.customerCount) * stride % plan.customerCount
    }

    /// How many events happened to the same customer before.
    func round(of event: Int) -> Int { event / plan.customerCount }

    /// The id of the transaction that the `round`-th event of customer `index` brings.
    func transactionID(of index: Int, round: Int) -> String {
        plan.transactionID(of: index, period: plan.lastPeriod(of: index) + 1 + round)
    }

    /// When the transaction of that round ends: each ends a day after the one before.
    private func end(round: Int) -> Int64 { SeedCalendar.end + Int64(round + 1) * 86_400_000 }

    /// The transaction that event `event` brings.
    func transaction(_ event: Int) -> SeedTransaction {
        transaction(event, of: customer(of: event), round: round(of: event))
    }

    private func transaction(_ event: Int, of index: Int, round: Int) -> SeedTransaction {
        let purchase = Self.purchase + Int64(event) * Self.step
        return SeedTransaction(
            transactionID: transactionID(of: index, round: round),
            originalTransactionID: plan.transactionID(
                of: index, period: plan.firstPeriod(of: index)),
            productID: plan.product(of: index), isShared: false, purchaseDate: purchase,
            expiresDate: end(round: round), revocationDate: 0, signedDate: purchase + 3_000,
            appAccountToken: plan.token(of: index, plan.kind(of: index)),
            appTransactionID: plan.appTransactionID(of: index), lineItemID: nil)
    }

    /// The renewal info that comes with a transaction.
    func renewal(with transaction: SeedTransaction) -> SeedRenewal {
        SeedRenewal(
            originalTransactionID: transaction.originalTransactionID,
            productID: transaction.productID, renewalDate: transaction.expiresDate,
            signedDate: transaction.signedDate, isRetrying: false)
    }

    /// The notification that carries both.
    func notification(_ event: Int) -> SeedNotification {
        notification(uuid(event), after: transaction(event))
    }

    private func notification(
        _ uuid: String, after transaction: SeedTransaction
    ) -> SeedNotification {
        SeedNotification(
            type: "DID_RENEW", uuid: uuid, signedDate: transaction.signedDate + 500, status: 1)
    }

    /// The `round`-th event of a heavy customer, to whom no numbered event happens.
    func heavyEvent(
        of index: Int, round: Int
    ) -> (notification: SeedNotification, transaction: SeedTransaction) {
        let transaction = transaction(round, of: index, round: round)
        // Numbers that no run of events reaches.
        let uuid = uuid(1 << 44 + index << 16 + round)
        return (notification(uuid, after: transaction), transaction)
    }

    /// Its notificationUUID, which no other event of the plan has.
    func uuid(_ event: Int) -> String {
        let digits = Array(String(UInt64(event), radix: 16))
        let low = String(repeating: "0", count: 12 - digits.count) + String(digits)
        let seed = Array(String(plan.seed & 0xFFFF_FFFF, radix: 16))
        let high = String(repeating: "0", count: 8 - seed.count) + String(seed)
        return "\(high)-0000-4000-8000-\(low)"
    }

    /// What a server has to answer about customer `index` once so many events of his have been
    /// acknowledged; none: what it answers about the seeded one.
    func expectation(of index: Int, afterRounds count: Int) -> SeedExpectation {
        var expected = plan.expectation(of: index)
        guard count > 0 else { return expected }
        expected.reason = .active
        expected.ownership = .purchased
        expected.transactionID = transactionID(of: index, round: count - 1)
        expected.validUntil = end(round: count - 1)
        return expected
    }

    /// How many events of customer `index` a server knew that named `transactionID`; nil when it is
    /// none that he can have.
    func roundCount(of index: Int, naming transactionID: String) -> Int? {
        if transactionID == plan.expectation(of: index).transactionID { return 0 }
        guard let id = UInt64(transactionID),
            let first = UInt64(self.transactionID(of: index, round: 0)), id >= first,
            id - first < UInt64(SeedPlan.transactionCountMax)
        else { return nil }
        return Int(id - first) + 1
    }
}
