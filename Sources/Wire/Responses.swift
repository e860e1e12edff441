extension Message {
    /// The answers to a batch of checks.
    package struct CheckAccessBatchResponse: Hashable, Sendable {
        /// In the order of the checks.
        package var results: [CheckAccessResponse] = []
        /// One revision for all of them.
        package var revision: UInt64 = 0

        /// No answers; set the fields.
        package init() {}
    }

    /// What became of a notification.
    package struct IngestNotificationResponse: Hashable, Sendable {
        /// Apple's notificationUUID.
        package var notificationUUID = Text()
        /// As Apple named it.
        package var notificationType = Text()
        /// As Apple named it; empty = none.
        package var subtype = Text()
        /// What became of it.
        package var disposition = Disposition.unspecified
        /// Whose access changed.
        package var changes: [Change] = []
        /// The revision that contains it.
        package var revision: UInt64 = 0

        /// An answer about nothing; set the fields.
        package init() {}
    }

    /// What an upload or a link changed.
    package struct WriteResponse: Hashable, Sendable {
        /// Whose access changed.
        package var changes: [Change] = []
        /// The revision that contains the write.
        package var revision: UInt64 = 0

        /// No change; set the fields.
        package init() {}
    }

    /// What a rebuild read, changed and left.
    package struct RebuildCustomerResponse: Hashable, Sendable {
        /// Where the history was read.
        package var source = Source.unspecified
        /// How many transactions were read.
        package var transactionsRead: UInt32 = 0
        /// Whose access changed, or would change in a dry run.
        package var changes: [Change] = []
        /// The customer's entitlements afterwards.
        package var entitlements: [Entitlement] = []
        /// The revision that contains the rebuild.
        package var revision: UInt64 = 0
        /// What Apple's answer held and was not taken; the rest was.
        package var problems: [ItemProblem] = []

        /// A rebuild of nothing; set the fields.
        package init() {}
    }

    /// One customer, or one page of him.
    package struct GetCustomerResponse: Hashable, Sendable {
        /// The customer's own name, or that of his provisional customer.
        package var customerID = Text()
        /// On the first page.
        package var entitlements: [Entitlement] = []
        /// This page's transactions.
        package var transactions: [TransactionRecord] = []
        /// This page's notifications.
        package var notifications: [NotificationRecord] = []
        /// On the first page.
        package var identities: [Text] = []
        /// The last committed revision seen.
        package var revision: UInt64 = 0
        /// Empty on the last page.
        package var nextPageToken = Text()
        /// On all pages together.
        package var transactionsTotal: UInt32 = 0
        /// The declared household; empty without one.
        package var householdID = Text()
        /// On the first page.
        package var audit: [AuditEntry] = []
        /// When Apple's history of him was last fetched whole, milliseconds since 1970; 0 = never.
        package var refreshedAtMilliseconds: Int64 = 0
        /// What the queue holds for him.
        package var queuedRefresh: QueuedRefresh?
        /// What was linked to him in so many words, apart from the chains that he has.
        package var links: [CustomerLink] = []

        /// Nobody; set the fields.
        package init() {}
    }

    /// The server and its scopes.
    package struct GetServerInfoResponse: Hashable, Sendable {
        /// The release.
        package var version = Text()
        /// The commit that it was built from.
        package var commit = Text()
        /// The last committed revision.
        package var revision: UInt64 = 0
        /// Since the start, in milliseconds.
        package var uptimeMilliseconds: UInt64 = 0
        /// The configured apps and environments.
        package var scopes: [Scope] = []
        /// How many customers are stored.
        package var customers: UInt64 = 0
        /// How many transactions are stored.
        package var transactions: UInt64 = 0
        /// Whether rebuilds may read Apple's history.
        package var appStoreAPIConfigured = false
        /// The version of this contract.
        package var protocolVersion: UInt32 = 0

        /// No server; set the fields.
        package init() {}
    }
}

/// One response: the envelope and the result in it.
package struct Response: Hashable, Sendable {
    /// What was asked for.
    package enum Result: Hashable, Sendable {
        /// One check.
        case checkAccess(Message.CheckAccessResponse)
        /// A batch of checks.
        case checkAccessBatch(Message.CheckAccessBatchResponse)
        /// What became of a notification.
        case ingestNotification(Message.IngestNotificationResponse)
        /// What an upload changed.
        case ingestTransactions(Message.WriteResponse)
        /// What a rebuild did.
        case rebuildCustomer(Message.RebuildCustomerResponse)
        /// What a link changed.
        case linkCustomer(Message.WriteResponse)
        /// One customer.
        case getCustomer(Message.GetCustomerResponse)
        /// The server.
        case getServerInfo(Message.GetServerInfoResponse)
        /// What a page of Apple's notification history brought.
        case backfillNotifications(Message.BackfillNotificationsResponse)
        /// A page of customers.
        case listCustomers(Message.ListCustomersResponse)
        /// Who shares with whom.
        case getFamily(Message.GetFamilyResponse)
        /// A page of the bill.
        case listRefunds(Message.ListRefundsResponse)
        /// Who still has access on a refunded purchase.
        case auditAccess(Message.AuditAccessResponse)
        /// What is queued for a fetch from Apple.
        case getReconciliation(Message.GetReconciliationResponse)
        /// What became of a test notification.
        case testNotification(Message.TestNotificationResponse)
        /// How far a backup has come.
        case createBackup(Message.CreateBackupResponse)
        /// What became of an import.
        case importTransactions(Message.ImportTransactionsResponse)
        /// What went with a customer.
        case forgetCustomer(Message.ForgetCustomerResponse)
    }

    /// That of the request; 0 where the frame could not be understood.
    package var id: UInt64
    /// How it went.
    package var status: Message.Status = .ok
    /// UPPER_SNAKE, for machines; empty when OK.
    package var reason = Text()
    /// For people; empty when OK.
    package var message = Text()
    /// When to try again, in milliseconds from now; 0 = nothing said.
    package var retryAfterMilliseconds: UInt64 = 0
    /// The result; nil when the status is not OK, or when this release does not know the result.
    package var result: Result?

    /// A response that went well.
    package init(id: UInt64, result: Result?) {
        self.id = id
        self.result = result
    }

    /// A refusal.
    package init(
        id: UInt64, status: Message.Status, reason: Text, message: Text,
        retryAfterMilliseconds: UInt64 = 0
    ) {
        self.id = id
        self.status = status
        self.reason = reason
        self.message = message
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }
}
