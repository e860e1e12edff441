/// What notifications said of one transaction beyond its signed copies; each field keeps the
/// newest signedDate seen, so that order of arrival does not matter.
///
/// A REVOKE without a revocationDate ends access all the same, by an override that only later
/// evidence of a grant clears; see `isOverridden`.
package struct Evidence: Hashable, Sendable {
    /// The newest REVOKE whose transaction carried no revocationDate.
    package var datelessRevoke: Timestamp?
    /// The newest SUBSCRIBED, ONE_TIME_CHARGE, DID_RENEW or REFUND_REVERSED.
    package var grantNotification: Timestamp?
    /// The newest subscription status 1 (active) or 4 (grace period).
    package var activeStatus: Timestamp?
    /// The newest copy that carried a revocationDate.
    package var datedCopy: Timestamp?

    /// No evidence.
    package init() {}

    /// Adds what `other` knows; newest wins field by field.
    package mutating func merge(_ other: Evidence) {
        datelessRevoke = newest(datelessRevoke, other.datelessRevoke)
        grantNotification = newest(grantNotification, other.grantNotification)
        activeStatus = newest(activeStatus, other.activeStatus)
        datedCopy = newest(datedCopy, other.datedCopy)
    }

    /// The newest date in it.
    package var newestDate: Timestamp? {
        newest(newest(datelessRevoke, grantNotification), newest(activeStatus, datedCopy))
    }

    /// From when on an override ends the access of `transaction`; nil without one, or once cleared.
    ///
    /// It is cleared by a grant-type notification or an active status signed later, and by a dated
    /// copy signed later that a still newer undated copy followed.
    package func override(of transaction: Transaction) -> Timestamp? {
        guard transaction.ownership == .familyShared, let revoke = datelessRevoke else {
            return nil
        }
        if let grant = grantNotification, grant > revoke { return nil }
        if let status = activeStatus, status > revoke { return nil }
        if let dated = datedCopy, dated > revoke, transaction.revocationDate == nil,
            transaction.signedDate > dated
        {
            return nil
        }
        return revoke
    }

    /// Whether the member's own evidence contradicts a household cut as of `cut`.
    ///
    /// For a non-consumable an undated copy counts when signed more than 24 hours later.
    package func lifts(cut: Timestamp, of transaction: Transaction) -> Bool {
        if let grant = grantNotification, grant > cut { return true }
        if let status = activeStatus, status > cut { return true }
        let day: Int64 = 24 * 60 * 60 * 1_000
        return transaction.type == .nonConsumable && transaction.revocationDate == nil
            && transaction.signedDate > cut.adding(milliseconds: day)
    }
}

/// The later of two dates that may be missing.
func newest(_ left: Timestamp?, _ right: Timestamp?) -> Timestamp? {
    guard let left else { return right }
    guard let right else { return left }
    return max(left, right)
}
