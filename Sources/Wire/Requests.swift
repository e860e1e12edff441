extension Message {
    /// What Apple POSTed.
    package struct IngestNotificationRequest: Hashable, Sendable {
        /// The HTTP body exactly as it came (V2 or V1), or a bare JWS.
        package var payload: [UInt8] = []

        /// A request without a body; set it.
        package init() {}

        /// A request with this body.
        package init(payload: [UInt8]) { self.payload = payload }
    }

    /// Signed facts of one customer.
    package struct IngestTransactionsRequest: Hashable, Sendable {
        /// Whom they belong to; empty = unknown yet.
        package var customerID = Text()
        /// JWS in compact form.
        package var signedTransactions: [Text] = []
        /// JWS in compact form.
        package var signedRenewals: [Text] = []
        /// JWS in compact form; empty = none.
        package var signedAppTransaction = Text()
        /// Move what belongs to another named customer instead of refusing.
        package var transfer = false

        /// An empty upload; set the fields.
        package init() {}
    }

    /// Rebuild one customer from the full history.
    package struct RebuildCustomerRequest: Hashable, Sendable {
        /// Who; nil when the request names nobody.
        package var customer: CustomerRef?
        /// Where to read the history.
        package var source = Source.unspecified
        /// Say what would change, change nothing.
        package var dryRun = false
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?

        /// A rebuild of nobody; set the fields.
        package init() {}
    }

    /// Say who a customer is, and with whom he shares purchases.
    package struct LinkCustomerRequest: Hashable, Sendable {
        /// The app backend's own user id.
        package var customerID = Text()
        /// Apple's name for the same person; nil when only the household is said.
        package var identity: CustomerRef?
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?
        /// Move what the identity names when it is another named customer's.
        package var transfer = false
        /// Who shares purchases with him; empty = unchanged.
        package var householdID = Text()
        /// Take him out of his household.
        package var leaveHousehold = false

        /// A link of nobody; set the fields.
        package init() {}
    }

    /// Show one customer.
    package struct GetCustomerRequest: Hashable, Sendable {
        /// Who; nil when the request names nobody.
        package var customer: CustomerRef?
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?
        /// Empty, or the token that the page before gave.
        package var pageToken = Text()
        /// Whether every record comes with its payload, however few fit a page then.
        package var allPayloads = false

        /// A question about nobody; set the fields.
        package init() {}
    }
}

/// One request: the envelope and the call in it.
package struct Request: Hashable, Sendable {
    /// What is asked for.
    package enum Call: Hashable, Sendable {
        /// One check.
        case checkAccess(Message.CheckAccessRequest)
        /// Up to 1,000 checks that see one revision.
        case checkAccessBatch([Message.CheckAccessRequest])
        /// What Apple POSTed.
        case ingestNotification(Message.IngestNotificationRequest)
        /// Signed facts of one customer.
        case ingestTransactions(Message.IngestTransactionsRequest)
        /// Rebuild one customer.
        case rebuildCustomer(Message.RebuildCustomerRequest)
        /// Say who a customer is.
        case linkCustomer(Message.LinkCustomerRequest)
        /// Show one customer.
        case getCustomer(Message.GetCustomerRequest)
        /// Show the server.
        case getServerInfo
        /// Take in a page of Apple's notification history.
        case backfillNotifications(Message.BackfillNotificationsRequest)
        /// Show a page of customers.
        case listCustomers(Message.ListCustomersRequest)
        /// Show who shares with whom.
        case getFamily(Message.GetFamilyRequest)
        /// Show a page of the bill.
        case listRefunds(Message.ListRefundsRequest)
        /// Show who still has access on a refunded purchase.
        case auditAccess(Message.AuditAccessRequest)
        /// Show what is queued for a fetch from Apple.
        case getReconciliation(Message.GetReconciliationRequest)
        /// Ask Apple for a test notification, or what became of one.
        case testNotification(Message.TestNotificationRequest)
        /// Begin a backup, or tell how one goes on.
        case createBackup(Message.CreateBackupRequest)
        /// Take in what another server exported.
        case importTransactions(Message.ImportTransactionsRequest)
        /// Forget a customer, or tell how it goes on.
        case forgetCustomer(Message.ForgetCustomerRequest)
    }

    /// Chosen by the client, returned in the response.
    package var id: UInt64
    /// How long the client waits, in milliseconds; 0 = the server's default.
    package var timeoutMilliseconds: UInt32 = 0
    /// W3C trace context; empty = none.
    package var traceparent = Text()
    /// The caller's API key; empty = none.
    package var apiKey = Text()
    /// The call; nil when the request carries none that this release knows.
    package var call: Call?

    /// A request with the default timeout.
    package init(id: UInt64, call: Call?) {
        self.id = id
        self.call = call
    }
}
