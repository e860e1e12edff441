/// What one transaction contributes to the answer about its product: instants, never a verdict.
///
/// The catalog and the clock are applied when the question comes, so expiry needs no sweeper and
/// a changed catalog rewrites nothing. `Int64.max` as an instant means "never".
@usableFromInline package struct Grant: Hashable, Sendable, BitwiseCopyable {
    /// purchaseDate; `Int64.min` when the payload has none.
    @usableFromInline package var start: Int64
    /// expiresDate of an auto-renewable, else never.
    @usableFromInline package var end: Int64
    /// gracePeriodExpiresDate when this is the newest transaction of its chain, else `Int64.min`.
    @usableFromInline package var graceEnd: Int64
    /// From when on the newest copy is revoked.
    @usableFromInline package var revokedFrom: Int64
    /// From when on a REVOKE without a date ends it.
    @usableFromInline package var overriddenFrom: Int64
    /// From when on its family's refund suspends it; see `matchedCut`.
    @usableFromInline package var suspendedFrom: Int64
    /// The same when prorated refunds of the product are kept.
    @usableFromInline package var suspendedFromWhenProratedKept: Int64
    /// From when on the customer has moved to another product.
    @usableFromInline package var upgradedFrom: Int64
    /// The product type.
    @usableFromInline package var type: ProductType
    /// The ownership type.
    @usableFromInline package var ownership: Ownership
    /// The reason once revoked or overridden.
    @usableFromInline package var revocationReason: AccessReason
    /// See the cases.
    @usableFromInline package var flags: Flags

    /// Yes-or-no facts of a grant.
    @usableFromInline package struct Flags: OptionSet, Hashable, Sendable, BitwiseCopyable {
        @usableFromInline package let rawValue: UInt8
        @inlinable
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The chain's renewal info says billing retry, and this is its newest transaction.
        @usableFromInline package static let billingRetry = Flags(rawValue: 1)
        /// The revocation is a prorated refund.
        @usableFromInline package static let prorated = Flags(rawValue: 2)
        /// A field is missing without which the transaction can never grant.
        @usableFromInline package static let incomplete = Flags(rawValue: 4)
        /// The family whose refund suspends it was recognised, not declared.
        @usableFromInline package static let matchedCut = Flags(rawValue: 8)
    }

    /// A grant of this type and ownership that begins at `start` and nothing ends.
    @inlinable
    package init(type: ProductType, ownership: Ownership, start: Int64) {
        self.type = type
        self.ownership = ownership
        self.start = start
        end = .max
        graceEnd = .min
        revokedFrom = .max
        overriddenFrom = .max
        suspendedFrom = .max
        suspendedFromWhenProratedKept = .max
        upgradedFrom = .max
        revocationReason = .unspecified
        flags = []
    }
}

/// Which families a buyer's refund suspends; each mode includes the one before.
@usableFromInline package enum FamilyCut: UInt8, Hashable, Sendable, BitwiseCopyable {
    /// None: each copy ends by its own evidence.
    case off = 0
    /// Households that the app declared.
    case declared = 1
    /// Also families that are recognised by their equal transactions.
    case matched = 2
}

/// What the catalog says of one product; the default is for products that it does not name.
@usableFromInline package struct ProductPolicy: Hashable, Sendable, BitwiseCopyable {
    /// How long a non-renewing purchase lasts, in milliseconds; 0: not said, so it never grants.
    @usableFromInline package var duration: Int64
    /// Whether a prorated refund leaves the access of a product that does not renew.
    @usableFromInline package var keepsProratedRefunds: Bool
    /// Which families a buyer's refund suspends.
    @usableFromInline package var familyCut: FamilyCut

    /// A policy; the defaults are those of a product that the catalog does not name.
    @inlinable
    package init(
        duration: Int64 = 0, keepsProratedRefunds: Bool = false, familyCut: FamilyCut = .declared
    ) {
        self.duration = duration
        self.keepsProratedRefunds = keepsProratedRefunds
        self.familyCut = familyCut
    }
}

extension Grant {
    /// Why it can never grant, whatever the instant; nil when it can.
    @inlinable
    func impossibility(under policy: ProductPolicy) -> AccessReason? {
        switch type {
        case .autoRenewable, .nonConsumable:
            return flags.contains(.incomplete) ? .incomplete : nil
        case .nonRenewing:
            if ownership == .familyShared { return .notShareable }
            return flags.contains(.incomplete) || policy.duration <= 0 ? .incomplete : nil
        case .consumable:
            return ownership == .familyShared ? .notShareable : .consumable
        case .unknown:
            return .incomplete
        }
    }

    /// When its own period ends: without grace, under the catalog's duration.
    @inlinable
    func periodEnd(under policy: ProductPolicy) -> Int64 {
        guard type == .nonRenewing else { return end }
        let (sum, overflow) = start.addingReportingOverflow(policy.duration)
        return overflow ? .max : sum
    }

    /// When it ends for lack of payment: the period, raised by grace.
    @inlinable
    package func finalEnd(under policy: ProductPolicy) -> Int64 {
        max(periodEnd(under: policy), graceEnd)
    }

    /// From when on it is revoked or overridden.
    @inlinable
    package func revocationInstant(under policy: ProductPolicy) -> Int64 {
        let isKept =
            flags.contains(.prorated) && policy.keepsProratedRefunds && type != .autoRenewable
        return isKept ? overriddenFrom : min(revokedFrom, overriddenFrom)
    }

    /// From when on its family's refund suspends it.
    @inlinable
    package func suspensionInstant(under policy: ProductPolicy) -> Int64 {
        let needed = flags.contains(.matchedCut) ? FamilyCut.matched : .declared
        guard policy.familyCut.rawValue >= needed.rawValue else { return .max }
        let keeps = policy.keepsProratedRefunds && type != .autoRenewable
        return keeps ? suspendedFromWhenProratedKept : suspendedFrom
    }

    /// What it says at `instant`; the first reason that holds.
    @inlinable
    package func reason(at instant: Int64, under policy: ProductPolicy) -> AccessReason {
        if let reason = impossibility(under: policy) { return reason }
        if start > instant { return .notStarted }
        if instant >= revocationInstant(under: policy) { return revocationReason }
        if instant >= suspensionInstant(under: policy) { return .familySuspended }
        if instant >= upgradedFrom { return .upgraded }
        if instant >= finalEnd(under: policy) {
            return flags.contains(.billingRetry) ? .billingRetry : .expired
        }
        return instant >= periodEnd(under: policy) ? .gracePeriod : .active
    }

    /// The half-open interval in which it grants; empty (`stop <= start`) when it never does.
    @inlinable
    package func interval(under policy: ProductPolicy) -> (start: Int64, stop: Int64) {
        if impossibility(under: policy) != nil { return (start, .min) }
        let cut = min(revocationInstant(under: policy), suspensionInstant(under: policy))
        return (start, min(cut, upgradedFrom, finalEnd(under: policy)))
    }

    /// Whether it is the one to report rather than `other`, when both grant: the later end.
    @inlinable
    package func endsLater(than other: Grant, under policy: ProductPolicy) -> Bool {
        finalEnd(under: policy) > other.finalEnd(under: policy)
    }
}
