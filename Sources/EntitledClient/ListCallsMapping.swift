internal import Wire

extension CustomerReference {
    init(_ message: Message.CustomerRef) {
        switch message {
        case .customerID(let name): self = .customer(name.description)
        case .appAccountToken(let token): self = .appAccountToken(token.description)
        case .appTransactionID(let id): self = .appTransaction(id.description)
        case .originalTransactionID(let id): self = .originalTransaction(id.description)
        }
    }
}

extension ListPage where Entry == CustomerSummary {
    init(_ message: Message.ListCustomersResponse) {
        entries = message.customers.map { CustomerSummary($0) }
        nextPageToken = message.nextPageToken.description
        total = message.customersTotal
        revision = message.revision
    }
}

extension ListPage where Entry == AccessFinding {
    init(_ message: Message.AuditAccessResponse) {
        entries = message.findings.map { AccessFinding($0) }
        nextPageToken = message.nextPageToken.description
        total = nil
        revision = message.revision
    }
}

extension ListPage where Entry == RefundRecord {
    init(_ message: Message.ListRefundsResponse) {
        entries = message.refunds.map { RefundRecord($0) }
        nextPageToken = message.nextPageToken.description
        total = nil
        revision = message.revision
    }
}

extension CustomerSummary {
    init(_ message: Message.CustomerSummary) {
        customer = message.customer.map { CustomerReference($0) }
        transactionCount = Int(message.transactions)
        revision = message.revision
    }
}

extension Family {
    init(_ message: Message.GetFamilyResponse) {
        householdID = message.householdID.isEmpty ? nil : message.householdID.description
        members = message.members.map { FamilyMember($0) }
        matched = message.matched.map { MatchedFamily($0) }
        warnings = message.warnings.map(\.description)
        revision = message.revision
    }
}

extension FamilyMember {
    init(_ message: Message.FamilyMember) {
        customerID = message.customerID.description
        copies = message.copies.map { FamilyCopy($0) }
    }
}

extension FamilyCopy {
    init(_ message: Message.FamilyCopy) {
        customerID = message.customerID.description
        transactionID = message.transactionID.description
        originalTransactionID = message.originalTransactionID.description
        productID = message.productID.description
        ownership = Ownership(rawValue: message.ownership.rawValue)
        isGranted = message.granted
        reason = AccessReason(rawValue: message.reason.rawValue)
        revokedAtMilliseconds = AccessAnswer.instant(message.revokedAtMilliseconds)
    }
}

extension MatchedFamily {
    init(_ message: Message.MatchedFamily) {
        productID = message.productID.description
        purchaseDateMilliseconds = message.purchaseDateMilliseconds
        expiresDateMilliseconds = AccessAnswer.instant(message.expiresDateMilliseconds)
        confidence = FamilyConfidence(rawValue: message.confidence.rawValue)
        copies = message.copies.map { FamilyCopy($0) }
        note = message.note.description
    }
}

extension AccessFinding {
    init(_ message: Message.AccessFinding) {
        copy = FamilyCopy(message.copy ?? Message.FamilyCopy())
        purchase = FamilyCopy(message.purchase ?? Message.FamilyCopy())
        confidence = FamilyConfidence(rawValue: message.confidence.rawValue)
        grantedUntilMilliseconds = AccessAnswer.instant(message.grantedUntilMilliseconds)
        refreshedAtMilliseconds = AccessAnswer.instant(message.refreshedAtMilliseconds)
        isRefreshQueued = message.refreshQueued
        explanation = message.explanation.description
    }
}

extension RefundRecord {
    init(_ message: Message.RefundRecord) {
        transactionID = message.transactionID.description
        originalTransactionID = message.originalTransactionID.description
        productID = message.productID.description
        customerID = message.customerID.description
        purchaseDateMilliseconds = message.purchaseDateMilliseconds
        refundedAtMilliseconds = message.refundedAtMilliseconds
        learnedAtMilliseconds = message.learnedAtMilliseconds
        priceMilliunits = message.priceMilliunits
        currency = message.currency.description
        percentageMilliunits = message.percentageMilliunits
        refundedMilliunits = message.refundedMilliunits
        people = message.people.map { PersonUse($0) }
        isPurchaseUnknown = message.purchaseUnknown
    }
}

extension PersonUse {
    init(_ message: Message.PersonUse) {
        customerID = message.customerID.description
        transactionID = message.transactionID.description
        originalTransactionID = message.originalTransactionID.description
        ownership = Ownership(rawValue: message.ownership.rawValue)
        confidence = FamilyConfidence(rawValue: message.confidence.rawValue)
        dayCount = Int(message.days)
        checkCount = message.checks
        units = message.units
        costMicros = message.costMicros
        leakedDayCount = Int(message.leakedDays)
        leakedCheckCount = message.leakedChecks
        leakedUnits = message.leakedUnits
        leakedCostMicros = message.leakedCostMicros
        leakedPeriodCount = Int(message.leakedPeriods)
        accessEndedAtMilliseconds = AccessAnswer.instant(message.accessEndedAtMilliseconds)
    }
}
