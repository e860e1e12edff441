package import Entitlements
package import Service

/// What an operator must see of reconciliation; each is worth a line in the log.
///
/// A notice never carries a payload, a token or a key.
package enum ReconciliationNotice: Hashable, Sendable {
    /// Apple does not accept the credentials; said once until a request succeeds.
    case unauthorized(Scope, message: String)
    /// Apple's servers answer again after failures.
    case recovered(Scope)
    /// Nothing is asked until an instant because Apple's servers failed or said to wait; said once
    /// until a request succeeds.
    case paused(Scope, until: Timestamp, message: String)
    /// Notifications of a span were missed and are stored now.
    case gapClosed(Scope, dates: Range<Timestamp>, count: Int)
    /// Apple keeps no notifications as old as this server needs: the span is lost as far as
    /// notifications go; histories are fetched all the same.
    case gapTooOld(Scope, dates: Range<Timestamp>)
    /// The mark of complete notifications lies ahead of the clock; a week is read again.
    case markAheadOfClock(Scope, mark: Timestamp)
    /// An item of Apple's was not believed; what came with it was taken.
    case damagedItem(Scope, Refusal)
    /// A routine look found that a customer's entitlements had changed without a word.
    case sweepFoundChange(Scope, changes: [EntitlementChange])
    /// A customer's fetch failed.
    case fetchFailed(Scope, customerID: String, Refusal)
    /// The store did not take what reconciliation had for it.
    case storeFailed(Refusal)

    /// One line for people.
    package var message: String {
        switch self {
        case .unauthorized: "Apple does not accept the App Store Server API credentials"
        case .recovered: "Apple's servers answer again"
        case .paused: "Apple's servers are left alone for a while"
        case .gapClosed: "missed notifications were recovered"
        case .gapTooOld: "Apple keeps no notifications that old; run a rebuild of all customers"
        case .markAheadOfClock: "the mark of complete notifications lies ahead of the clock"
        case .damagedItem: "an item of Apple's was not believed"
        case .sweepFoundChange: "a change that no notification had told was found"
        case .fetchFailed: "a customer could not be fetched from Apple"
        case .storeFailed: "the store did not take what was reconciled"
        }
    }
}
