internal import Authorization

extension CallMethod {
    /// The role that a call asks for: the whole table, in one place. `admin` may do all that the
    /// other roles may.
    ///
    /// | call | role |
    /// | --- | --- |
    /// | CheckAccess, CheckAccessBatch | check |
    /// | IngestNotification, IngestTransactions | ingest |
    /// | GetServerInfo, and a call that is not known here | any that is known |
    /// | everything else | admin |
    ///
    /// Nil: every caller who is known may. Without a default: a new call must be given its role.
    var role: Roles? {
        switch self {
        case .checkAccess, .checkAccessBatch: .check
        case .ingestNotification, .ingestTransactions: .ingest
        case .getServerInfo, .other: nil
        case .rebuildCustomer, .linkCustomer, .getCustomer, .backfillNotifications,
            .listCustomers, .getFamily, .listRefunds, .auditAccess, .getReconciliation,
            .testNotification, .createBackup, .importTransactions, .forgetCustomer:
            .admin
        }
    }
}
