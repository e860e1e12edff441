internal import Wire

// The one place where messages of the wire become values of this library, and back.

extension Message.Scope {
    init(_ scope: Scope) {
        self.init(
            bundleID: Text(scope.bundleID),
            environment: Message.Environment(rawValue: scope.environment.rawValue))
    }
}

extension Scope {
    init(_ message: Message.Scope) {
        self.init(
            bundleID: message.bundleID.description,
            environment: message.environment == .unspecified
                ? .production : StoreEnvironment(rawValue: message.environment.rawValue))
    }
}

extension Message.CustomerRef {
    init(_ customer: CustomerReference) {
        switch customer {
        case .customer(let name): self = .customerID(Text(name))
        case .appAccountToken(let token): self = .appAccountToken(Text(token))
        case .appTransaction(let id): self = .appTransactionID(Text(id))
        case .originalTransaction(let id): self = .originalTransactionID(Text(id))
        }
    }
}

extension Message.CheckAccessRequest {
    init(_ question: AccessQuestion, scope defaultScope: Scope?) {
        let subject: Message.Subject =
            switch question.subject {
            case .product(let id): .product(Text(id))
            case .entitlement(let name): .entitlement(Text(name))
            }
        self.init(customer: Message.CustomerRef(question.customer), subject: subject)
        atMilliseconds = question.atMilliseconds ?? 0
        minRevision = question.minRevision
        scope = (question.scope ?? defaultScope).map { Message.Scope($0) }
        units = question.units
    }
}

extension AccessAnswer {
    init(_ message: Message.CheckAccessResponse) {
        self.init(
            isGranted: message.granted, reason: AccessReason(rawValue: message.reason.rawValue),
            ownership: Ownership(rawValue: message.ownership.rawValue),
            validUntilMilliseconds: Self.instant(message.validUntilMilliseconds),
            productID: message.productID.description,
            transactionID: message.transactionID.description,
            originalTransactionID: message.originalTransactionID.description,
            revision: message.revision)
    }

    /// The wire's 0 is no instant.
    static func instant(_ milliseconds: Int64) -> Int64? { milliseconds == 0 ? nil : milliseconds }
}

extension AccessChange {
    init(_ message: Message.Change) {
        customerID = message.customerID.description
        productID = message.productID.description
        wasGranted = message.grantedBefore
        isGranted = message.grantedAfter
        reason = AccessReason(rawValue: message.reason.rawValue)
    }
}

extension IngestedNotification {
    init(_ message: Message.IngestNotificationResponse) {
        notificationUUID = message.notificationUUID.description
        notificationType = message.notificationType.description
        subtype = message.subtype.description
        disposition = Disposition(rawValue: message.disposition.rawValue)
        changes = message.changes.map { AccessChange($0) }
        revision = message.revision
    }
}

extension Message.IngestTransactionsRequest {
    init(_ upload: TransactionUpload) {
        self.init()
        customerID = Text(upload.customerID)
        signedTransactions = upload.signedTransactions.map { Text($0) }
        signedRenewals = upload.signedRenewals.map { Text($0) }
        signedAppTransaction = Text(upload.signedAppTransaction)
        transfer = upload.transfersOwnership
    }
}

extension Message.LinkCustomerRequest {
    init(_ link: CustomerLink, scope defaultScope: Scope?) {
        self.init()
        customerID = Text(link.customerID)
        identity = link.identity.map { Message.CustomerRef($0) }
        scope = (link.scope ?? defaultScope).map { Message.Scope($0) }
        transfer = link.transfersOwnership
        switch link.household {
        case .unchanged: break
        case .join(let household): householdID = Text(household)
        case .leave: leaveHousehold = true
        }
    }
}

extension WriteResult {
    init(_ message: Message.WriteResponse) {
        changes = message.changes.map { AccessChange($0) }
        revision = message.revision
    }
}

extension RebuildResult {
    init(_ message: Message.RebuildCustomerResponse) {
        source = RebuildSource(rawValue: message.source.rawValue)
        transactionCount = Int(message.transactionsRead)
        changes = message.changes.map { AccessChange($0) }
        entitlements = message.entitlements.map { Entitlement($0) }
        revision = message.revision
        problems = message.problems.map { ItemProblem($0) }
    }
}

extension Entitlement {
    init(_ message: Message.Entitlement) {
        productID = message.productID.description
        names = message.names.map(\.description)
        isGranted = message.granted
        reason = AccessReason(rawValue: message.reason.rawValue)
        ownership = Ownership(rawValue: message.ownership.rawValue)
        validUntilMilliseconds = AccessAnswer.instant(message.validUntilMilliseconds)
        transactionID = message.transactionID.description
        originalTransactionID = message.originalTransactionID.description
        revokedAtMilliseconds = AccessAnswer.instant(message.revokedAtMilliseconds)
        isPaymentReversed = message.paymentReversed
        isCauseCertain = message.causeCertain
        familyConfidence = FamilyConfidence(rawValue: message.familyConfidence.rawValue)
        familyTransactionID = message.familyTransactionID.description
    }
}

extension TransactionRecord {
    init(_ message: Message.TransactionRecord) {
        transactionID = message.transactionID.description
        originalTransactionID = message.originalTransactionID.description
        productID = message.productID.description
        type = message.type.description
        ownership = Ownership(rawValue: message.ownership.rawValue)
        purchaseDateMilliseconds = message.purchaseDateMilliseconds
        expiresDateMilliseconds = AccessAnswer.instant(message.expiresDateMilliseconds)
        revocationDateMilliseconds = AccessAnswer.instant(message.revocationDateMilliseconds)
        revocationReason = message.revocationReason
        revocationType = message.revocationType.description
        revocationPercentage = message.revocationPercentage
        isUpgraded = message.isUpgraded
        signedDateMilliseconds = message.signedDateMilliseconds
        appAccountToken = message.appAccountToken.description
        appTransactionID = message.appTransactionID.description
        webOrderLineItemID = message.webOrderLineItemID.description
        priceMilliunits = message.priceMilliunits
        currency = message.currency.description
        rawOwnership = message.rawOwnership.description
        isOverridden = message.overridden
        isSuspended = message.suspended
        signedPayload = message.signedPayload.description
        evidence = TransactionEvidence(message)
        signedRenewal = message.signedRenewal.description
        isChainLinked = message.chainLinked
    }
}

extension NotificationRecord {
    init(_ message: Message.NotificationRecord) {
        notificationUUID = message.notificationUUID.description
        notificationType = message.notificationType.description
        subtype = message.subtype.description
        signedDateMilliseconds = message.signedDateMilliseconds
        receivedAtMilliseconds = message.receivedAtMilliseconds
        disposition = Disposition(rawValue: message.disposition.rawValue)
        transactionID = message.transactionID.description
        revision = message.revision
    }
}

extension AuditEntry {
    init(_ message: Message.AuditEntry) {
        atMilliseconds = message.atMilliseconds
        action = message.action.description
        customerID = message.customerID.description
        detail = message.detail.description
    }
}

extension ServerInfo {
    init(_ message: Message.GetServerInfoResponse) {
        version = message.version.description
        commit = message.commit.description
        revision = message.revision
        uptimeMilliseconds = message.uptimeMilliseconds
        scopes = message.scopes.map { Scope($0) }
        customerCount = message.customers
        transactionCount = message.transactions
        isAppStoreAPIConfigured = message.appStoreAPIConfigured
        protocolVersion = message.protocolVersion
    }
}

extension Refusal {
    init(_ response: Response) {
        self.init(
            status: StatusCode(rawValue: response.status.rawValue),
            reason: response.reason.description, message: response.message.description,
            retryAfterMilliseconds: response.retryAfterMilliseconds)
    }
}
