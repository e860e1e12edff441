internal import Entitlements
internal import Service
internal import Storage
internal import Wire

/// Turns what the service says into the messages of the wire; values only, nothing is decided here.
enum ReplyMapping {
    static func response(_ requestID: UInt64, _ reply: WriteReply) -> Response {
        switch reply {
        case .notification(let reply):
            Response(id: requestID, result: .ingestNotification(notification(reply)))
        case .transactions(let changes, let revision):
            Response(id: requestID, result: .ingestTransactions(write(changes, revision)))
        case .link(let changes, let revision):
            Response(id: requestID, result: .linkCustomer(write(changes, revision)))
        case .rebuild(let reply):
            Response(id: requestID, result: .rebuildCustomer(rebuild(reply)))
        case .imported(let reply):
            Response(id: requestID, result: .importTransactions(imported(reply)))
        case .forgotten(let reply):
            Response(id: requestID, result: .forgetCustomer(forgotten(reply)))
        case .noted:
            preconditionFailure("no call of the wire is answered so")
        }
    }

    static func response(_ requestID: UInt64, _ refusal: Refusal) -> Response {
        Response(
            id: requestID, status: .init(rawValue: refusal.status.rawValue),
            reason: Text(refusal.reason.rawValue), message: Text(refusal.message),
            retryAfterMilliseconds: refusal.retryAfterMilliseconds)
    }

    static func customer(_ view: CustomerView) -> Message.GetCustomerResponse {
        var message = Message.GetCustomerResponse()
        message.customerID = Text(view.customerID)
        message.entitlements = view.entitlements.map(entitlement)
        message.transactions = view.transactions.map(transaction)
        message.notifications = view.notifications.map(notification)
        message.identities = view.identities.map { Text($0) }
        message.links = view.links.map(link)
        message.revision = view.revision
        message.nextPageToken = Text(view.nextPageToken)
        message.transactionsTotal = UInt32(clamping: view.transactionCount)
        message.householdID = Text(view.householdID)
        message.audit = view.audit.map(audit)
        message.refreshedAtMilliseconds = view.refreshedAt
        message.queuedRefresh = view.queuedRefresh.map(queuedRefresh)
        return message
    }

    static func serverInfo(
        _ info: ServerInfo, _ identity: ServerIdentity
    ) -> Message.GetServerInfoResponse {
        var message = Message.GetServerInfoResponse()
        message.version = Text(identity.version)
        message.commit = Text(identity.commit)
        message.revision = info.revision
        message.uptimeMilliseconds = info.uptimeMilliseconds
        message.scopes = info.scopes.map {
            Message.Scope(
                bundleID: Text($0.bundleID),
                environment: .init(rawValue: Int32($0.environment.rawValue)))
        }
        message.customers = info.customerCount
        message.transactions = info.transactionCount
        message.appStoreAPIConfigured = info.isAppStoreConfigured
        message.protocolVersion = ServerIdentity.protocolVersion
        return message
    }
}

extension ReplyMapping {
    private static func notification(
        _ reply: NotificationReply
    ) -> Message.IngestNotificationResponse {
        var message = Message.IngestNotificationResponse()
        message.notificationUUID = Text(reply.notificationUUID)
        message.notificationType = Text(reply.type)
        message.subtype = Text(reply.subtype)
        message.disposition = .init(rawValue: Int32(reply.disposition.rawValue))
        message.changes = reply.changes.map(change)
        message.revision = reply.revision
        return message
    }

    private static func write(
        _ changes: [EntitlementChange], _ revision: UInt64
    ) -> Message.WriteResponse {
        var message = Message.WriteResponse()
        message.changes = changes.map(change)
        message.revision = revision
        return message
    }

    static func rebuild(_ reply: RebuildReply) -> Message.RebuildCustomerResponse {
        var message = Message.RebuildCustomerResponse()
        message.source = .init(rawValue: reply.source.rawValue)
        message.transactionsRead = UInt32(clamping: reply.transactionCount)
        message.changes = reply.changes.map(change)
        message.entitlements = reply.entitlements.map(entitlement)
        message.revision = reply.revision
        message.problems = reply.problems.map(problem)
        return message
    }

    static func change(_ change: EntitlementChange) -> Message.Change {
        var message = Message.Change()
        message.customerID = Text(change.customerID)
        message.productID = Text(change.productID)
        message.grantedBefore = change.wasGranted
        message.grantedAfter = change.isGranted
        message.reason = .init(rawValue: Int32(change.reason.rawValue))
        return message
    }

    private static func entitlement(_ status: EntitlementStatus) -> Message.Entitlement {
        var message = Message.Entitlement()
        message.productID = Text(status.productID)
        message.names = status.names.map { Text($0) }
        message.granted = status.reason.isGranted
        message.reason = .init(rawValue: Int32(status.reason.rawValue))
        message.ownership = .init(rawValue: Int32(status.ownership.rawValue))
        message.validUntilMilliseconds = status.validUntil
        message.transactionID = Text(status.transactionID)
        message.originalTransactionID = Text(status.originalTransactionID)
        message.revokedAtMilliseconds = status.revokedAt
        message.paymentReversed = status.isPaymentReversed
        message.causeCertain = status.isCauseCertain
        message.familyConfidence = .init(rawValue: status.familyConfidence.rawValue)
        message.familyTransactionID = Text(status.familyTransactionID)
        return message
    }

    private static func transaction(_ view: TransactionView) -> Message.TransactionRecord {
        let transaction = view.transaction
        var message = Message.TransactionRecord()
        message.transactionID = Text(transaction.transactionID)
        message.originalTransactionID = Text(transaction.originalTransactionID)
        message.productID = Text(transaction.productID)
        message.type = Text(transaction.rawType)
        message.ownership = .init(rawValue: Int32(transaction.ownership.rawValue))
        message.purchaseDateMilliseconds = transaction.purchaseDate?.milliseconds ?? 0
        message.expiresDateMilliseconds = transaction.expiresDate?.milliseconds ?? 0
        message.revocationDateMilliseconds = transaction.revocationDate?.milliseconds ?? 0
        message.revocationReason = transaction.revocationReason ?? 0
        message.revocationType = Text(transaction.revocationType ?? "")
        message.revocationPercentage = transaction.revocationPercentage ?? 0
        message.isUpgraded = transaction.isUpgraded
        message.signedDateMilliseconds = transaction.signedDate.milliseconds
        message.appAccountToken = Text(transaction.appAccountToken ?? "")
        message.appTransactionID = Text(transaction.appTransactionID ?? "")
        message.webOrderLineItemID = Text(transaction.webOrderLineItemID ?? "")
        message.priceMilliunits = transaction.price ?? 0
        message.currency = Text(transaction.currency ?? "")
        message.rawOwnership = Text(transaction.rawOwnership)
        message.overridden = view.isOverridden
        message.suspended = view.isSuspended
        message.signedPayload = Text(view.payload)
        let evidence = view.evidence
        message.datelessRevokeMilliseconds = evidence.datelessRevoke?.milliseconds ?? 0
        message.grantNotificationMilliseconds = evidence.grantNotification?.milliseconds ?? 0
        message.activeStatusMilliseconds = evidence.activeStatus?.milliseconds ?? 0
        message.datedCopyMilliseconds = evidence.datedCopy?.milliseconds ?? 0
        message.signedRenewal = Text(view.renewalPayload)
        message.chainLinked = view.isChainLinked
        return message
    }

    static func notification(
        _ record: Storage.NotificationRecord
    ) -> Message.NotificationRecord {
        var message = Message.NotificationRecord()
        message.notificationUUID = Text(record.notificationUUID)
        message.notificationType = Text(record.type)
        message.subtype = Text(record.subtype)
        message.signedDateMilliseconds = record.signedDate.milliseconds
        message.receivedAtMilliseconds = record.receivedAt.milliseconds
        message.disposition = .init(rawValue: Int32(record.disposition.rawValue))
        message.transactionID = Text(record.transactionID)
        message.revision = record.revision
        return message
    }

    private static func audit(_ record: AuditRecord) -> Message.AuditEntry {
        var message = Message.AuditEntry()
        message.atMilliseconds = record.at.milliseconds
        message.action = Text(record.action)
        message.customerID = Text(record.customer)
        message.detail = Text(record.detail)
        return message
    }
}
