internal import Entitlements
internal import Service
internal import Wire

/// Turns the messages of calls that leave the loop into calls of the service.
///
/// Every rule of the contract that needs no stored fact and no signature is applied here, so what
/// goes on holds identifiers that are identifiers and scopes that are configured.
struct CallValidation {
    /// The largest frame, in bytes. A page of transactions gets half of it, for the other lists.
    let frameByteCountMax: Int
    /// Whether there is somebody who asks Apple.
    let isAppStoreConfigured: Bool
    /// What the wall clock says, in ms since 1970.
    let nowMilliseconds: Int64
    /// The index of a configured app and environment; nil where it is not configured.
    let scopeIndex: (Span<UInt8>, Int32) -> ScopeIndex?
    /// Whether the caller may speak of a configured app and environment.
    var allows: (ScopeIndex) -> Bool = { _ in true }
    /// Whether he may speak of some only.
    var isLimited = false

    /// The call in `call`; nil where it is one that loops answer themselves.
    ///
    /// - Throws: `Refusal` with INVALID_IDENTIFIER, INVALID_FIELD, UNKNOWN_SCOPE, APP_NOT_ALLOWED
    ///   or APP_STORE_NOT_CONFIGURED.
    func sessionCall(_ call: Request.Call) throws(Refusal) -> SessionCall? {
        switch call {
        case .checkAccess, .checkAccessBatch, .getServerInfo:
            nil
        case .ingestNotification(let message):
            .write(.notification(payload: message.payload))
        case .ingestTransactions(let message):
            .write(.transactions(try upload(message)))
        case .rebuildCustomer(let message):
            try rebuild(message)
        case .linkCustomer(let message):
            .write(.link(try link(message)))
        case .getCustomer(let message):
            .read(
                .customer(
                    CustomerQuery(
                        customer: try reference(message.customer, "customer"),
                        scope: try scope(message.scope),
                        pageToken: try customerToken(message.pageToken),
                        byteCountMax: frameByteCountMax / 8 * 7,
                        wantsAllPayloads: message.allPayloads)))
        case .backfillNotifications, .testNotification:
            .remote(try remoteCall(call))
        case .listCustomers, .getFamily, .listRefunds, .auditAccess, .getReconciliation:
            .read(try listCall(call))
        case .createBackup(let message):
            .read(.backup(try backup(message)))
        case .importTransactions(let message):
            .write(.importing(try importing(message)))
        case .forgetCustomer(let message):
            try forget(message)
        }
    }

    private func upload(
        _ message: Message.IngestTransactionsRequest
    ) throws(Refusal) -> TransactionUpload {
        TransactionUpload(
            customerID: message.customerID.isEmpty
                ? "" : try Self.identifier(message.customerID, "customer_id"),
            signedTransactions: message.signedTransactions.map(\.bytes),
            signedRenewals: message.signedRenewals.map(\.bytes),
            signedAppTransaction: message.signedAppTransaction.bytes,
            isTransfer: message.transfer)
    }

    /// From the stored facts it is a write; from Apple's history it goes where Apple is asked.
    private func rebuild(_ message: Message.RebuildCustomerRequest) throws(Refusal) -> SessionCall {
        guard let source = RebuildSource(rawValue: message.source.rawValue) else {
            throw Refusal(.invalidField, "source \(message.source.rawValue) is not known")
        }
        let request = RebuildRequest(
            customer: try reference(message.customer, "customer"), source: source,
            isDryRun: message.dryRun, scope: try scope(message.scope))
        guard isAppStoreConfigured, source != .storedFacts else { return .write(.rebuild(request)) }
        return .remote(.rebuild(request))
    }

    private func link(_ message: Message.LinkCustomerRequest) throws(Refusal) -> LinkRequest {
        let customerID = try Self.identifier(message.customerID, "customer_id")
        let household =
            message.householdID.isEmpty
            ? "" : try Self.identifier(message.householdID, "household_id")
        if message.leaveHousehold, !household.isEmpty {
            throw Refusal(.invalidField, "household_id and leave_household contradict each other")
        }
        var identity: CustomerReference?
        if message.identity != nil {
            identity = try reference(message.identity, "identity")
            if case .customer = identity {
                throw Refusal(.invalidField, "identity is one of Apple's names, not a customer_id")
            }
        } else if household.isEmpty, !message.leaveHousehold {
            throw Refusal(.invalidField, "neither an identity nor a household is given")
        }
        return LinkRequest(
            customerID: customerID, identity: identity, scope: try scope(message.scope),
            isTransfer: message.transfer, householdID: household,
            leavesHousehold: message.leaveHousehold)
    }

    func scope(_ scope: Message.Scope?) throws(Refusal) -> ScopeIndex {
        let bundleID = scope?.bundleID.bytes ?? []
        let environment = scope?.environment.rawValue ?? 0
        guard let index = scopeIndex(bundleID.span, environment), allows(index) else {
            throw isLimited ? .appNotAllowed : .unknownScope
        }
        return index
    }

    func reference(
        _ reference: Message.CustomerRef?, _ field: String
    ) throws(Refusal) -> CustomerReference {
        switch reference {
        case .customerID(let text):
            .customer(try Self.identifier(text, field))
        case .appAccountToken(let text):
            // UUIDs compare without case; stored in lower case.
            .appAccountToken(try Self.identifier(text, field).asciiLowercased)
        case .appTransactionID(let text):
            .appTransaction(try Self.identifier(text, field))
        case .originalTransactionID(let text):
            .originalTransaction(try Self.identifier(text, field))
        case nil:
            throw Refusal(.invalidIdentifier, "\(field) is missing")
        }
    }

    private func customerToken(_ text: Text) throws(Refusal) -> String {
        guard text.isEmpty || Identifier.isValid(text), let token = text.string else {
            throw Refusal(.invalidField, "page_token is none that this server gave")
        }
        return token
    }

    static func identifier(_ text: Text, _ field: String) throws(Refusal) -> String {
        guard Identifier.isValid(text), let string = text.string else {
            throw .invalidIdentifier(field)
        }
        return string
    }
}

extension String {
    /// With A to Z as a to z, and nothing else changed.
    fileprivate var asciiLowercased: String {
        String(decoding: utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
