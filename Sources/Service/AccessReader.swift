import Entitlements
package import SnapshotTable
import Storage
import Synchronization

/// What event loops ask: answers from memory, on their thread.
///
/// It is not generic over the store, so that the compiler sees the whole path of a check; the store
/// is behind a function that only misses call.
package final class AccessReader: Sendable {
    /// Every named customer's snapshot.
    package let table: CustomerTable
    /// What happened since the start.
    package let counters = Counters()
    /// Whether a rebuild may ask Apple.
    package let isAppStoreConfigured: Bool

    /// Reads the snapshot of a customer who is not in memory, or is given by a name of Apple's.
    typealias Fallback = @Sendable (ScopeIndex, Identity) throws(Refusal) -> [UInt8]?

    private let catalogs: CatalogCopies
    private let scopes: [Scope]
    /// The store's numbers of the scopes, in the same order.
    private let scopeNumbers: [UInt16]
    private let bundleIDs: [[UInt8]]
    private let isOnlyApp: Bool
    private let clock: @Sendable () -> Timestamp
    private let fallback: Fallback
    private let facts: @Sendable () -> ServerInfo
    /// The last revision that every reader sees.
    let visibleRevision: Atomic<UInt64>
    /// Odd while a group is being published; a batch of reads that saw it change reads again.
    let publicationSequence = Atomic<UInt64>(0)
    /// Odd while a group is being written to the store or published: reads that are made of several
    /// reads of the store start again when it changed.
    let storeSequence = Atomic<UInt64>(0)
    /// Held while a group is written and published: for reads that must not see half of it.
    let publication = Mutex<Void>(())

    init(
        table: CustomerTable, catalogs: CatalogCopies, worlds: [World],
        isOnlyApp: Bool, revision: UInt64, isAppStoreConfigured: Bool,
        clock: @escaping @Sendable () -> Timestamp, fallback: @escaping Fallback,
        facts: @escaping @Sendable () -> ServerInfo
    ) {
        self.table = table
        self.catalogs = catalogs
        scopes = worlds.map(\.scope)
        scopeNumbers = worlds.map(\.number.value)
        bundleIDs = worlds.map { Array($0.scope.bundleID.utf8) }
        self.isOnlyApp = isOnlyApp
        self.isAppStoreConfigured = isAppStoreConfigured
        self.clock = clock
        self.fallback = fallback
        self.facts = facts
        visibleRevision = Atomic(revision)
    }

    /// The last revision that every reader sees.
    package var revision: UInt64 { visibleRevision.load(ordering: .acquiring) }

    /// What the wall clock says, in ms since 1970.
    package var nowMilliseconds: Int64 { clock().milliseconds }

    /// What the server says of itself.
    package func serverInfo() -> ServerInfo { facts() }

    /// How many customers are answered from memory, and the bytes that they take.
    package var tableUsage: (customers: Int, bytes: Int) { table.usage }

    /// The configured world of a request's scope; nil when it is none.
    ///
    /// - Parameters:
    ///   - bundleID: empty: the only configured app.
    ///   - environment: the number on the wire; 0: Production.
    /// - Returns: nil for an app or environment that is not configured, whatever its number.
    package func scopeIndex(bundleID: Span<UInt8>, environment: Int32) -> ScopeIndex? {
        guard environment >= 0 && environment <= 2 else { return nil }
        let wanted = environment == 2 ? AppEnvironment.sandbox : .production
        for index in scopes.indices where scopes[index].environment == wanted {
            let isMeant =
                bundleID.isEmpty ? isOnlyApp : Self.equal(bundleIDs[index], bundleID)
            if isMeant { return ScopeIndex(value: index) }
        }
        return nil
    }

    private static func equal(_ left: [UInt8], _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }
}

// MARK: - Checks

extension AccessReader {
    /// Answers a question; `body` runs once and gets the answer and the ids of product, transaction
    /// and chain, which live as long as it runs.
    ///
    /// Event loops only, between `table.beginReading` and `endReading`. A named customer in memory
    /// costs one probe: no lock, no allocation. Other names, and misses while the table is not
    /// complete, read the store.
    ///
    /// - Throws: STORE_UNAVAILABLE or STORE_DAMAGED when the store had to be read and failed.
    package func checkAccess(
        _ query: borrowing AccessQuery, reader: ReaderSlot,
        _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(Refusal) {
        let revision = revision
        if query.kind == .customer {
            let isComplete = table.isComplete
            let isAnswered = table.withSnapshot(
                scope: scopeNumbers[query.scope.value], name: query.name, reader: reader
            ) { snapshot in
                decide(query, snapshot, reader: reader, revision: revision, body)
            }
            if isAnswered { return }
            if isComplete { return unknown(query, revision: revision, body) }
        }
        counters.countStoreRead()
        guard let name = text(query.name),
            let snapshot = try fallback(query.scope, Identity(query.kind, name))
        else { return unknown(query, revision: revision, body) }
        decide(query, snapshot.span, reader: reader, revision: revision, body)
    }

    private func unknown(
        _ query: borrowing AccessQuery, revision: UInt64,
        _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) {
        let none = Span<UInt8>()
        let answer = AccessAnswer(
            reason: .unknownCustomer, ownership: .unspecified, validUntil: 0, revision: revision)
        if query.subject == .entitlement { return body(answer, none, none, none) }
        return body(answer, query.subjectName, none, none)
    }

    private func decide(
        _ query: borrowing AccessQuery, _ snapshot: Span<UInt8>, reader: ReaderSlot,
        revision: UInt64, _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) {
        catalogs.withCatalog(for: reader) { catalog in
            decide(query, snapshot, under: catalog, revision: revision, body)
        }
    }

    private func decide(
        _ query: borrowing AccessQuery, _ snapshot: Span<UInt8>, under catalog: CompiledCatalog,
        revision: UInt64, _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) {
        let view = SnapshotView(snapshot)
        var instant = query.atMilliseconds
        if instant <= 0 {
            let now = query.nowMilliseconds > 0 ? query.nowMilliseconds : nowMilliseconds
            instant = max(now, view.newestSignedDate)
        }
        if query.subject == .entitlement {
            return decideEntitlement(
                query, view, under: catalog, at: instant, revision: revision, body)
        }
        let none = Span<UInt8>()
        guard let index = view.index(ofProduct: query.subjectName) else {
            let answer = AccessAnswer(
                reason: .noPurchase, ownership: .unspecified, validUntil: 0, revision: revision)
            return body(answer, query.subjectName, none, none)
        }
        let grants = view.grants(ofProductAt: index)
        let policy = catalog.policy(for: query.subjectName, in: query.scope.value)
        let decision = grants.quickDecision(at: instant, under: policy)
        return report(decision, grants, query.subjectName, revision: revision, body)
    }

    private func report(
        _ decision: AccessDecision, _ grants: borrowing GrantsView, _ product: Span<UInt8>,
        revision: UInt64, _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) {
        var answer = AccessAnswer(
            reason: decision.reason, ownership: .unspecified, validUntil: decision.validUntil,
            revision: revision)
        guard decision.grantIndex >= 0 else {
            return body(answer, product, Span<UInt8>(), Span<UInt8>())
        }
        answer.ownership = grants.ownership(at: decision.grantIndex)
        return body(
            answer, product, grants.transactionID(at: decision.grantIndex),
            grants.originalTransactionID(at: decision.grantIndex))
    }

    /// The OR over the products of a name: the grant with the latest end, else the reason of the
    /// newest purchase that has started.
    private func decideEntitlement(
        _ query: borrowing AccessQuery, _ view: borrowing SnapshotView,
        under catalog: CompiledCatalog, at instant: Int64, revision: UInt64,
        _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) {
        let products = catalog.products(of: query.subjectName, in: query.scope.value)
        var best: (product: Int, decision: AccessDecision, rank: Int64)?
        for product in products {
            guard let position = catalog.position(ofMember: product, in: view) else { continue }
            let grants = view.grants(ofProductAt: position)
            let policy = catalog.policy(ofMember: product)
            let decision = grants.decision(at: instant, under: policy)
            let grant = decision.grantIndex >= 0 ? grants.grant(at: decision.grantIndex) : nil
            let rank =
                decision.isGranted
                ? grant?.finalEnd(under: policy) ?? .min : grant?.start ?? .min
            if let known = best {
                guard decision.isGranted || !known.decision.isGranted else { continue }
                let isBetterKind = decision.isGranted && !known.decision.isGranted
                guard isBetterKind || rank > known.rank else { continue }
            }
            best = (position, decision, rank)
        }
        guard var found = best else {
            let answer = AccessAnswer(
                reason: .noPurchase, ownership: .unspecified, validUntil: 0, revision: revision)
            return body(answer, Span<UInt8>(), Span<UInt8>(), Span<UInt8>())
        }
        found.decision.validUntil = flip(
            products, view, under: catalog, isGranted: found.decision.isGranted, after: instant)
        return report(
            found.decision, view.grants(ofProductAt: found.product),
            view.productID(at: found.product), revision: revision, body)
    }

    /// When the OR over `products` flips by itself; 0: never.
    private func flip(
        _ products: Range<Int>, _ view: borrowing SnapshotView,
        under catalog: CompiledCatalog, isGranted: Bool, after instant: Int64
    ) -> Int64 {
        var end = isGranted ? instant : Int64.max
        var isSettled = false
        while !isSettled {
            let start = end
            for product in products {
                guard let position = catalog.position(ofMember: product, in: view) else { continue }
                let grants = view.grants(ofProductAt: position)
                let policy = catalog.policy(ofMember: product)
                if isGranted {
                    end = max(end, grants.coverageEnd(from: end, under: policy))
                } else {
                    end = min(end, grants.nextStart(after: instant, under: policy))
                }
            }
            isSettled = !isGranted || end == start
        }
        return end == .max ? 0 : end
    }

    /// Runs reads that must all see the same revision, and tells which.
    ///
    /// `body` may run more than once and must start afresh each time. Without a change in between
    /// it costs two atomic loads; while the table is not complete it waits for the commit thread.
    package func consistently<Result>(
        _ body: (_ revision: UInt64) throws(Refusal) -> Result
    ) throws(Refusal) -> Result {
        if table.isComplete {
            for _ in 0..<64 {
                let before = publicationSequence.load(ordering: .sequentiallyConsistent)
                guard before.isMultiple(of: 2) else { continue }
                let result = try body(revision)
                if publicationSequence.load(ordering: .sequentiallyConsistent) == before {
                    return result
                }
            }
        }
        return try publication.withLock { (_) throws(Refusal) in try body(revision) }
    }
}
