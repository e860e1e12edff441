import Wire

extension ContractSamples {
    static let listCustomersRequest: Message.ListCustomersRequest = {
        var message = Message.ListCustomersRequest()
        message.scope = Message.Scope(bundleID: "bundle_id", environment: .init(rawValue: 2))
        message.pageToken = "page_token"
        message.pageSize = 3
        message.changedSinceRevision = 4
        return message
    }()

    static let customerSummary: Message.CustomerSummary = {
        var message = Message.CustomerSummary()
        message.customer = .customerID("customer_id")
        message.transactions = 2
        message.revision = 3
        return message
    }()

    static let listCustomersResponse: Message.ListCustomersResponse = {
        var message = Message.ListCustomersResponse()
        message.customers = [customerSummary]
        message.nextPageToken = "next_page_token"
        message.customersTotal = 3
        message.revision = 4
        return message
    }()

    static let getFamilyRequest: Message.GetFamilyRequest = {
        var message = Message.GetFamilyRequest()
        message.customer = .customerID("customer_id")
        message.householdID = "household_id"
        message.scope = Message.Scope(bundleID: "bundle_id", environment: .init(rawValue: 2))
        return message
    }()

    static let familyCopy: Message.FamilyCopy = {
        var message = Message.FamilyCopy()
        message.customerID = "customer_id"
        message.transactionID = "transaction_id"
        message.originalTransactionID = "original_transaction_id"
        message.productID = "product_id"
        message.ownership = .init(rawValue: 5)
        message.granted = true
        message.reason = .init(rawValue: 7)
        message.revokedAtMilliseconds = 8
        return message
    }()

    static let familyMember: Message.FamilyMember = {
        var message = Message.FamilyMember()
        message.customerID = "customer_id"
        message.copies = [familyCopy]
        return message
    }()

    static let matchedFamily: Message.MatchedFamily = {
        var message = Message.MatchedFamily()
        message.productID = "product_id"
        message.purchaseDateMilliseconds = 2
        message.expiresDateMilliseconds = 3
        message.confidence = .init(rawValue: 4)
        message.copies = [familyCopy]
        message.note = "note"
        return message
    }()

    static let getFamilyResponse: Message.GetFamilyResponse = {
        var message = Message.GetFamilyResponse()
        message.householdID = "household_id"
        message.members = [familyMember]
        message.matched = [matchedFamily]
        message.warnings = ["warnings"]
        message.revision = 5
        return message
    }()

    static let auditAccessRequest: Message.AuditAccessRequest = {
        var message = Message.AuditAccessRequest()
        message.scope = Message.Scope(bundleID: "bundle_id", environment: .init(rawValue: 2))
        message.pageToken = "page_token"
        message.pageSize = 3
        return message
    }()

    static let accessFinding: Message.AccessFinding = {
        var message = Message.AccessFinding()
        message.copy = familyCopy
        message.purchase = familyCopy
        message.confidence = .init(rawValue: 3)
        message.grantedUntilMilliseconds = 4
        message.refreshedAtMilliseconds = 5
        message.refreshQueued = true
        message.explanation = "explanation"
        return message
    }()

    static let auditAccessResponse: Message.AuditAccessResponse = {
        var message = Message.AuditAccessResponse()
        message.findings = [accessFinding]
        message.nextPageToken = "next_page_token"
        message.revision = 3
        return message
    }()

    static let listRefundsRequest: Message.ListRefundsRequest = {
        var message = Message.ListRefundsRequest()
        message.scope = Message.Scope(bundleID: "bundle_id", environment: .init(rawValue: 2))
        message.fromMilliseconds = 2
        message.toMilliseconds = 3
        message.productID = "product_id"
        message.pageToken = "page_token"
        message.pageSize = 6
        return message
    }()

    static let personUse: Message.PersonUse = {
        var message = Message.PersonUse()
        message.customerID = "customer_id"
        message.transactionID = "transaction_id"
        message.originalTransactionID = "original_transaction_id"
        message.ownership = .init(rawValue: 4)
        message.confidence = .init(rawValue: 5)
        message.days = 6
        message.checks = 7
        message.units = 8
        message.costMicros = 9
        message.leakedDays = 10
        message.leakedChecks = 11
        message.leakedUnits = 12
        message.leakedCostMicros = 13
        message.leakedPeriods = 14
        message.accessEndedAtMilliseconds = 15
        return message
    }()

    static let refundRecord: Message.RefundRecord = {
        var message = Message.RefundRecord()
        message.transactionID = "transaction_id"
        message.originalTransactionID = "original_transaction_id"
        message.productID = "product_id"
        message.customerID = "customer_id"
        message.purchaseDateMilliseconds = 5
        message.refundedAtMilliseconds = 6
        message.learnedAtMilliseconds = 7
        message.priceMilliunits = 8
        message.currency = "currency"
        message.percentageMilliunits = 10
        message.refundedMilliunits = 11
        message.people = [personUse]
        message.purchaseUnknown = true
        return message
    }()

    static let listRefundsResponse: Message.ListRefundsResponse = {
        var message = Message.ListRefundsResponse()
        message.refunds = [refundRecord]
        message.nextPageToken = "next_page_token"
        message.revision = 3
        return message
    }()
}
