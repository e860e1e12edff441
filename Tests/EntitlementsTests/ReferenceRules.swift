import Entitlements

// The rules a second time, from the specification and as simply as can be: no sorting tricks, no
// intervals, every transaction asked at every instant. What `CustomerHistory` and `GrantList` say
// must agree with it.

struct ReferenceRules {
    let history: CustomerHistory
    let policy: ProductPolicy

    /// What one transaction says at `t`.
    func reason(_ fact: TransactionFact, at t: Int64) -> AccessReason {
        let x = fact.transaction
        let isShared = x.rawOwnership == "FAMILY_SHARED"
        switch x.rawType {
        case "Non-Consumable": break
        case "Auto-Renewable Subscription": if x.expiresDate == nil { return .incomplete }
        case "Consumable": return isShared ? .notShareable : .consumable
        case "Non-Renewing Subscription":
            if isShared { return .notShareable }
            if policy.duration == 0 { return .incomplete }
        default: return .incomplete
        }
        guard let start = x.purchaseDate?.milliseconds else { return .incomplete }
        if start > t { return .notStarted }
        if revoked(fact, at: t) { return cause(fact) }
        if policy.familyCut != .off, let cut = suspension(fact), t >= cut {
            return .familySuspended
        }
        if x.isUpgraded, t >= upgrade(x) { return .upgraded }
        guard let end = end(x) else { return .active }
        if t < end { return .active }
        let renewal = isNewest(x) ? history.renewals[x.originalTransactionID] : nil
        if x.rawType != "Auto-Renewable Subscription" { return .expired }
        if let grace = renewal?.gracePeriodExpiresDate, t < grace.milliseconds {
            return .gracePeriod
        }
        return renewal?.isInBillingRetryPeriod == true ? .billingRetry : .expired
    }

    /// Whether any transaction of the product grants at `t`.
    func isGranted(_ product: String, at t: Int64) -> Bool {
        facts(product).contains { reason($0, at: t).isGranted }
    }

    /// The reason when nothing grants.
    func denial(_ product: String, at t: Int64) -> AccessReason {
        let all = facts(product)
        guard !all.isEmpty else { return .noPurchase }
        let started = all.filter { ($0.transaction.purchaseDate?.milliseconds ?? .min) <= t }
        let newest = started.max { isOlder($0.transaction, $1.transaction) }
        return newest.map { reason($0, at: t) } ?? .notStarted
    }

    /// The next instant at which access flips; 0: never.
    func validUntil(_ product: String, at t: Int64) -> Int64 {
        let now = isGranted(product, at: t)
        return boundaries.first { $0 > t && isGranted(product, at: $0) != now } ?? 0
    }

    /// Every instant at which anything can change.
    var boundaries: [Int64] {
        var dates: Set<Int64> = []
        func add(_ date: Timestamp?) { if let date { dates.insert(date.milliseconds) } }
        for fact in history.transactions.values {
            let x = fact.transaction
            for date in [x.purchaseDate, x.expiresDate, x.revocationDate, x.signedDate] {
                add(date)
            }
            add(fact.evidence.datelessRevoke)
            add(x.purchaseDate?.adding(milliseconds: policy.duration))
        }
        for renewal in history.renewals.values { add(renewal.gracePeriodExpiresDate) }
        for purchase in history.householdPurchases { add(purchase.refund?.date) }
        for fact in history.transactions.values { add(fact.matched?.refund?.date) }
        return dates.sorted()
    }

    /// When the payment for a transaction runs out at the latest; nil: never.
    func finalEnd(_ x: Transaction) -> Int64? {
        guard let end = end(x) else { return nil }
        guard isNewest(x), x.rawType == "Auto-Renewable Subscription",
            let grace = history.renewals[x.originalTransactionID]?.gracePeriodExpiresDate
        else { return end }
        return max(end, grace.milliseconds)
    }

    private func facts(_ product: String) -> [TransactionFact] {
        history.transactions.values.filter { $0.transaction.productID == product }
    }

    private func end(_ x: Transaction) -> Int64? {
        switch x.rawType {
        case "Auto-Renewable Subscription": x.expiresDate?.milliseconds
        case "Non-Renewing Subscription":
            x.purchaseDate?.adding(milliseconds: policy.duration).milliseconds
        default: nil
        }
    }

    private func isKept(_ x: Transaction) -> Bool {
        policy.keepsProratedRefunds && x.revocationType == "REFUND_PRORATED"
            && x.rawType != "Auto-Renewable Subscription"
    }

    private func revoked(_ fact: TransactionFact, at t: Int64) -> Bool {
        let x = fact.transaction
        if let date = x.revocationDate, !isKept(x),
            t >= min(date, x.signedDate).milliseconds
        {
            return true
        }
        guard let revoke = override(fact) else { return false }
        return t >= revoke.milliseconds
    }

    private func override(_ fact: TransactionFact) -> Timestamp? {
        let (x, evidence) = (fact.transaction, fact.evidence)
        guard x.rawOwnership == "FAMILY_SHARED", let revoke = evidence.datelessRevoke else {
            return nil
        }
        let isCleared =
            evidence.grantNotification.map { $0 > revoke } ?? false
            || evidence.activeStatus.map { $0 > revoke } ?? false
            || evidence.datedCopy.map {
                $0 > revoke && x.revocationDate == nil && x.signedDate > $0
            } ?? false
        return isCleared ? nil : revoke
    }

    private func cause(_ fact: TransactionFact) -> AccessReason {
        let x = fact.transaction
        let isShared = x.rawOwnership == "FAMILY_SHARED"
        switch x.revocationType {
        case "REFUND_FULL", "REFUND_PRORATED": return isShared ? .familyRefunded : .refunded
        case "FAMILY_REVOKE": return .familyLeft
        case "ASSIGNMENT_REVOKE": return .assignmentEnded
        default: break
        }
        switch x.rawOwnership {
        case "FAMILY_SHARED":
            let isRefund =
                x.revocationReason == 1 || latestBuyerRefund(x) != nil || x.revocationDate != nil
            return isRefund ? .familyRefunded : .familyLeft
        case "ASSIGNED": return .assignmentEnded
        default: return .refunded
        }
    }

    /// When the last of the household's purchases behind `x` was refunded; nil unless all were.
    private func latestBuyerRefund(_ x: Transaction, keeping: Bool = false) -> Timestamp? {
        guard x.rawOwnership == "FAMILY_SHARED", let start = x.purchaseDate else { return nil }
        let isAuto = x.rawType == "Auto-Renewable Subscription"
        let end = isAuto ? x.expiresDate ?? .distantFuture : .distantFuture
        let behind = history.householdPurchases.filter {
            $0.productID == x.productID && $0.period.lowerBound < end
                && start < $0.period.upperBound && !$0.period.isEmpty && start < end
        }
        let refunds = behind.compactMap(\.refund).filter { !(keeping && $0.isProrated) }.map(\.date)
        return refunds.count == behind.count ? refunds.max() : nil
    }

    /// The refund of the recognised purchase, where the household bought nothing behind `x`.
    private func matchedRefund(_ fact: TransactionFact, keeping: Bool) -> Timestamp? {
        let x = fact.transaction
        guard policy.familyCut == .matched, x.rawOwnership == "FAMILY_SHARED",
            let start = x.purchaseDate, let refund = fact.matched?.refund,
            !(keeping && refund.isProrated)
        else { return nil }
        let isAuto = x.rawType == "Auto-Renewable Subscription"
        let end = isAuto ? x.expiresDate ?? .distantFuture : .distantFuture
        let isDeclared = history.householdPurchases.contains {
            $0.productID == x.productID && $0.period.lowerBound < end
                && start < $0.period.upperBound && !$0.period.isEmpty && start < end
        }
        return isDeclared ? nil : refund.date
    }

    private func suspension(_ fact: TransactionFact) -> Int64? {
        let (x, evidence) = (fact.transaction, fact.evidence)
        let keeping = policy.keepsProratedRefunds && x.rawType != "Auto-Renewable Subscription"
        let declared = latestBuyerRefund(x) == nil ? nil : latestBuyerRefund(x, keeping: keeping)
        guard let cut = declared ?? matchedRefund(fact, keeping: keeping) else { return nil }
        let day: Int64 = 86_400_000
        let isLifted =
            evidence.grantNotification.map { $0 > cut } ?? false
            || evidence.activeStatus.map { $0 > cut } ?? false
            || x.rawType == "Non-Consumable" && x.revocationDate == nil
                && x.signedDate.milliseconds > cut.milliseconds + day
        return isLifted ? nil : cut.milliseconds
    }

    private func upgrade(_ x: Transaction) -> Int64 {
        let later = history.transactions.values.map(\.transaction).filter {
            let isNear =
                $0.originalTransactionID == x.originalTransactionID
                || $0.subscriptionGroupID != nil && $0.subscriptionGroupID == x.subscriptionGroupID
            return isNear && ($0.purchaseDate ?? .distantPast) > (x.purchaseDate ?? .distantPast)
        }
        return later.compactMap { $0.purchaseDate?.milliseconds }.min() ?? .min
    }

    private func isNewest(_ x: Transaction) -> Bool {
        !history.transactions.values.contains {
            $0.transaction.originalTransactionID == x.originalTransactionID
                && isOlder(x, $0.transaction)
        }
    }

    private func isOlder(_ left: Transaction, _ right: Transaction) -> Bool {
        func key(_ x: Transaction) -> (Int64, Int64, Int64) {
            (
                x.purchaseDate?.milliseconds ?? .min, x.signedDate.milliseconds,
                Int64(x.transactionID) ?? 0
            )
        }
        return key(left) < key(right)
    }
}
