internal import Entitlements
internal import Service
internal import Wire

// The rules of lists and of what Apple is asked.

extension CallValidation {
    /// Entries of a page that names no size.
    private static let pageSizeDefault = 100
    /// Entries of a page at most.
    private static let pageSizeMax = 1_000
    /// The longest token, in bytes. Apple's are some hundred; ours are shorter.
    private static let tokenByteCountMax = 4_096

    /// The question that a list answers.
    func listCall(_ call: Request.Call) throws(Refusal) -> ReadCall {
        switch call {
        case .listCustomers(let message):
            .customers(
                try page(message.scope, message.pageToken, message.pageSize),
                changedSince: message.changedSinceRevision)
        case .getFamily(let message):
            .family(try family(message))
        case .listRefunds(let message):
            .refunds(try refunds(message))
        case .auditAccess(let message):
            .audit(try page(message.scope, message.pageToken, message.pageSize))
        case .getReconciliation(let message):
            .reconciliation(try page(message.scope, message.pageToken, message.pageSize))
        default:
            throw .unknownCall
        }
    }

    /// What Apple is to be asked, besides rebuilds.
    func remoteCall(_ call: Request.Call) throws(Refusal) -> RemoteCall {
        let remote: RemoteCall
        switch call {
        case .backfillNotifications(let message):
            remote = .backfill(try backfill(message))
        case .testNotification(let message):
            remote = .testNotification(
                TestNotificationRequest(
                    scope: try scope(message.scope), token: try token(message.token, "token")))
        default:
            throw .unknownCall
        }
        guard isAppStoreConfigured else { throw .appStoreNotConfigured }
        return remote
    }

    private func page(
        _ scope: Message.Scope?, _ token: Text, _ size: UInt32
    ) throws(Refusal) -> PageQuery {
        guard size <= Self.pageSizeMax else {
            throw Refusal(.invalidField, "page_size is more than \(Self.pageSizeMax)")
        }
        return PageQuery(
            scope: try self.scope(scope), pageToken: try self.token(token, "page_token"),
            countMax: size == 0 ? Self.pageSizeDefault : Int(size))
    }

    private func family(_ message: Message.GetFamilyRequest) throws(Refusal) -> FamilyQuery {
        let scope = try scope(message.scope)
        switch (message.customer, message.householdID.isEmpty) {
        case (.some, true):
            return FamilyQuery(
                scope: scope, customer: try reference(message.customer, "customer"))
        case (nil, false):
            return FamilyQuery(
                scope: scope, customer: nil,
                householdID: try Self.identifier(message.householdID, "household_id"))
        case (.some, false):
            throw Refusal(.invalidField, "customer and household_id exclude each other")
        case (nil, true):
            throw Refusal(.invalidField, "neither a customer nor a household_id is given")
        }
    }

    private func refunds(_ message: Message.ListRefundsRequest) throws(Refusal) -> RefundQuery {
        let page = try page(message.scope, message.pageToken, message.pageSize)
        let productID =
            message.productID.isEmpty ? "" : try Self.identifier(message.productID, "product_id")
        let from = try instant(message.fromMilliseconds, "from_ms")
        let to = try instant(message.toMilliseconds, "to_ms")
        if let from, let to, from >= to { throw .emptyInterval }
        return RefundQuery(
            page: page, from: from ?? .distantPast, to: to ?? .distantFuture, productID: productID)
    }

    private func backfill(
        _ message: Message.BackfillNotificationsRequest
    ) throws(Refusal) -> BackfillRequest {
        let from =
            try instant(message.fromMilliseconds, "from_ms") ?? Timestamp(milliseconds: 0)
        let to =
            try instant(message.toMilliseconds, "to_ms") ?? Timestamp(milliseconds: nowMilliseconds)
        guard from < to else { throw .emptyInterval }
        return BackfillRequest(
            scope: try scope(message.scope), from: from, to: to,
            pageToken: try token(message.pageToken, "page_token"),
            isOnlyFailures: message.onlyFailures, isDryRun: message.dryRun)
    }

    /// An instant; nil where the field is 0.
    private func instant(_ milliseconds: Int64, _ field: String) throws(Refusal) -> Timestamp? {
        guard milliseconds >= 0 else { throw Refusal(.invalidField, "\(field) is negative") }
        return milliseconds == 0 ? nil : Timestamp(milliseconds: milliseconds)
    }

    /// A token of ours or of Apple's, not judged further.
    private func token(_ text: Text, _ field: String) throws(Refusal) -> String {
        guard text.bytes.count <= Self.tokenByteCountMax, let token = text.string else {
            throw Refusal(
                .invalidField,
                "\(field) is not UTF-8 text of at most \(Self.tokenByteCountMax) bytes")
        }
        return token
    }
}
