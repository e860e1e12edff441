internal import Authorization
internal import Wire

/// What is to be written down of a call that has left its loop. An object: calls carry it through
/// queues, and few have one.
package final class AuditedCall: Sendable, Hashable {
    let entry: AuditEntry
    /// Whether it is written down however it ends; else only where it is denied.
    let isWrittenWhenGranted: Bool

    init(_ entry: AuditEntry, isWrittenWhenGranted: Bool) {
        self.entry = entry
        self.isWrittenWhenGranted = isWrittenWhenGranted
    }

    /// Whether they are the same call.
    package static func == (left: AuditedCall, right: AuditedCall) -> Bool { left === right }

    /// Hashes which call it is.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What a call is about, for people.
struct AuditTarget: Equatable {
    /// The bundle id and environment as they came; empty: the only app.
    var app = ""
    /// Who, or what.
    var name = ""

    /// About nobody in no app.
    init() {}

    init(_ call: Request.Call) {
        switch call {
        case .checkAccess, .checkAccessBatch, .ingestNotification, .getServerInfo: break
        case .ingestTransactions(let message): name = message.customerID.description
        case .rebuildCustomer(let message): set(message.scope, message.customer)
        case .linkCustomer(let message): set(message.scope, .customerID(message.customerID))
        case .getCustomer(let message): set(message.scope, message.customer)
        case .backfillNotifications(let message): set(message.scope, nil)
        case .listCustomers(let message): set(message.scope, nil)
        case .getFamily(let message):
            set(message.scope, message.customer)
            if message.customer == nil { name = "household:\(message.householdID)" }
        case .listRefunds(let message): set(message.scope, nil)
        case .auditAccess(let message): set(message.scope, nil)
        case .getReconciliation(let message): set(message.scope, nil)
        case .testNotification(let message): set(message.scope, nil)
        case .createBackup(let message): name = "backup:\(message.name)"
        case .importTransactions(let message):
            set(message.scope, message.rows.first?.customer)
            if message.rows.count > 1 { name += " and others" }
        // Who is to be forgotten is not written down by name: his number is, when it is known.
        case .forgetCustomer(let message):
            set(message.scope, nil)
            if message.followUpNumber != 0 { name = "number:\(message.followUpNumber)" }
        }
    }

    private mutating func set(_ scope: Message.Scope?, _ customer: Message.CustomerRef?) {
        if let scope {
            app = scope.bundleID.description
            switch scope.environment.rawValue {
            case 0: break
            case 1: app += ":Production"
            case 2: app += ":Sandbox"
            case let other: app += ":\(other)"
            }
        }
        switch customer {
        case .customerID(let text): name = "customer:\(text)"
        case .appAccountToken(let text): name = "token:\(text)"
        case .appTransactionID(let text): name = "app-transaction:\(text)"
        case .originalTransactionID(let text): name = "original-transaction:\(text)"
        case nil: break
        }
    }
}
