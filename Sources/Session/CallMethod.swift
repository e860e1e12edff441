internal import Wire

/// A call of the service, as metrics tell calls apart; the raw values are positions in counters, in
/// the order of the fields of `Request.call`.
package enum CallMethod: UInt8, CaseIterable, Hashable, Sendable {
    case checkAccess = 0
    case checkAccessBatch
    case ingestNotification
    case ingestTransactions
    case rebuildCustomer
    case linkCustomer
    case getCustomer
    case getServerInfo
    case backfillNotifications
    case listCustomers
    case getFamily
    case listRefunds
    case auditAccess
    case getReconciliation
    case testNotification
    case createBackup
    case importTransactions
    case forgetCustomer
    /// What is no call, or none that this release knows.
    case other

    /// The name in the service's definition; `other` for the last.
    package var name: String {
        switch self {
        case .checkAccess: "CheckAccess"
        case .checkAccessBatch: "CheckAccessBatch"
        case .ingestNotification: "IngestNotification"
        case .ingestTransactions: "IngestTransactions"
        case .rebuildCustomer: "RebuildCustomer"
        case .linkCustomer: "LinkCustomer"
        case .getCustomer: "GetCustomer"
        case .getServerInfo: "GetServerInfo"
        case .backfillNotifications: "BackfillNotifications"
        case .listCustomers: "ListCustomers"
        case .getFamily: "GetFamily"
        case .listRefunds: "ListRefunds"
        case .auditAccess: "AuditAccess"
        case .getReconciliation: "GetReconciliation"
        case .testNotification: "TestNotification"
        case .createBackup: "CreateBackup"
        case .importTransactions: "ImportTransactions"
        case .forgetCustomer: "ForgetCustomer"
        case .other: "other"
        }
    }

    /// The method of a request.
    init(_ call: Request.Call?) {
        switch call {
        case nil: self = .other
        case .checkAccess: self = .checkAccess
        case .checkAccessBatch: self = .checkAccessBatch
        case .ingestNotification: self = .ingestNotification
        case .ingestTransactions: self = .ingestTransactions
        case .rebuildCustomer: self = .rebuildCustomer
        case .linkCustomer: self = .linkCustomer
        case .getCustomer: self = .getCustomer
        case .getServerInfo: self = .getServerInfo
        case .backfillNotifications: self = .backfillNotifications
        case .listCustomers: self = .listCustomers
        case .getFamily: self = .getFamily
        case .listRefunds: self = .listRefunds
        case .auditAccess: self = .auditAccess
        case .getReconciliation: self = .getReconciliation
        case .testNotification: self = .testNotification
        case .createBackup: self = .createBackup
        case .importTransactions: self = .importTransactions
        case .forgetCustomer: self = .forgetCustomer
        }
    }
}
