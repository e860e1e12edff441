internal import Wire

/// The rules of verdicts for one person, told a second time from the contract: what grants, from
/// when until when, and for which reason.
struct VerdictModel: Sendable {
    /// What is expected of an answer.
    struct Verdict: Equatable, Sendable {
        var reason: Message.Reason
        var isGranted: Bool { reason == .active || reason == .gracePeriod }
        /// When it flips by itself, in ms since 1970; 0: never.
        var validUntil: Int64
        /// The transactions that may be named; none: no transaction is named.
        var transactions: [Int] = []
    }

    /// Half-open; empty where the transaction never grants.
    private struct Interval {
        var start: Int64
        var stop: Int64
    }

    private let facts: [FamilyModel.Held]
    private let renewals: [RenewalCopy]
    private let purchases: [TransactionCopy]
    private let catalog: SimulatedCatalog
    /// Whether anybody is known under the name that was asked for.
    let isKnown: Bool
    /// "Now" is never before it.
    let newestDate: Int64

    init(of person: FamilyModel.Person, in family: FamilyModel, _ catalog: SimulatedCatalog) {
        isKnown = person != .unknown
        let facts = family.transactions(of: person)
        self.facts = facts
        renewals = family.renewals.filter { renewal in
            facts.contains { $0.copy.chain == renewal.chain }
        }
        purchases = family.householdPurchases(of: person)
        self.catalog = catalog
        let dates = facts.map(\.newestDate) + renewals.map(\.signed) + purchases.map(\.signed)
        newestDate = dates.max() ?? .min
    }

    /// The answer about a product.
    func verdict(on product: SimulatedProduct, at instant: Int64) -> Verdict {
        guard isKnown else { return Verdict(reason: .unknownCustomer, validUntil: 0) }
        let mine = facts.filter { $0.copy.product == product }
        guard !mine.isEmpty else { return Verdict(reason: .noPurchase, validUntil: 0) }
        let validUntil = flip(of: mine, after: instant)
        let granting = mine.filter { isGranted(reason(of: $0, at: instant)) }
        if let latest = granting.map(end).max() {
            let reported = granting.filter { end($0) == latest }
            return Verdict(
                reason: reason(of: reported[0], at: instant), validUntil: validUntil,
                transactions: reported.map(\.copy.number))
        }
        let started = mine.filter { $0.copy.purchased <= instant }
        guard let newest = started.max(by: { isNewer($1.copy, than: $0.copy) }) else {
            return Verdict(reason: .notStarted, validUntil: validUntil)
        }
        return Verdict(
            reason: reason(of: newest, at: instant), validUntil: validUntil,
            transactions: [newest.copy.number])
    }

    /// The answer about the entitlement; the reason of a no is left open by the contract.
    func verdictOnEntitlement(at instant: Int64) -> Verdict {
        guard isKnown else { return Verdict(reason: .unknownCustomer, validUntil: 0) }
        let mine = facts.filter { catalog.plus.contains($0.copy.product) }
        guard !mine.isEmpty else { return Verdict(reason: .noPurchase, validUntil: 0) }
        let isGranted = mine.contains { self.isGranted(reason(of: $0, at: instant)) }
        return Verdict(
            reason: isGranted ? .active : .expired, validUntil: flip(of: mine, after: instant))
    }

    private func isGranted(_ reason: Message.Reason) -> Bool {
        reason == .active || reason == .gracePeriod
    }
}

// MARK: - One transaction

extension VerdictModel {
    private func reason(of held: FamilyModel.Held, at instant: Int64) -> Message.Reason {
        let copy = held.copy
        if let reason = impossibility(of: copy) { return reason }
        if copy.purchased > instant { return .notStarted }
        if instant >= revoked(held) { return cause(held) }
        if instant >= suspended(held) { return .familySuspended }
        if instant >= upgraded(held) { return .upgraded }
        if instant >= end(held) {
            return renewal(of: copy)?.isInBillingRetry == true ? .billingRetry : .expired
        }
        return instant >= paidEnd(copy) ? .gracePeriod : .active
    }

    private func impossibility(of copy: TransactionCopy) -> Message.Reason? {
        switch copy.product {
        case .month, .pro, .lifetime: nil
        case .season where copy.isShared: .notShareable
        case .season: catalog.seasonDuration > 0 ? nil : .incomplete
        case .coins: copy.isShared ? .notShareable : .consumable
        }
    }

    private func keepsProrated(_ product: SimulatedProduct) -> Bool {
        switch product {
        case .season: catalog.keepsProratedSeason
        case .lifetime: catalog.keepsProratedLifetime
        case .month, .pro, .coins: false
        }
    }

    /// From when on it is revoked, by its own copy or by a REVOKE without a date.
    private func revoked(_ held: FamilyModel.Held) -> Int64 {
        let copy = held.copy
        var instant = Int64.max
        let isKept = copy.revocationType == "REFUND_PRORATED" && keepsProrated(copy.product)
        if let date = copy.revoked, !isKept { instant = min(date, copy.signed) }
        return min(instant, overridden(held))
    }

    private func overridden(_ held: FamilyModel.Held) -> Int64 {
        guard held.copy.isShared, let revoke = held.datelessRevoke else { return .max }
        if let grant = held.grantNotification, grant > revoke { return .max }
        if let status = held.activeStatus, status > revoke { return .max }
        if let dated = held.datedCopy, dated > revoke, held.copy.revoked == nil,
            held.copy.signed > dated
        {
            return .max
        }
        return revoke
    }

    /// Whether a REVOKE without a date has ended it, and nothing has cleared that.
    func isOverridden(_ held: FamilyModel.Held) -> Bool { overridden(held) != .max }

    /// The cause of a revocation, row by row.
    private func cause(_ held: FamilyModel.Held) -> Message.Reason {
        let copy = held.copy
        switch copy.revocationType {
        case "REFUND_FULL", "REFUND_PRORATED": return copy.isShared ? .familyRefunded : .refunded
        case "FAMILY_REVOKE": return .familyLeft
        default: break
        }
        guard copy.isShared else { return .refunded }
        if copy.revocationReason == 1 && copy.revoked != nil { return .familyRefunded }
        if refundedBuyers(of: copy) != nil { return .familyRefunded }
        return copy.revoked != nil ? .familyRefunded : .familyLeft
    }

    /// The purchases of the household behind a shared copy, when there is one and all are refunded.
    private func refundedBuyers(of copy: TransactionCopy) -> [TransactionCopy]? {
        guard copy.isShared else { return nil }
        let behind = purchases.filter {
            $0.product == copy.product && $0.purchased < period(copy).upperBound
                && copy.purchased < period($0).upperBound
        }
        guard !behind.isEmpty, behind.allSatisfy({ $0.revoked != nil }) else { return nil }
        return behind
    }

    private func period(_ copy: TransactionCopy) -> Range<Int64> {
        let end = copy.product.renews ? copy.expires ?? .max : .max
        return copy.purchased..<max(copy.purchased, end)
    }

    /// From when on the household's refund suspends a shared copy.
    private func suspended(_ held: FamilyModel.Held) -> Int64 {
        guard catalog.cutsFamilies, let buyers = refundedBuyers(of: held.copy),
            let cut = buyers.compactMap(\.revoked).max()
        else { return .max }
        let isKept =
            keepsProrated(held.copy.product)
            && buyers.contains { $0.revocationType == "REFUND_PRORATED" }
        if isKept { return .max }
        if let grant = held.grantNotification, grant > cut { return .max }
        if let status = held.activeStatus, status > cut { return .max }
        let day: Int64 = 86_400_000
        let isSeenLater =
            held.copy.product == .lifetime && held.copy.revoked == nil
            && held.copy.signed > cut + day
        return isSeenLater ? .max : cut
    }

    /// From when on the next purchase of its group has taken its place.
    private func upgraded(_ held: FamilyModel.Held) -> Int64 {
        let copy = held.copy
        guard copy.isUpgraded else { return .max }
        let later = facts.map(\.copy).filter {
            $0.purchased > copy.purchased
                && ($0.chain == copy.chain || $0.product.renews && copy.product.renews)
        }
        return later.map(\.purchased).min() ?? .min
    }

    /// When what was paid for ends.
    private func paidEnd(_ copy: TransactionCopy) -> Int64 {
        switch copy.product {
        case .month, .pro: copy.expires ?? .min
        case .season: copy.purchased + catalog.seasonDuration
        case .lifetime, .coins: .max
        }
    }

    /// The same, raised by grace.
    private func end(_ held: FamilyModel.Held) -> Int64 {
        let paid = paidEnd(held.copy)
        return max(paid, renewal(of: held.copy)?.graceExpires ?? .min)
    }

    /// The chain's renewal info, where it speaks of this transaction: of the chain's newest.
    private func renewal(of copy: TransactionCopy) -> RenewalCopy? {
        guard copy.product.renews else { return nil }
        let isNewest = !facts.contains {
            $0.copy.chain == copy.chain && $0.copy.number != copy.number
                && isNewer($0.copy, than: copy)
        }
        return isNewest ? renewals.first { $0.chain == copy.chain } : nil
    }

    private func isNewer(_ copy: TransactionCopy, than other: TransactionCopy) -> Bool {
        if copy.purchased != other.purchased { return copy.purchased > other.purchased }
        if copy.signed != other.signed { return copy.signed > other.signed }
        return copy.number > other.number
    }
}

// MARK: - When it flips

extension VerdictModel {
    private func interval(_ held: FamilyModel.Held) -> Interval {
        guard impossibility(of: held.copy) == nil else { return Interval(start: 0, stop: .min) }
        let stop = min(revoked(held), suspended(held), min(upgraded(held), end(held)))
        return Interval(start: held.copy.purchased, stop: stop)
    }

    private func flip(of facts: [FamilyModel.Held], after instant: Int64) -> Int64 {
        let intervals = facts.map(interval).filter { $0.start < $0.stop }
        var end = instant
        // Periods that follow each other without a gap run through.
        while let next = intervals.filter({ $0.start <= end && $0.stop > end }).map(\.stop).max() {
            end = next
        }
        if end == instant {
            end = intervals.map(\.start).filter { $0 > instant }.min() ?? .max
        }
        return end == .max ? 0 : end
    }
}

// MARK: - Instants at which something may begin or end

extension VerdictModel {
    /// All of them, of what is known of the person.
    var dates: [Int64] {
        var dates: [Int64] = []
        for held in facts {
            let copy = held.copy
            dates += [copy.purchased, copy.signed, paidEnd(copy), end(held), revoked(held)]
            dates += [suspended(held), upgraded(held)]
        }
        return dates
    }

    /// When refunds in the family were signed.
    func refundDates(_ family: FamilyModel) -> [Int64] {
        family.held.filter { $0.copy.revoked != nil }.map(\.copy.signed)
    }
}
