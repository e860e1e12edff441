import Entitlements

/// What an operator must see of the service; each is worth a line in the log, repeats counted.
///
/// A notice never carries a payload, a token or a key.
package enum ServiceNotice: Hashable, Sendable {
    /// Something handed in was refused and not stored.
    case refused(Refusal)
    /// A notification of a type or subtype that this release does not know was stored.
    case unknownNotification(type: String, subtype: String)
    /// A non-renewing product has no `duration` in the catalog, so its purchases never grant.
    case missingDuration(productID: String)
    /// A transaction lacks a date without which it never grants.
    case incompleteTransaction(transactionID: String, productID: String)
    /// What an earlier release has stored is brought into the form of this one, before anybody is
    /// answered.
    case converting(snapshotCount: Int, isDone: Bool)
    /// A customer was forgotten; his bytes are to leave the disk, or have left it.
    case forgotten(number: UInt64, isErased: Bool)
    /// His bytes could not leave the disk now; it is tried again.
    case notErased(message: String)

    /// One line for people.
    package var message: String {
        switch self {
        case .refused: "refused"
        case .unknownNotification: "a notification of an unknown type was stored"
        case .missingDuration: "a non-renewing product has no duration in the catalog"
        case .incompleteTransaction: "a transaction lacks a date and never grants"
        case .converting(_, isDone: false): "snapshots of an earlier release are being converted"
        case .converting(_, isDone: true): "snapshots of an earlier release were converted"
        case .forgotten(_, isErased: false): "a customer was forgotten"
        case .forgotten(_, isErased: true): "what a forgotten customer left on the disk is gone"
        case .notErased: "what a forgotten customer left on the disk is still there"
        }
    }
}

extension ServiceNotice {
    /// What is odd about a transaction under its app's catalog; nil when nothing is.
    init?(_ transaction: Transaction, catalog: Catalog) {
        switch transaction.type {
        case .nonRenewing where catalog.policy(for: transaction.productID).duration <= 0:
            self = .missingDuration(productID: transaction.productID)
        case .autoRenewable where transaction.expiresDate == nil:
            self = .incompleteTransaction(
                transactionID: transaction.transactionID, productID: transaction.productID)
        case _ where transaction.purchaseDate == nil:
            self = .incompleteTransaction(
                transactionID: transaction.transactionID, productID: transaction.productID)
        default:
            return nil
        }
    }
}
