/// What ended a transaction's access and whether money went back.
///
/// A family copy with a revocation date is a refund, one without is a departure: both end access,
/// only the first reversed a payment. Where Apple's fields leave the cause open, `isCertain` is
/// false. See: https://developer.apple.com/documentation/appstoreserverapi/revocationtype
package struct Revocation: Hashable, Sendable {
    /// The reason that CheckAccess reports.
    package let reason: AccessReason
    /// Whether a payment was reversed.
    package let isPaymentReversed: Bool
    /// Whether the evidence proves the cause.
    package let isCertain: Bool

    /// The cause of the revocation of `transaction`; the first evidence that matches decides.
    ///
    /// - Parameters:
    ///   - transaction: a copy that is revoked by its own date or by an override.
    ///   - isBuyerRefunded: whether every overlapping purchase of its declared household was
    ///   refunded.
    package init(of transaction: Transaction, isBuyerRefunded: Bool) {
        let isFamily = transaction.ownership == .familyShared
        let isDated = transaction.revocationDate != nil
        switch transaction.revocationType {
        case "REFUND_FULL", "REFUND_PRORATED":
            self.init(isFamily ? .familyRefunded : .refunded, reversed: true)
            return
        case "FAMILY_REVOKE":
            self.init(.familyLeft, reversed: false)
            return
        case "ASSIGNMENT_REVOKE":
            self.init(.assignmentEnded, reversed: false)
            return
        default:
            break
        }
        switch transaction.ownership {
        case .purchased:
            self.init(.refunded, reversed: true)
        case .familyShared where transaction.revocationReason == 1 || isBuyerRefunded:
            self.init(.familyRefunded, reversed: true)
        case .familyShared where isDated:
            self.init(.familyRefunded, reversed: true, certain: false)
        case .familyShared:
            self.init(.familyLeft, reversed: false)
        case .assigned:
            self.init(.assignmentEnded, reversed: false)
        case .other, .unspecified:
            self.init(.refunded, reversed: false, certain: false)
        }
    }

    private init(_ reason: AccessReason, reversed: Bool, certain: Bool = true) {
        self.reason = reason
        isPaymentReversed = reversed
        isCertain = certain
    }

    /// Whether `transaction` was bought and the payment went back.
    ///
    /// Without a revocationDate nothing is revoked, whatever the other fields say.
    package static func isRefundedPurchase(_ transaction: Transaction) -> Bool {
        guard transaction.ownership == .purchased, transaction.revocationDate != nil else {
            return false
        }
        return Revocation(of: transaction, isBuyerRefunded: false).isPaymentReversed
    }
}
