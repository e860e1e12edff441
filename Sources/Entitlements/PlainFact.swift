// A transaction's fact without its texts: what a fold of thousands of transactions reads. It is a
// plain value, so a list of it costs no allocation and no reference counting per transaction; one
// with texts costs several of both. `CustomerHistory` says the same at more leisure and is the
// oracle of what stands here.

/// What `Transaction.revocationType` says, as far as it decides anything.
package enum RevocationKind: UInt8, Hashable, Sendable, BitwiseCopyable {
    /// Absent, or a value that this release does not know.
    case unspecified = 0
    case refundFull = 1
    case refundProrated = 2
    case familyRevoke = 3
    case assignmentRevoke = 4

    /// The kind of this name in a payload; nil is absent.
    package init(name: String?) {
        switch name {
        case "REFUND_FULL": self = .refundFull
        case "REFUND_PRORATED": self = .refundProrated
        case "FAMILY_REVOKE": self = .familyRevoke
        case "ASSIGNMENT_REVOKE": self = .assignmentRevoke
        default: self = .unspecified
        }
    }
}

/// What a chain's renewal info says of its newest transaction.
package struct RenewalTerms: Hashable, Sendable, BitwiseCopyable {
    /// gracePeriodExpiresDate, in ms; nil without one.
    package let graceEnd: Int64?
    /// Whether Apple retries the payment.
    package let isRetrying: Bool

    /// The terms of `renewal`.
    package init(_ renewal: RenewalInfo) {
        graceEnd = renewal.gracePeriodExpiresDate?.milliseconds
        isRetrying = renewal.isInBillingRetryPeriod
    }
}

/// The dates and kinds of a transaction's newest copy and of its evidence; dates in ms.
package struct PlainFact: Hashable, Sendable, BitwiseCopyable {
    /// The product type.
    package var type: ProductType
    /// The ownership type.
    package var ownership: Ownership
    /// Whether the customer moved on to another product of the group.
    package var isUpgraded: Bool
    /// What kind of revocation the copy names.
    package var revocationKind: RevocationKind
    /// Whether revocationReason is 1: a problem with the app.
    package var isProblemWithApp: Bool
    /// When the copy was signed.
    package var signedDate: Int64
    /// When it was bought.
    package var purchaseDate: Int64?
    /// The end of the period.
    package var expiresDate: Int64?
    /// Set while refunded or revoked.
    package var revocationDate: Int64?
    /// The newest REVOKE without a date.
    package var datelessRevoke: Int64?
    /// The newest notification of a grant.
    package var grantNotification: Int64?
    /// The newest active status.
    package var activeStatus: Int64?
    /// The newest copy with a revocationDate.
    package var datedCopy: Int64?

    /// A fact of this kind that carries no date but that of its signing; the others are set
    /// afterwards.
    package init(type: ProductType, ownership: Ownership, signedDate: Int64) {
        self.type = type
        self.ownership = ownership
        self.signedDate = signedDate
        isUpgraded = false
        revocationKind = .unspecified
        isProblemWithApp = false
    }

    /// purchaseDate, or before all others.
    package var start: Int64 { purchaseDate ?? .min }

    /// The newest date of the copy and its evidence.
    package var newestDate: Int64 {
        max(
            max(signedDate, datelessRevoke ?? .min),
            max(grantNotification ?? .min, datedCopy ?? .min),
            activeStatus ?? .min)
    }

    /// From when on an override ends its access; nil without one, or once cleared. See
    /// `Evidence.override`.
    package var override: Int64? {
        guard ownership == .familyShared, let revoke = datelessRevoke else { return nil }
        if let grant = grantNotification, grant > revoke { return nil }
        if let status = activeStatus, status > revoke { return nil }
        if let dated = datedCopy, dated > revoke, revocationDate == nil, signedDate > dated {
            return nil
        }
        return revoke
    }

    /// The reason once revoked or overridden, of a fact that no declared household touches. See
    /// `Revocation`.
    package var revocationReason: AccessReason {
        switch revocationKind {
        case .refundFull, .refundProrated:
            return ownership == .familyShared ? .familyRefunded : .refunded
        case .familyRevoke: return .familyLeft
        case .assignmentRevoke: return .assignmentEnded
        case .unspecified: break
        }
        switch ownership {
        case .purchased, .other, .unspecified: return .refunded
        case .familyShared:
            return isProblemWithApp || revocationDate != nil ? .familyRefunded : .familyLeft
        case .assigned: return .assignmentEnded
        }
    }

    /// What it contributes, when no family's refund suspends it.
    ///
    /// - Parameters:
    ///   - terms: the renewal info of its chain, when it is the chain's newest transaction.
    ///   - successor: when the next transaction of its group or chain was bought; asked for only
    ///   where `isUpgraded`.
    /// - Returns: The grant.
    package func grant(terms: RenewalTerms?, successor: Int64?) -> Grant {
        var grant = Grant(type: type, ownership: ownership, start: start)
        if purchaseDate == nil { grant.flags.insert(.incomplete) }
        if type == .autoRenewable {
            if let expiresDate { grant.end = expiresDate } else { grant.flags.insert(.incomplete) }
            if let terms {
                if let graceEnd = terms.graceEnd { grant.graceEnd = graceEnd }
                if terms.isRetrying { grant.flags.insert(.billingRetry) }
            }
        }
        if isUpgraded { grant.upgradedFrom = successor ?? .min }
        let override = override
        if let revocationDate { grant.revokedFrom = min(revocationDate, signedDate) }
        if let override { grant.overriddenFrom = override }
        if revocationDate != nil || override != nil {
            grant.revocationReason = revocationReason
            if revocationKind == .refundProrated { grant.flags.insert(.prorated) }
        }
        return grant
    }
}

extension PlainFact {
    /// The fact without its texts.
    package init(_ fact: TransactionFact) {
        let transaction = fact.transaction
        self.init(
            type: transaction.type, ownership: transaction.ownership,
            signedDate: transaction.signedDate.milliseconds)
        isUpgraded = transaction.isUpgraded
        revocationKind = RevocationKind(name: transaction.revocationType)
        isProblemWithApp = transaction.revocationReason == 1
        purchaseDate = transaction.purchaseDate?.milliseconds
        expiresDate = transaction.expiresDate?.milliseconds
        revocationDate = transaction.revocationDate?.milliseconds
        datelessRevoke = fact.evidence.datelessRevoke?.milliseconds
        grantNotification = fact.evidence.grantNotification?.milliseconds
        activeStatus = fact.evidence.activeStatus?.milliseconds
        datedCopy = fact.evidence.datedCopy?.milliseconds
    }
}
