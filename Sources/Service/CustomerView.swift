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
    /// What notifications said of it.
    package var evidence = Evidence()
    /// The renewal info of its chain as Apple signed it, on the chain's newest purchase; only where
    /// all payloads were asked for.
    package var renewalPayload: [UInt8] = []
    /// Whether its chain was linked to the customer in so many words.
    package var isChainLinked = false

    /// About how much it takes in an answer; fixed fields and framing come to less than 250 bytes.
    var byteCount: Int {
        let texts = [
            transaction.transactionID, transaction.originalTransactionID, transaction.productID,
            transaction.rawType, transaction.rawOwnership, transaction.revocationType ?? "",
            transaction.appAccountToken ?? "", transaction.appTransactionID ?? "",
            transaction.webOrderLineItemID ?? "", transaction.currency ?? "",
        ]
        return texts.reduce(250 + payload.count + renewalPayload.count) { $0 + $1.utf8.count }
    }
}

/// A name that was linked to a customer in so many words.
package struct LinkView: Hashable, Sendable {
    /// The name, one of Apple's.
    package var identity: CustomerReference
    /// The revision that moved it to him from whosever it was; 0: it was only said.
    package var movedAt: UInt64
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
    /// The names under which he is found, as `kind:name`, sorted, as many as fit a quarter of a
    /// page; first page only.
    package var identities: [String]
    /// What was linked to him in so many words, apart from the chains that he has, sorted; first
    /// page only.
    package var links: [LinkView] = []
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
        let linkBytes = links.reduce(0) { $0 + 20 + Identity($1.identity).value.utf8.count }
        return 1_000 + entitlementBytes + notifications.count * 200 + auditBytes + identityBytes
            + linkBytes
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
            view.identities = try identities(
                of: state, &workspace, byteCountMax: query.byteCountMax / 4)
            view.links = try links(of: state, &workspace)
            try reading { () throws(StorageError) in
                try readHistory(of: state.key, into: &view)
            }
        }
        try fillPage(
            &view, of: query, from: state, fold, &workspace,
            policy: { catalog.policy(for: $0) }, at: now)
        return view
    }

    /// The names under which he is found, as many as fit; what was moved away since is not among
    /// them.
    private func identities(
        of state: CustomerState, _ workspace: inout Workspace<Store>, byteCountMax: Int
    ) throws(LedgerFailure) -> [String] {
        var names: [String] = []
        var byteCount = 0
        for identity in state.knownIdentities.sorted()
        where identity.kind != .transaction {
            let record = try workspace.identity(identity, in: state.key.scope)
            let isHeld = record.holders.contains(state.key.number)
            guard isHeld || record.primary == state.key.number else { continue }
            let name = identity.description
            byteCount += name.utf8.count + 4
            guard byteCount <= byteCountMax else { break }
            names.append(name)
        }
        return names
    }

    /// What was linked to him in so many words. Of a chain that he has the transactions say it: who
    /// is named with each of 25,000 purchases has a link for each.
    private func links(
        of state: CustomerState, _ workspace: inout Workspace<Store>
    ) throws(LedgerFailure) -> [LinkView] {
        let chains = Set(state.transactions.chains)
        var links: [LinkView] = []
        for identity in state.said.sorted() {
            guard let reference = identity.reference else { continue }
            let record = try workspace.identity(identity, in: state.key.scope)
            let isShown =
                identity.kind == .originalTransaction && chains.contains(ExactName(identity.value))
            if record.said == state.key.number, !isShown {
                links.append(LinkView(identity: reference, movedAt: 0))
            }
            if record.moved == state.key.number {
                links.append(LinkView(identity: reference, movedAt: record.movedAt))
            }
        }
        return links
    }

    /// Takes as many transactions as fit, newest purchase first; then as many of their payloads as
    /// still fit, unless all were asked for.
    private func fillPage(
        _ view: inout CustomerView, of query: CustomerQuery, from state: CustomerState,
        _ fold: Fold, _ workspace: inout Workspace<Store>, policy: (String) -> ProductPolicy,
        at now: Timestamp
    ) throws(LedgerFailure) {
        let facts = fold.facts
        let positions = facts.positionsByPurchase
        let places = fold.placesOfRows
        let start = try start(of: query, positions, facts)
        var chains = Set(positions[..<start].map { facts.chain(at: $0) })
        var byteCount = view.byteCount
        for position in positions[start...] {
            let fact = facts.fact(at: position)
            let grant = fold.record(at: places[position])
            let policy = policy(fact.transaction.productID)
            var transaction = TransactionView(
                transaction: fact.transaction, isOverridden: grant.isOverridden,
                isSuspended: grant.grant.suspensionInstant(under: policy) <= now.milliseconds,
                payload: [])
            try complete(
                &transaction, of: fact, state, &workspace,
                isNewest: chains.insert(facts.chain(at: position)).inserted,
                withPayloads: query.wantsAllPayloads)
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
            guard let fact = state.transactions[id] else { continue }
            let payload = try workspace.payload(of: fact, in: state.key.scope)
            byteCount += payload.count
            guard byteCount <= query.byteCountMax else { return }
            view.transactions[index].payload = payload
        }
    }

    /// Adds what stands beside a transaction; `isNewest` says whether it is its chain's newest.
    private func complete(
        _ view: inout TransactionView, of fact: TransactionFact, _ state: CustomerState,
        _ workspace: inout Workspace<Store>, isNewest: Bool, withPayloads: Bool
    ) throws(LedgerFailure) {
        let chain = ExactName(fact.transaction.originalTransactionID)
        let record = try workspace.identity(
            Identity(.originalTransaction, chain.text), in: state.key.scope)
        view.evidence = fact.evidence
        view.isChainLinked = record.said == state.key.number
        guard withPayloads else { return }
        view.payload = try workspace.payload(of: fact, in: state.key.scope)
        guard isNewest, let renewal = state.renewals[chain] else { return }
        view.renewalPayload = try workspace.payload(of: renewal, in: state.key.scope)
    }

    /// Where the page begins: behind the one before.
    private func start(
        of query: CustomerQuery, _ positions: [Int], _ facts: FactSet
    ) throws(LedgerFailure) -> Int {
        guard !query.pageToken.isEmpty else { return 0 }
        guard let last = facts.position(of: query.pageToken),
            let index = positions.firstIndex(of: last)
        else {
            throw .refused(
                Refusal(.invalidField, "page_token is not one of this customer's; start again"))
        }
        return index + 1
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
