import AppStore
package import Entitlements
import Storage

/// One change of state, verified and complete: all that the ledger needs, and nothing else.
///
/// Every change of state is one event applied by one function, in one order.
package struct Event: Sendable {
    /// When it reached us, by our clock.
    package let receivedAt: Timestamp
    let content: Content

    /// The app and environment that it is about; nil: it is the server's own.
    package var scope: Scope? { content.scope }

    /// Indirect: an event goes through two queues, and each copy of one in place would count the
    /// references of its 30 texts anew.
    indirect enum Content: Sendable {
        /// A verified notification, with the bytes as received.
        case notification(Notification, payload: [UInt8])
        case upload(Upload)
        case link(Link)
        case rebuild(Rebuild)
        case importing(Import)
        case forget(Forget)
        /// What was granted.
        case usage(Usage)
        case history(History)
        case queue([CustomerKey], RefreshTrigger)
        case attempt(Attempt)
        case mark(ReconciliationMark, ScopeNumber, Timestamp)

        /// The world of the transactions that it carries.
        var scope: Scope? {
            switch self {
            case .notification(let notification, _): notification.scope
            case .upload(let upload): upload.scope
            case .link(let link): link.scope
            case .rebuild(let rebuild): rebuild.scope
            case .importing(let batch): batch.scope
            case .forget(let forget): forget.scope
            case .usage(let usage): usage.scope
            case .history(let history): history.plan.scope
            case .queue, .attempt, .mark: nil
            }
        }

        /// The transactions that it carries.
        var transactions: [Transaction] {
            switch self {
            case .notification(let notification, _):
                notification.transaction.map { [$0.transaction] } ?? []
            case .upload(let upload): upload.transactions.map(\.transaction)
            case .history(let history):
                history.isDryRun ? [] : history.history.transactions.map(\.transaction)
            case .importing(let batch):
                batch.isDryRun ? [] : batch.rows.map(\.transaction.transaction)
            case .link, .rebuild, .forget, .queue, .attempt, .mark, .usage: []
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
        /// Whether what turns out to be another named customer's is moved, not refused.
        var transfersOnConflict: Bool
    }

    struct Link: Sendable {
        var scope: Scope
        var customerID: String
        var identity: Identity?
        var isTransfer: Bool
        /// Whether what turns out to be another named customer's is moved, not refused.
        var transfersOnConflict: Bool
        /// The household to join; nil: unchanged; empty: leave.
        var household: String?
    }

    /// Checks that were granted and counted by the loops.
    struct Usage: Sendable {
        /// One transaction on one day.
        struct Entry: Sendable {
            /// UTF-8.
            var transactionID: [UInt8]
            /// Days since 1970-01-01, UTC.
            var day: UInt32
            /// To be added to what is stored.
            var use: UsageRecord
        }

        var scope: Scope
        var entries: [Entry]
    }

    struct Rebuild: Sendable {
        var scope: Scope
        var identity: Identity
        var isDryRun: Bool
        /// The answer, where a worker has found it out.
        var rehearsal: RebuildRehearsal?
    }

    /// Verified rows of an export.
    struct Import: Sendable {
        /// One transaction.
        struct Row: Sendable {
            /// In the request, from 0.
            var position: Int
            /// Whose it is.
            var customer: Identity
            var transaction: SignedTransaction
            var renewal: SignedRenewal?
            var evidence: Evidence
            /// Whether its chain was linked to the customer in so many words.
            var isChainLinked: Bool
        }

        var scope: Scope
        var rows: [Row]
        /// Rows that were not believed.
        var problems: [ImportProblem]
        var isDryRun: Bool
    }

    struct Forget: Sendable {
        var scope: Scope
        var identity: Identity
        var isDryRun: Bool
        /// What a worker has found out.
        var traces: CustomerTraces?
    }

    /// What Apple's servers said of a customer.
    struct History: Sendable {
        var history: AppleHistory
        var plan: RefreshPlan
        /// Whether all of it was read; else its facts are kept and the customer stays queued.
        var isWhole: Bool
        var isDryRun: Bool
    }

    /// A fetch that failed.
    struct Attempt: Sendable {
        var key: CustomerKey
        var refusal: Refusal
        var notBefore: Timestamp
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
