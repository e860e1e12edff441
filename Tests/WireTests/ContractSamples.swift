import Wire

/// Messages whose every text is the name of its field in the contract and whose every number is the
/// field's number; flags are set. `ContractTests` compares them with the .proto.
enum ContractSamples {
    static let change: Message.Change = {
        var message = Message.Change()
        message.customerID = "customer_id"
        message.productID = "product_id"
        message.grantedBefore = true
        message.grantedAfter = true
        message.reason = .init(rawValue: 5)
        return message
    }()

    static let notificationRecord: Message.NotificationRecord = {
        var message = Message.NotificationRecord()
        message.notificationUUID = "notification_uuid"
        message.notificationType = "notification_type"
        message.subtype = "subtype"
        message.signedDateMilliseconds = 4
        message.receivedAtMilliseconds = 5
        message.disposition = .init(rawValue: 6)
        message.transactionID = "transaction_id"
        message.revision = 8
        return message
    }()

    static let entitlement: Message.Entitlement = {
        var message = Message.Entitlement()
        message.productID = "product_id"
        message.names = ["names"]
        message.granted = true
        message.reason = .init(rawValue: 4)
        message.ownership = .init(rawValue: 5)
        message.validUntilMilliseconds = 6
        message.transactionID = "transaction_id"
        message.originalTransactionID = "original_transaction_id"
        message.revokedAtMilliseconds = 9
        message.paymentReversed = true
        message.causeCertain = true
        message.familyConfidence = .init(rawValue: 12)
        message.familyTransactionID = "family_transaction_id"
        return message
    }()

    static let transactionRecord: Message.TransactionRecord = {
        var message = Message.TransactionRecord()
        message.transactionID = "transaction_id"
        message.originalTransactionID = "original_transaction_id"
        message.productID = "product_id"
        message.type = "type"
        message.ownership = .init(rawValue: 5)
        message.purchaseDateMilliseconds = 6
        message.expiresDateMilliseconds = 7
        message.revocationDateMilliseconds = 8
        message.revocationReason = 9
        message.revocationType = "revocation_type"
        message.revocationPercentage = 11
        message.isUpgraded = true
        message.signedDateMilliseconds = 13
        message.appAccountToken = "app_account_token"
        message.appTransactionID = "app_transaction_id"
        message.webOrderLineItemID = "web_order_line_item_id"
        message.priceMilliunits = 17
        message.currency = "currency"
        message.rawOwnership = "raw_ownership"
        message.overridden = true
        message.suspended = true
        message.signedPayload = "signed_payload"
        message.datelessRevokeMilliseconds = 23
        message.grantNotificationMilliseconds = 24
        message.activeStatusMilliseconds = 25
        message.datedCopyMilliseconds = 26
        message.signedRenewal = "signed_renewal"
        message.chainLinked = true
        return message
    }()

    static let auditEntry: Message.AuditEntry = {
        var message = Message.AuditEntry()
        message.atMilliseconds = 1
        message.action = "action"
        message.customerID = "customer_id"
        message.detail = "detail"
        return message
    }()

    static let rebuildCustomerResponse: Message.RebuildCustomerResponse = {
        var message = Message.RebuildCustomerResponse()
        message.source = .init(rawValue: 1)
        message.transactionsRead = 2
        message.changes = [change]
        message.entitlements = [entitlement]
        message.revision = 5
        message.problems = [itemProblem]
        return message
    }()

    static let getCustomerResponse: Message.GetCustomerResponse = {
        var message = Message.GetCustomerResponse()
        message.customerID = "customer_id"
        message.entitlements = [entitlement]
        message.transactions = [transactionRecord]
        message.notifications = [notificationRecord]
        message.identities = ["identities"]
        message.revision = 6
        message.nextPageToken = "next_page_token"
        message.transactionsTotal = 8
        message.householdID = "household_id"
        message.audit = [auditEntry]
        message.refreshedAtMilliseconds = 11
        message.queuedRefresh = queuedRefresh
        var link = Message.CustomerLink()
        link.identity = .customerID("customer_id")
        link.movedAtRevision = 2
        message.links = [link]
        return message
    }()

    static let itemProblem: Message.ItemProblem = {
        var message = Message.ItemProblem()
        message.reason = "reason"
        message.message = "message"
        return message
    }()

    static let queuedRefresh: Message.QueuedRefresh = {
        var message = Message.QueuedRefresh()
        message.customerID = "customer_id"
        message.trigger = "trigger"
        message.queuedAtMilliseconds = 3
        message.notBeforeMilliseconds = 4
        message.attempts = 5
        message.lastReason = "last_reason"
        message.lastMessage = "last_message"
        return message
    }()

    static let backfillNotificationsRequest: Message.BackfillNotificationsRequest = {
        var message = Message.BackfillNotificationsRequest()
        message.scope = Message.Scope(bundleID: "bundle_id", environment: .init(rawValue: 2))
        message.fromMilliseconds = 2
        message.toMilliseconds = 3
        message.pageToken = "page_token"
        message.onlyFailures = true
        message.dryRun = true
        return message
    }()

    static let backfillNotificationsResponse: Message.BackfillNotificationsResponse = {
        var message = Message.BackfillNotificationsResponse()
        message.notificationsRead = 1
        message.recovered = [notificationRecord]
        message.changes = [change]
        message.problems = [itemProblem]
        message.nextPageToken = "next_page_token"
        message.revision = 6
        return message
    }()

    static let testNotificationRequest: Message.TestNotificationRequest = {
        var message = Message.TestNotificationRequest()
        message.scope = Message.Scope(bundleID: "bundle_id", environment: .init(rawValue: 2))
        message.token = "token"
        return message
    }()

    static let sendAttempt: Message.SendAttempt = {
        var message = Message.SendAttempt()
        message.atMilliseconds = 1
        message.result = "result"
        return message
    }()

    static let testNotificationResponse: Message.TestNotificationResponse = {
        var message = Message.TestNotificationResponse()
        message.token = "token"
        message.attempts = [sendAttempt]
        message.received = true
        return message
    }()

    static let getReconciliationRequest: Message.GetReconciliationRequest = {
        var message = Message.GetReconciliationRequest()
        message.scope = Message.Scope(bundleID: "bundle_id", environment: .init(rawValue: 2))
        message.pageToken = "page_token"
        message.pageSize = 3
        return message
    }()

    static let getReconciliationResponse: Message.GetReconciliationResponse = {
        var message = Message.GetReconciliationResponse()
        message.appStoreAPIConfigured = true
        message.queued = 2
        message.refreshes = [queuedRefresh]
        message.nextPageToken = "next_page_token"
        message.notificationsCompleteUntilMilliseconds = 5
        message.sweepFinishedAtMilliseconds = 6
        message.refreshesSucceeded = 7
        message.refreshesFailed = 8
        message.lastFailureReason = "last_failure_reason"
        message.lastFailureMessage = "last_failure_message"
        message.lastFailureAtMilliseconds = 11
        return message
    }()

    static let createBackupRequest: Message.CreateBackupRequest = {
        var message = Message.CreateBackupRequest()
        message.name = "name"
        message.followUp = true
        return message
    }()

    static let createBackupResponse: Message.CreateBackupResponse = {
        var message = Message.CreateBackupResponse()
        message.name = "name"
        message.path = "path"
        message.complete = true
        message.revision = 4
        message.files = 5
        message.bytes = 6
        message.bytesDone = 7
        message.createdAtMilliseconds = 8
        message.durationMilliseconds = 9
        return message
    }()

    static let importTransactionsRequest: Message.ImportTransactionsRequest = {
        var row = Message.ImportedTransaction()
        row.customer = .customerID("customer_id")
        row.signedTransaction = "signed_transaction"
        row.signedRenewal = "signed_renewal"
        row.datelessRevokeMilliseconds = 4
        row.grantNotificationMilliseconds = 5
        row.activeStatusMilliseconds = 6
        row.datedCopyMilliseconds = 7
        row.chainLinked = true
        var message = Message.ImportTransactionsRequest()
        message.scope = Message.Scope(bundleID: "bundle_id", environment: .init(rawValue: 2))
        message.rows = [row]
        message.dryRun = true
        return message
    }()

    static let importTransactionsResponse: Message.ImportTransactionsResponse = {
        var problem = Message.ImportProblem()
        problem.position = 1
        problem.status = .init(rawValue: 2)
        problem.reason = "reason"
        problem.message = "message"
        problem.takenIn = true
        var message = Message.ImportTransactionsResponse()
        message.problems = [problem]
        message.learnt = 2
        message.changes = [change]
        message.revision = 4
        return message
    }()

    static let forgetCustomerRequest: Message.ForgetCustomerRequest = {
        var message = Message.ForgetCustomerRequest()
        message.customer = .customerID("customer_id")
        message.scope = Message.Scope(bundleID: "bundle_id", environment: .sandbox)
        message.dryRun = true
        message.followUpNumber = 4
        return message
    }()

    static let forgetCustomerResponse: Message.ForgetCustomerResponse = {
        var message = Message.ForgetCustomerResponse()
        message.customerNumber = 1
        message.names = ["names"]
        message.namesTotal = 3
        message.transactions = 4
        message.payloads = 5
        message.auditEntries = 6
        message.inHousehold = true
        message.wasQueued = true
        message.erased = true
        message.revision = 10
        return message
    }()

    /// Every call that came after the first eight.
    static let calls: [Request.Call] = [
        .backfillNotifications(backfillNotificationsRequest),
        .listCustomers(listCustomersRequest), .getFamily(getFamilyRequest),
        .listRefunds(listRefundsRequest), .auditAccess(auditAccessRequest),
        .getReconciliation(getReconciliationRequest), .testNotification(testNotificationRequest),
        .createBackup(createBackupRequest), .importTransactions(importTransactionsRequest),
        .forgetCustomer(forgetCustomerRequest),
    ]

    static let results: [Response.Result] = [
        .rebuildCustomer(rebuildCustomerResponse), .getCustomer(getCustomerResponse),
        .backfillNotifications(backfillNotificationsResponse),
        .listCustomers(listCustomersResponse), .getFamily(getFamilyResponse),
        .listRefunds(listRefundsResponse), .auditAccess(auditAccessResponse),
        .getReconciliation(getReconciliationResponse), .testNotification(testNotificationResponse),
        .createBackup(createBackupResponse), .importTransactions(importTransactionsResponse),
        .forgetCustomer(forgetCustomerResponse),
    ]
}
