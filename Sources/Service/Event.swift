package import Entitlements
import Storage

/// One change of state, verified and complete: all that the ledger needs, and nothing else.
///
/// Every change of state is one event applied by one function, in one order.
package struct Event: Sendable {
    /// When it reached us, by our clock.
    package let receivedAt: Timestamp
    let content: Content

    enum Content: Sendable {
        /// A verified notification, with the bytes as received.
        case notification(Notification, payload: [UInt8])
        case upload(Upload)
        case link(Link)
        case rebuild(Rebuild)

        /// The world that it is about.
        var scope: Scope {
            switch self {
            case .notification(let notification, _): notification.scope
            case .upload(let upload): upload.scope
            case .link(let link): link.scope
            case .rebuild(let rebuild): rebuild.scope
            }
        }

        /// The transactions that it carries.
        var transactions: [Transaction] {
            switch self {
            case .notification(let notification, _):
                notification.transaction.map { [$0.transaction] } ?? []
            case .upload(let upload): upload.transactions.map(\.transaction)
            case .link, .rebuild: []
            }
        }
    }

    /// Verified uploads of one app and environment.
    struct Upload: Sendable {
        var scope: Scope
        var customerID: String
        var transactions: [SignedTransaction]
        var renewals: [SignedRenewal]
        /// The Apple Account in the app, from a verified AppTransaction.
        var appTransactionID: String?
        var isTransfer: Bool
    }

    struct Link: Sendable {
        var scope: Scope
        var customerID: String
        var identity: Identity?
        var isTransfer: Bool
        /// The household to join; nil: unchanged; empty: leave.
        var household: String?
    }

    struct Rebuild: Sendable {
        var scope: Scope
        var identity: Identity
        var isDryRun: Bool
    }
}

/// Why an event was not applied.
enum LedgerFailure: Error {
    /// The store failed: nothing of the group may be committed.
    case storage(StorageError)
    /// This event is refused; the others of its group are not touched.
    case refused(Refusal)
}

/// Runs a read of the store in a context of `LedgerFailure`.
func reading<Value>(
    _ body: () throws(StorageError) -> Value
) throws(LedgerFailure) -> Value {
    do throws(StorageError) {
        return try body()
    } catch {
        throw .storage(error)
    }
}
