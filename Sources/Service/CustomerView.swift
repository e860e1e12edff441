package import Entitlements
package import Storage

/// A stored transaction with what stands beside it.
package struct TransactionView: Hashable, Sendable {
    /// The newest copy, decoded.
    package var transaction: Transaction
    /// Whether a REVOKE without a date ends it.
    package var isOverridden: Bool
    /// Whether the declared household's refund suspends it now.
    package var isSuspended: Bool
    /// The compact JWS as Apple signed it; empty when left out for its size.
    package var payload: [UInt8]

    /// About how much it takes in an answer; fixed fields and framing come to less than 200 bytes.
    var byteCount: Int {
        let texts = [
            transaction.transactionID, transaction.originalTransactionID, transaction.productID,
            transaction.rawType, transaction.rawOwnership, transaction.revocationType ?? "",
            transaction.appAccountToken ?? "", transaction.appTransactionID ?? "",
            transaction.webOrderLineItemID ?? "", transaction.currency ?? "",
        ]
        return texts.reduce(200 + payload.count) { $0 + $1.utf8.count }
    }
}

/// All that is known of one customer, a page of transactions at a time.
package struct CustomerView: Hashable, Sendable {
    /// The app's name of the customer, or Apple's while nobody has said who it is.
    package var customerID: String
    /// The declared household; empty without one.
    package var householdID: String
    /// The answer about each product, in the order of product ids; first page only.
    package var entitlements: [EntitlementStatus]
    /// Newest purchase first. Payloads that would have crowded records out are empty.
    package var transactions: [TransactionView]
    /// In order, at most the newest 1,000; first page only.
    package var notifications: [NotificationRecord]
    /// In order, at most the newest 1,000; first page only.
    package var audit: [AuditRecord]
    /// The names under which he is found, as `kind:name`, sorted; first page only.
    package var identities: [String]
    /// How many transactions there are in all.
    package var transactionCount: Int
    /// Ask with it for the next page; empty after the last.
    package var nextPageToken: String
    /// The revision that it shows.
    package var revision: UInt64
    /// When Apple's history of him was last fetched whole, in ms; 0: never.
    package var refreshedAt: Int64 = 0
    /// What the queue holds for him.
    package var queuedRefresh: QueuedRefresh?

    /// About how much all but the transactions takes in an answer.
    var byteCount: Int {
        let entitlementBytes = entitlements.reduce(0) {
            $0 + 200 + $1.productID.utf8.count + $1.names.reduce(0) { $0 + $1.utf8.count + 4 }
        }
        let auditBytes = audit.reduce(0) { $0 + 60 + $1.detail.utf8.count + $1.customer.utf8.count }
        let identityBytes = identities.reduce(0) { $0 + 4 + $1.utf8.count }
        return 1_000 + entitlementBytes + notifications.count * 200 + auditBytes + identityBytes
    }
}

extension EntitlementService {
    /// All that is known of one customer.
    ///
    /// Worker threads: it reads the store.
    ///
    /// - Throws: UNKNOWN_CUSTOMER, INVALID_FIELD for a page token that is none, STORE_UNAVAILABLE,
    ///   STORE_DAMAGED.
    package func customer(_ query: CustomerQuery) throws(Refusal) -> CustomerView {
        try readingStore { (workspace, revision) throws(LedgerFailure) in
            try read(query, &workspace, revision)
        }
    }

    private func read(
        _ query: CustomerQuery, _ workspace: inout Workspace<Store>, _ revision: UInt64
    ) throws(LedgerFailure) -> CustomerView {
        let scope = world(query.scope).number
        let record = try workspace.identity(Identity(query.customer), in: scope)
        guard record.primary != 0 else {
            throw .refused(Refusal(.unknownCustomer, "nothing is known under this name"))
        }
        let state = try workspace.customer(CustomerKey(scope: scope, number: record.primary))
        let fold = try workspace.fold(state.key)
        var view = CustomerView(
            customerID: state.displayName, householdID: state.record.household,
            entitlements: [], transactions: [], notifications: [], audit: [], identities: [],
            transactionCount: state.transactions.count, nextPageToken: "", revision: revision)
        view.refreshedAt = try workspace.refreshedAt(state.key)?.milliseconds ?? 0
        view.queuedRefresh = try workspace.refreshJob(of: state.key).map {
            QueuedRefresh(key: state.key, customerID: state.displayName, job: $0)
        }
        let catalog = catalogs[scope] ?? Catalog()
        let now = fold.now(configuration.clock())
        if query.pageToken.isEmpty {
            view.entitlements = fold.statuses(catalog: catalog, at: now)
            view.identities = try identities(of: state, &workspace)
            try reading { () throws(StorageError) in
                try readHistory(of: state.key, into: &view)
            }
        }
        try fillPage(
            &view, of: query, from: state, fold, workspace,
            policy: { catalog.policy(for: $0) }, at: now)
        return view
    }

    /// The names under which he is found; what was moved away since is not among them.
    private func identities(
        of state: CustomerState, _ workspace: inout Workspace<Store>
    ) throws(LedgerFailure) -> [String] {
        var names: [Identity] = []
        for identity in state.knownIdentities.sorted()
        where identity.kind != .transaction {
            let record = try workspace.identity(identity, in: state.key.scope)
            let isHeld = record.holders.contains(state.key.number)
            if isHeld || record.primary == state.key.number { names.append(identity) }
        }
        return names.map(\.description)
    }

    /// Takes as many transactions as fit, newest purchase first; then as many of their payloads as
    /// still fit, unless all were asked for.
    private func fillPage(
        _ view: inout CustomerView, of query: CustomerQuery, from state: CustomerState,
        _ fold: Fold, _ workspace: Workspace<Store>, policy: (String) -> ProductPolicy,
        at now: Timestamp
    ) throws(LedgerFailure) {
        let grants = Dictionary(
            fold.grantsByProduct.values.joined().map { ($0.transactionID, $0) },
            uniquingKeysWith: { first, _ in first })
        var byteCount = view.byteCount
        for fact in try page(of: query, from: state) {
            let id = fact.transaction.transactionID
            let grant = grants[id]
            let policy = policy(fact.transaction.productID)
            let isSuspended =
                grant.map { $0.grant.suspensionInstant(under: policy) <= now.milliseconds } == true
            var transaction = TransactionView(
                transaction: fact.transaction, isOverridden: grant?.isOverridden == true,
                isSuspended: isSuspended, payload: [])
            if query.wantsAllPayloads {
                transaction.payload = try payload(of: id, state, workspace)
            }
            byteCount += transaction.byteCount
            if byteCount > query.byteCountMax, let last = view.transactions.last {
                view.nextPageToken = last.transaction.transactionID
                return
            }
            view.transactions.append(transaction)
        }
        guard !query.wantsAllPayloads else { return }
        for index in view.transactions.indices {
            let id = view.transactions[index].transaction.transactionID
            let payload = try payload(of: id, state, workspace)
            byteCount += payload.count
            guard byteCount <= query.byteCountMax else { return }
            view.transactions[index].payload = payload
        }
    }

    private func payload(
        of id: String, _ state: CustomerState, _ workspace: Workspace<Store>
    ) throws(LedgerFailure) -> [UInt8] {
        guard let fact = state.transactions[id] else { return [] }
        return try workspace.payload(of: fact, in: state.key.scope)
    }

    /// The transactions that follow the page before, newest purchase first.
    private func page(
        of query: CustomerQuery, from state: CustomerState
    ) throws(LedgerFailure) -> ArraySlice<TransactionFact> {
        let facts = state.transactions.values.sorted {
            $0.transaction.isNewerPurchase(than: $1.transaction)
        }
        guard !query.pageToken.isEmpty else { return facts[...] }
        let last = facts.firstIndex { isSame($0.transaction.transactionID, query.pageToken) }
        guard let last else {
            throw .refused(
                Refusal(.invalidField, "page_token is not one of this customer's; start again"))
        }
        return facts[(last + 1)...]
    }

    private func readHistory(
        of key: CustomerKey, into view: inout CustomerView
    ) throws(StorageError) {
        var entries: [(revision: UInt64, record: [UInt8])] = []
        let prefix = Key.customer(key)
        try store.scan(.history, prefix: prefix, from: nil, reversed: true) { key, record in
            entries.append((Key.trailingNumber(of: key), record))
            return entries.count < 1_000
        }
        for (revision, record) in entries.reversed() {
            if let found = try store.notification(of: revision, record, in: key.scope) {
                view.notifications.append(found)
            }
            var records: [[UInt8]] = []
            let audit = RecordCodec.encode(revision)
            try store.scan(.audit, prefix: audit, from: nil, reversed: false) { _, value in
                records.append(value)
                return true
            }
            for record in records { view.audit.append(try RecordCodec.decodeAudit(record)) }
        }
    }
}

extension EntitlementReader {
    /// The notification behind an entry of a history, whose value is `record`; nil where it is
    /// about something else.
    ///
    /// Entries of earlier releases are empty, and so are those of unsigned bodies: their
    /// notification stands by its revision.
    func notification(
        of revision: UInt64, _ record: [UInt8], in scope: ScopeNumber
    ) throws(StorageError) -> NotificationRecord? {
        guard record.isEmpty else { return try RecordCodec.decodeNotification(record) }
        let key = Key.notification(revision: revision, in: scope)
        return try value(for: key, in: .notifications).map { (bytes) throws(StorageError) in
            try RecordCodec.decodeNotification(bytes)
        }
    }
}
