package import Entitlements
import SnapshotTable
import Storage

// Lists over a whole world, in the order of the store, a page at a time.

extension EntitlementService {
    /// How many customers a page looks at; where few are listed it may hold none and go on.
    private static var scannedCountMax: Int { 20_000 }

    /// One page of the customers whom `changedSince` or a later revision changed.
    func customers(
        _ query: PageQuery, changedSince: UInt64
    ) throws(Refusal) -> CustomerPage {
        let start = try PageToken(query.pageToken, of: .customers).number
        let scope = world(query.scope).number
        return try readingStore { (workspace, revision) throws(LedgerFailure) in
            var page = CustomerPage(
                customers: [], nextPageToken: "",
                customerCount: reader.serverInfo().customerCount, revision: revision)
            let (numbers, next) = try standing(
                in: scope, from: start, countMax: query.countMax, changedSince: changedSince)
            for number in numbers {
                let key = CustomerKey(scope: scope, number: number)
                let state = try workspace.customer(key)
                // Of whoever was forgotten and has bought nothing there is no name to ask by.
                if state.record.isForgotten && state.transactions.isEmpty { continue }
                page.customers.append(try workspace.summary(of: state))
            }
            page.nextPageToken = next.map { PageToken(.customers, $0).text } ?? ""
            return page
        }
    }

    /// The numbers of customers who are merged into nobody, and where to go on.
    private func standing(
        in scope: ScopeNumber, from start: UInt64, countMax: Int, changedSince: UInt64
    ) throws(LedgerFailure) -> (numbers: [UInt64], next: UInt64?) {
        var numbers: [UInt64] = []
        var next: UInt64?
        var scannedCount = 0
        try reading { () throws(StorageError) in
            try store.scanDecoding(
                .customers, prefix: Key.scopePrefix(scope),
                from: Key.customer(CustomerKey(scope: scope, number: start))
            ) { (key, value) throws(StorageError) in
                guard key.count == Key.customerByteCount else { return true }
                guard numbers.count < countMax, scannedCount < Self.scannedCountMax else {
                    next = Key.trailingNumber(of: key)
                    return false
                }
                scannedCount += 1
                let record = try RecordCodec.decodeCustomer(value)
                if record.mergedInto == 0, record.revision >= changedSince {
                    numbers.append(Key.trailingNumber(of: key))
                }
                return true
            }
        }
        return (numbers, next)
    }

    /// What is queued, a page in the order of customers, and how far the server has come.
    func reconciliation(_ query: PageQuery) throws(Refusal) -> ReconciliationView {
        let start = try PageToken(query.pageToken, of: .refreshes).number
        let scope = world(query.scope).number
        let counts = refreshTally.counts
        return try readingStore { (workspace, _) throws(LedgerFailure) in
            var view = ReconciliationView(
                isAppStoreConfigured: configuration.isAppStoreConfigured,
                queuedCount: UInt64(refreshQueue.count(of: scope)), refreshes: [],
                nextPageToken: "",
                notificationsCompleteUntil: try stored(.notificationsComplete, of: scope),
                sweepFinishedAt: try stored(.sweepFinished, of: scope),
                succeededCount: counts.succeeded, failedCount: counts.failed,
                lastFailure: counts.lastFailure)
            let (numbers, next) = try queued(in: scope, from: start, countMax: query.countMax)
            for number in numbers {
                let key = CustomerKey(scope: scope, number: number)
                guard let job = try workspace.refreshJob(of: key) else { continue }
                view.refreshes.append(try workspace.queued(job, of: key))
            }
            view.nextPageToken = next.map { PageToken(.refreshes, $0).text } ?? ""
            return view
        }
    }

    private func stored(
        _ mark: ReconciliationMark, of scope: ScopeNumber
    ) throws(LedgerFailure) -> Int64 {
        try reading { () throws(StorageError) in try store.mark(mark, of: scope) }?
            .milliseconds ?? 0
    }

    private func queued(
        in scope: ScopeNumber, from start: UInt64, countMax: Int
    ) throws(LedgerFailure) -> (numbers: [UInt64], next: UInt64?) {
        var numbers: [UInt64] = []
        var next: UInt64?
        try reading { () throws(StorageError) in
            try store.scan(
                .refreshes, prefix: Key.refreshes(of: scope),
                from: Key.refresh(CustomerKey(scope: scope, number: start)), reversed: false
            ) { key, _ in
                let number = Key.trailingNumber(of: key)
                guard numbers.count < countMax else {
                    next = number
                    return false
                }
                numbers.append(number)
                return true
            }
        }
        return (numbers, next)
    }
}

extension Workspace {
    /// A customer as he stands in a list.
    mutating func summary(of state: CustomerState) throws(LedgerFailure) -> CustomerSummary {
        CustomerSummary(
            customer: state.reference, transactionCount: state.transactions.count,
            revision: state.record.revision)
    }
}

extension CustomerState {
    /// By whose name to ask for him: the app's, else the account's, else a chain's.
    var reference: CustomerReference {
        if isNamed { return .customer(record.name) }
        if let account = transactions.leastAccount { return .appTransaction(account) }
        return .originalTransaction(transactions.leastChain ?? hinted.min()?.text ?? "")
    }
}

// MARK: - Sweeps

extension EntitlementService {
    /// One page of a sweep: customers in the order of the store.
    ///
    /// Due is whoever has a family copy that gives access now, or would without a suspension, and
    /// whose snapshot does not decode; not whoever is queued already.
    ///
    /// - Parameters:
    ///   - scope: The world.
    ///   - cursor: `next` of the page before; nil: the first page.
    ///   - countMax: How many customers are looked at.
    ///   - fetchedBefore: Whoever was fetched at or after it is not due.
    /// - Returns: The page.
    /// - Throws: STORE_UNAVAILABLE, STORE_DAMAGED.
    package func sweepPage(
        of scope: ScopeIndex, from cursor: UInt64?, countMax: Int, fetchedBefore: Timestamp
    ) throws(Refusal) -> SweepPage {
        let number = world(scope).number
        let catalog = catalogs[number] ?? Catalog()
        let now = configuration.clock().milliseconds
        var page = SweepPage(due: [], customerCount: 0, next: nil)
        do throws(StorageError) {
            let customers = try customers(
                of: number, from: cursor, countMax: countMax, next: &page.next)
            page.customerCount = customers.count
            for (key, name) in customers where !refreshQueue.contains(key) {
                let snapshot = Key.snapshot(of: key, named: name)
                let isSharing = try store.withValue(for: snapshot, in: .snapshots) {
                    Self.isSharing($0, under: catalog, at: now)
                }
                guard isSharing == true else { continue }
                let fetch = try store.refreshedAt(key) ?? .distantPast
                // A fetch in the future: the clock was set back since, and nobody knows its age.
                if fetch < fetchedBefore || fetch.milliseconds > now { page.due.append(key) }
            }
        } catch {
            throw Refusal(error)
        }
        return page
    }

    /// Customers in the order of their numbers, with their names.
    private func customers(
        of scope: ScopeNumber, from cursor: UInt64?, countMax: Int, next: inout UInt64?
    ) throws(StorageError) -> [(CustomerKey, name: String)] {
        var customers: [(CustomerKey, name: String)] = []
        var following: UInt64?
        let start = Key.customer(CustomerKey(scope: scope, number: cursor ?? 0))
        try store.scanDecoding(.customers, prefix: Key.scopePrefix(scope), from: start) {
            (key, value) throws(StorageError) in
            guard key.count == Key.customerByteCount else { return true }
            let record = try RecordCodec.decodeCustomer(value)
            guard record.mergedInto == 0 else { return true }
            let number = Key.trailingNumber(of: key)
            guard customers.count < countMax else {
                following = number
                return false
            }
            customers.append((CustomerKey(scope: scope, number: number), record.name))
            return true
        }
        next = following
        return customers
    }

    /// Whether a snapshot has a family copy whose access rests on Apple's word alone.
    private static func isSharing(
        _ snapshot: Span<UInt8>, under catalog: Catalog, at now: Int64
    ) -> Bool {
        let view = SnapshotView(snapshot)
        guard view.isWellFormed else { return true }
        let instant = max(now, view.newestSignedDate)
        for index in 0..<view.productCount {
            let grants = view.grants(ofProductAt: index)
            let policy = text(view.productID(at: index)).map { catalog.policy(for: $0) }
            for position in 0..<grants.count
            where grants.ownership(at: position) == .familyShared {
                switch grants.grant(at: position)
                    .reason(at: instant, under: policy ?? catalog.defaultPolicy)
                {
                case .active, .gracePeriod, .familySuspended: return true
                default: continue
                }
            }
        }
        return false
    }
}
