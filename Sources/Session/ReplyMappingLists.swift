internal import Entitlements
internal import Service
internal import Storage
internal import Wire

// Lists, and what Apple was asked.

extension ReplyMapping {
    static func response(_ requestID: UInt64, _ reply: ReadReply) -> Response {
        switch reply {
        case .customer(let view):
            Response(id: requestID, result: .getCustomer(customer(view)))
        case .customers(let page):
            Response(id: requestID, result: .listCustomers(customers(page)))
        case .family(let view):
            Response(id: requestID, result: .getFamily(family(view)))
        case .refunds(let page):
            Response(id: requestID, result: .listRefunds(refunds(page)))
        case .audit(let page):
            Response(id: requestID, result: .auditAccess(audit(page)))
        case .reconciliation(let view):
            Response(id: requestID, result: .getReconciliation(reconciliation(view)))
        case .backup(let status):
            Response(id: requestID, result: .createBackup(backup(status)))
        case .forgotten(let reply):
            Response(id: requestID, result: .forgetCustomer(forgotten(reply)))
        }
    }

    static func response(_ requestID: UInt64, _ reply: RemoteReply) -> Response {
        switch reply {
        case .rebuild(let reply):
            Response(id: requestID, result: .rebuildCustomer(rebuild(reply)))
        case .backfill(let reply):
            Response(id: requestID, result: .backfillNotifications(backfill(reply)))
        case .testNotification(let reply):
            Response(id: requestID, result: .testNotification(testNotification(reply)))
        }
    }

    static func problem(_ refusal: Refusal) -> Message.ItemProblem {
        var message = Message.ItemProblem()
        message.reason = Text(refusal.reason.rawValue)
        message.message = Text(refusal.message)
        return message
    }

    static func queuedRefresh(_ queued: QueuedRefresh) -> Message.QueuedRefresh {
        var message = Message.QueuedRefresh()
        message.customerID = Text(queued.customerID)
        message.trigger = Text(queued.job.trigger.rawValue)
        message.queuedAtMilliseconds = queued.job.queuedAt.milliseconds
        message.notBeforeMilliseconds = queued.job.notBefore.milliseconds
        message.attempts = queued.job.attempts
        message.lastReason = Text(queued.job.lastReason)
        message.lastMessage = Text(queued.job.lastMessage)
        return message
    }
}

// MARK: - What Apple was asked

extension ReplyMapping {
    private static func backfill(_ reply: BackfillReply) -> Message.BackfillNotificationsResponse {
        var message = Message.BackfillNotificationsResponse()
        message.notificationsRead = UInt32(clamping: reply.notificationCount)
        message.recovered = reply.recovered.map(notification)
        message.changes = reply.changes.map(change)
        message.problems = reply.problems.map(problem)
        message.nextPageToken = Text(reply.nextPageToken)
        message.revision = reply.revision
        return message
    }

    private static func testNotification(
        _ reply: TestNotificationReply
    ) -> Message.TestNotificationResponse {
        var message = Message.TestNotificationResponse()
        message.token = Text(reply.token)
        message.attempts = reply.attempts.map {
            var attempt = Message.SendAttempt()
            attempt.atMilliseconds = $0.at.milliseconds
            attempt.result = Text($0.result)
            return attempt
        }
        message.received = reply.isReceived
        return message
    }

    private static func reconciliation(
        _ view: ReconciliationView
    ) -> Message.GetReconciliationResponse {
        var message = Message.GetReconciliationResponse()
        message.appStoreAPIConfigured = view.isAppStoreConfigured
        message.queued = view.queuedCount
        message.refreshes = view.refreshes.map(queuedRefresh)
        message.nextPageToken = Text(view.nextPageToken)
        message.notificationsCompleteUntilMilliseconds = view.notificationsCompleteUntil
        message.sweepFinishedAtMilliseconds = view.sweepFinishedAt
        message.refreshesSucceeded = view.succeededCount
        message.refreshesFailed = view.failedCount
        if let failure = view.lastFailure {
            message.lastFailureReason = Text(failure.refusal.reason.rawValue)
            message.lastFailureMessage = Text(failure.refusal.message)
            message.lastFailureAtMilliseconds = failure.at.milliseconds
        }
        return message
    }
}

// MARK: - Customers and families

extension ReplyMapping {
    private static func customers(_ page: CustomerPage) -> Message.ListCustomersResponse {
        var message = Message.ListCustomersResponse()
        message.customers = page.customers.map {
            var summary = Message.CustomerSummary()
            summary.customer = reference($0.customer)
            summary.transactions = UInt32(clamping: $0.transactionCount)
            summary.revision = $0.revision
            return summary
        }
        message.nextPageToken = Text(page.nextPageToken)
        message.customersTotal = page.customerCount
        message.revision = page.revision
        return message
    }

    static func reference(_ customer: CustomerReference) -> Message.CustomerRef {
        switch customer {
        case .customer(let name): .customerID(Text(name))
        case .appAccountToken(let token): .appAccountToken(Text(token))
        case .appTransaction(let id): .appTransactionID(Text(id))
        case .originalTransaction(let id): .originalTransactionID(Text(id))
        }
    }

    private static func family(_ view: FamilyView) -> Message.GetFamilyResponse {
        var message = Message.GetFamilyResponse()
        message.householdID = Text(view.householdID)
        message.members = view.members.map {
            var member = Message.FamilyMember()
            member.customerID = Text($0.customerID)
            member.copies = $0.copies.map(copy)
            return member
        }
        message.matched = view.matched.map(matched)
        message.warnings = view.warnings.map { Text($0) }
        message.revision = view.revision
        return message
    }

    private static func matched(_ view: MatchedFamilyView) -> Message.MatchedFamily {
        var message = Message.MatchedFamily()
        message.productID = Text(view.productID)
        message.purchaseDateMilliseconds = view.purchaseDate
        message.expiresDateMilliseconds = view.expiresDate
        message.confidence = .init(rawValue: view.confidence.rawValue)
        message.copies = view.copies.map(copy)
        message.note = Text(view.note)
        return message
    }

    private static func copy(_ view: FamilyCopyView) -> Message.FamilyCopy {
        var message = Message.FamilyCopy()
        message.customerID = Text(view.customerID)
        message.transactionID = Text(view.transactionID)
        message.originalTransactionID = Text(view.originalTransactionID)
        message.productID = Text(view.productID)
        message.ownership = .init(rawValue: Int32(view.ownership.rawValue))
        message.granted = view.reason.isGranted
        message.reason = .init(rawValue: Int32(view.reason.rawValue))
        message.revokedAtMilliseconds = view.revokedAt
        return message
    }

    private static func audit(_ page: AuditPage) -> Message.AuditAccessResponse {
        var message = Message.AuditAccessResponse()
        message.findings = page.findings.map(finding)
        message.nextPageToken = Text(page.nextPageToken)
        message.revision = page.revision
        return message
    }

    private static func finding(_ finding: Service.AccessFinding) -> Message.AccessFinding {
        var message = Message.AccessFinding()
        message.copy = copy(finding.copy)
        message.purchase = copy(finding.purchase)
        message.confidence = .init(rawValue: finding.confidence.rawValue)
        message.grantedUntilMilliseconds = finding.grantedUntil
        message.refreshedAtMilliseconds = finding.refreshedAt
        message.refreshQueued = finding.isRefreshQueued
        message.explanation = Text(finding.explanation)
        return message
    }
}

// MARK: - The bill

extension ReplyMapping {
    private static func refunds(_ page: RefundPage) -> Message.ListRefundsResponse {
        var message = Message.ListRefundsResponse()
        message.refunds = page.refunds.map(refund)
        message.nextPageToken = Text(page.nextPageToken)
        message.revision = page.revision
        return message
    }

    private static func refund(_ view: RefundView) -> Message.RefundRecord {
        let transaction = view.transaction
        var message = Message.RefundRecord()
        message.transactionID = Text(transaction.transactionID)
        message.originalTransactionID = Text(transaction.originalTransactionID)
        message.productID = Text(transaction.productID)
        message.customerID = Text(view.customerID)
        message.purchaseDateMilliseconds = transaction.purchaseDate?.milliseconds ?? 0
        message.refundedAtMilliseconds = view.refundedAt
        message.learnedAtMilliseconds = view.learnedAt
        message.purchaseUnknown = view.isPurchaseUnknown
        // A family copy carries the price that somebody else paid: it is no payment of this one.
        if !view.isPurchaseUnknown {
            message.priceMilliunits = transaction.price ?? 0
            message.currency = Text(transaction.currency ?? "")
            message.percentageMilliunits = view.percentage
            message.refundedMilliunits = view.refundedMilliunits
        }
        message.people = view.people.map(person)
        return message
    }

    private static func person(_ use: Service.PersonUse) -> Message.PersonUse {
        var message = Message.PersonUse()
        message.customerID = Text(use.customerID)
        message.transactionID = Text(use.transactionID)
        message.originalTransactionID = Text(use.originalTransactionID)
        message.ownership = .init(rawValue: Int32(use.ownership.rawValue))
        message.confidence = .init(rawValue: use.confidence.rawValue)
        message.days = UInt32(clamping: use.days)
        message.checks = use.checks
        message.units = use.units
        message.costMicros = use.costMicros
        message.leakedDays = UInt32(clamping: use.leakedDays)
        message.leakedChecks = use.leakedChecks
        message.leakedUnits = use.leakedUnits
        message.leakedCostMicros = use.leakedCostMicros
        message.leakedPeriods = UInt32(clamping: use.leakedPeriods)
        message.accessEndedAtMilliseconds = use.accessEndedAt
        return message
    }
}
