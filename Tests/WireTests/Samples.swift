import Wire

/// Requests and responses with every field set, one per call.
enum Samples {
    static let check: Message.CheckAccessRequest = {
        var check = Message.CheckAccessRequest(
            customer: .customerID("c-ana"), subject: .product("meadow.lifetime"))
        check.atMilliseconds = -1
        check.minRevision = .max
        check.scope = .init(bundleID: "com.example.meadow", environment: .sandbox)
        check.units = 300
        return check
    }()

    static let requests: [Request] = calls.enumerated().map { index, call in
        var request = Request(id: UInt64(index + 1) << (6 * index), call: call)
        request.timeoutMilliseconds = .max
        request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        request.apiKey = "key"
        return request
    }

    private static let calls: [Request.Call] = [
        .getServerInfo, .checkAccess(check),
        .checkAccessBatch([
            check, .init(customer: .appAccountToken("t"), subject: .entitlement("plus")),
        ]),
        .ingestNotification(.init(payload: [0, 255, 10])), .ingestTransactions(upload),
        .rebuildCustomer(rebuild), .linkCustomer(link), .getCustomer(get),
        .checkAccess(.init(customer: .originalTransactionID("2000"), subject: .entitlement(""))),
    ]

    private static let upload: Message.IngestTransactionsRequest = {
        var upload = Message.IngestTransactionsRequest()
        upload.customerID = Text([0x61, 0, 0x62])
        upload.signedTransactions = ["a.b.c", "d.e.f", ""]
        upload.signedRenewals = ["g.h.i"]
        upload.signedAppTransaction = "j.k.l"
        upload.transfer = true
        return upload
    }()

    private static let rebuild: Message.RebuildCustomerRequest = {
        var rebuild = Message.RebuildCustomerRequest()
        rebuild.customer = .appTransactionID("7040")
        rebuild.source = .init(rawValue: 77)
        rebuild.dryRun = true
        rebuild.scope = .init(environment: .init(rawValue: -1))
        return rebuild
    }()

    private static let link: Message.LinkCustomerRequest = {
        var link = Message.LinkCustomerRequest()
        link.customerID = "c-ana"
        link.identity = .appAccountToken("6E7B5F4A-0000-4000-8000-000000000001")
        link.scope = .init(bundleID: "x")
        link.transfer = true
        link.householdID = "h"
        link.leaveHousehold = true
        return link
    }()

    private static let get: Message.GetCustomerRequest = {
        var get = Message.GetCustomerRequest()
        get.customer = .customerID("c-ana")
        get.scope = .init()
        get.pageToken = "tx:200"
        return get
    }()

    static let answer: Message.CheckAccessResponse = {
        var answer = Message.CheckAccessResponse()
        answer.granted = true
        answer.reason = .gracePeriod
        answer.ownership = .familyShared
        answer.validUntilMilliseconds = 1_777_629_600_000
        answer.productID = "meadow.plus.month"
        answer.transactionID = "2000000100000705"
        answer.originalTransactionID = "2000000100000700"
        answer.revision = 1 << 40
        return answer
    }()

    private static let change: Message.Change = {
        var change = Message.Change()
        change.customerID = "c-ana"
        change.productID = "meadow.lifetime"
        change.grantedBefore = true
        change.grantedAfter = false
        change.reason = .familyRefunded
        return change
    }()

    private static let entitlement: Message.Entitlement = {
        var entitlement = Message.Entitlement()
        entitlement.productID = "meadow.lifetime"
        entitlement.names = ["plus", "pro"]
        entitlement.granted = true
        entitlement.reason = .active
        entitlement.ownership = .purchased
        entitlement.validUntilMilliseconds = 5
        entitlement.transactionID = "1"
        entitlement.originalTransactionID = "2"
        entitlement.revokedAtMilliseconds = 3
        entitlement.paymentReversed = true
        entitlement.causeCertain = true
        return entitlement
    }()

    private static let record: Message.TransactionRecord = {
        var record = Message.TransactionRecord()
        record.transactionID = "1"
        record.originalTransactionID = "2"
        record.productID = "3"
        record.type = "Auto-Renewable Subscription"
        record.ownership = .other
        record.purchaseDateMilliseconds = 4
        record.expiresDateMilliseconds = 5
        record.revocationDateMilliseconds = 6
        record.revocationReason = -7
        record.revocationType = "REFUND_PRORATED"
        record.revocationPercentage = 50_000
        record.isUpgraded = true
        record.signedDateMilliseconds = 8
        record.appAccountToken = "9"
        record.appTransactionID = "10"
        record.webOrderLineItemID = "11"
        record.priceMilliunits = -12
        record.currency = "EUR"
        record.rawOwnership = "SOMETHING_NEW"
        record.overridden = true
        record.suspended = true
        record.signedPayload = "e.y.J"
        return record
    }()

    private static let notification: Message.NotificationRecord = {
        var notification = Message.NotificationRecord()
        notification.notificationUUID = "u"
        notification.notificationType = "REVOKE"
        notification.subtype = "s"
        notification.signedDateMilliseconds = 1
        notification.receivedAtMilliseconds = 2
        notification.disposition = .storedUnknown
        notification.transactionID = "3"
        notification.revision = 4
        return notification
    }()

    private static let audit: Message.AuditEntry = {
        var entry = Message.AuditEntry()
        entry.atMilliseconds = 1
        entry.action = "LINKED"
        entry.customerID = "c-ana"
        entry.detail = "d"
        return entry
    }()

    static let responses: [Response] =
        results.enumerated().map { Response(id: UInt64($0 + 1), result: $1) } + [
            Response(
                id: 0, status: .invalidArgument, reason: "MALFORMED_FRAME", message: "no é",
                retryAfterMilliseconds: 250)
        ]

    private static let results: [Response.Result] = {
        var batch = Message.CheckAccessBatchResponse()
        batch.results = [answer, .init()]
        batch.revision = 9
        var ingest = Message.IngestNotificationResponse()
        ingest.notificationUUID = "u"
        ingest.notificationType = "REFUND"
        ingest.subtype = "s"
        ingest.disposition = .applied
        ingest.changes = [change, change]
        ingest.revision = 10
        var write = Message.WriteResponse()
        write.changes = [change]
        write.revision = 11
        var rebuild = Message.RebuildCustomerResponse()
        rebuild.source = .storedFacts
        rebuild.transactionsRead = 3
        rebuild.changes = [change]
        rebuild.entitlements = [entitlement]
        rebuild.revision = 12
        var customer = Message.GetCustomerResponse()
        customer.customerID = "c-ana"
        customer.entitlements = [entitlement]
        customer.transactions = [record, .init()]
        customer.notifications = [notification]
        customer.identities = ["a", "b"]
        customer.revision = 13
        customer.nextPageToken = "t"
        customer.transactionsTotal = 2
        customer.householdID = "h-1"
        customer.audit = [audit]
        var server = Message.GetServerInfoResponse()
        server.version = "1"
        server.commit = "2"
        server.revision = 3
        server.uptimeMilliseconds = 4
        server.scopes = [.init(bundleID: "com.example.meadow", environment: .production), .init()]
        server.customers = 5
        server.transactions = 6
        server.appStoreAPIConfigured = true
        server.protocolVersion = 1
        return [
            .checkAccess(answer), .checkAccessBatch(batch), .ingestNotification(ingest),
            .ingestTransactions(write), .rebuildCustomer(rebuild), .linkCustomer(write),
            .getCustomer(customer), .getServerInfo(server),
        ]
    }()
}
