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

    /// Reads the snapshot of a customer who is not in memory; false when there is nobody.
    typealias NamedFallback =
        @Sendable (ScopeIndex, Span<UInt8>, (Span<UInt8>) -> Void) throws(Refusal) -> Bool
    /// Reads the snapshot of a customer who is given by a name of Apple's.
    typealias Fallback = @Sendable (ScopeIndex, Identity) throws(Refusal) -> [UInt8]?

    private let catalogs: CatalogCopies
    /// The store's numbers of the scopes, in their order.
    private let scopeNumbers: [UInt16]
    /// The environment of each scope, by its number on the wire.
    private let environments: [Int32]
    /// All bundle ids, one after the other, and where that of each scope is: without an object
    /// for each there is nothing to be counted.
    private let bundleIDs: [UInt8]
    private let bundleIDRanges: [Range<Int>]
    private let isOnlyApp: Bool
    private let clock: @Sendable () -> Timestamp
    private let named: NamedFallback
    private let fallback: Fallback
    /// Makes a customer's snapshot with all grants: for questions about a past that the snapshot
    /// of a long history has left out.
    private let past: Fallback
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
        clock: @escaping @Sendable () -> Timestamp, named: @escaping NamedFallback,
        fallback: @escaping Fallback, past: @escaping Fallback,
        facts: @escaping @Sendable () -> ServerInfo
    ) {
        self.table = table
        self.catalogs = catalogs
        scopeNumbers = worlds.map(\.number.value)
        environments = worlds.map { Int32($0.scope.environment.rawValue) }
        var bytes: [UInt8] = []
        bundleIDRanges = worlds.map { world in
            let start = bytes.count
            bytes += world.scope.bundleID.utf8
            return start..<bytes.count
        }
        bundleIDs = bytes
        self.isOnlyApp = isOnlyApp
        self.isAppStoreConfigured = isAppStoreConfigured
        self.clock = clock
        self.named = named
        self.fallback = fallback
        self.past = past
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
        let wanted: Int32 = environment == 0 ? 1 : environment
        for index in environments.indices where environments[index] == wanted {
            if bundleID.isEmpty {
                if isOnlyApp { return ScopeIndex(value: index) }
            } else if areEqual(bundleIDs, at: bundleIDRanges[index], bundleID) {
                return ScopeIndex(value: index)
            }
        }
        return nil
    }
}

// MARK: - Checks, batch by batch

/// What the checks of one batch share: one look at what changes beside them.
///
/// The revision was read first, so whatever is read in the batch is of it or of a later one.
package struct AccessBatch: Sendable, BitwiseCopyable {
    /// What the answers say that they have seen.
    package let revision: UInt64
    /// Whether who is not in memory is unknown.
    let isComplete: Bool
}

extension AccessReader {
    /// Opens a batch: between `table.beginReading` and `endReading`, before its first read.
    package func batch() -> AccessBatch {
        let revision = revision
        return AccessBatch(revision: revision, isComplete: table.isComplete)
    }

    /// Calls `body` with the catalogs of now, which it must not keep; it must not call this again.
    package func withCatalog(for reader: ReaderSlot, _ body: (CompiledCatalog) -> Void) {
        catalogs.withCatalog(for: reader, body)
    }

    /// What a customer's own name is found by.
    package func hash(of name: Span<UInt8>, in scope: ScopeIndex) -> UInt64 {
        table.hash(scope: scopeNumbers[scope.value], name: name)
    }

    /// The store's number of a world, by which the table knows it.
    package func number(of scope: ScopeIndex) -> UInt16 { scopeNumbers[scope.value] }

    /// Answers from memory what it can of questions that came together; see `CustomerTable.decide`.
    ///
    /// Loop threads only, between `table.beginReading` and `endReading`, after `batch`.
    package func decide(
        _ questions: Span<ProductQuestion>, _ range: Range<Int>, in text: Span<UInt8>,
        at nowMilliseconds: Int64, in batch: AccessBatch, reader: ReaderSlot,
        into verdicts: inout MutableSpan<ProductVerdict>
    ) {
        catalogs.withCatalog(for: reader) { catalog in
            table.decide(
                questions, range, in: text, at: nowMilliseconds, isComplete: batch.isComplete,
                under: catalog, reader: reader, into: &verdicts)
        }
    }

    /// Answers a question from memory; false where the store must be read: see `checkAccess`.
    ///
    /// Loop threads only, between `table.beginReading` and `endReading`. The query asks for a
    /// customer by his own name, and `hash` is what `hash(of:in:)` gave for it.
    package func answer(
        _ query: borrowing AccessQuery, hash: UInt64, in batch: AccessBatch,
        under catalog: CompiledCatalog, reader: ReaderSlot,
        _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) -> Bool {
        var isAnswered = false
        let isFound = table.withSnapshot(
            hash: hash, scope: scopeNumbers[query.scope.value], name: query.name, reader: reader
        ) { snapshot in
            isAnswered = decide(query, snapshot, under: catalog, revision: batch.revision, body)
        }
        // A past that memory does not reach back to is the store's to tell.
        guard !isFound else { return isAnswered }
        if batch.isComplete { unknown(query, revision: batch.revision, body) }
        return batch.isComplete
    }
}

extension AccessReader {
    /// Answers a question that memory has no answer to.
    ///
    /// - Throws: STORE_UNAVAILABLE or STORE_DAMAGED when the store could not be read.
    package func answerFromStore(
        _ query: borrowing AccessQuery, in batch: AccessBatch, under catalog: CompiledCatalog,
        _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(Refusal) {
        counters.countStoreRead()
        if query.kind == .customer { return try readNamed(query, in: batch, under: catalog, body) }
        guard let name = text(query.name),
            let snapshot = try fallback(query.scope, Identity(query.kind, name))
        else { return unknown(query, revision: batch.revision, body) }
        if decide(query, snapshot.span, under: catalog, revision: batch.revision, body) { return }
        try answerFromFacts(query, in: batch, under: catalog, body)
    }

    /// Answers about a past that the snapshot of a long history has left out.
    private func answerFromFacts(
        _ query: borrowing AccessQuery, in batch: AccessBatch, under catalog: CompiledCatalog,
        _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(Refusal) {
        guard let name = text(query.name),
            let whole = try past(query.scope, Identity(query.kind, name))
        else { return unknown(query, revision: batch.revision, body) }
        _ = decide(query, whole.span, under: catalog, revision: batch.revision, body)
    }

    /// Answers from the store, and offers what was read to the table.
    private func readNamed(
        _ query: borrowing AccessQuery, in batch: AccessBatch, under catalog: CompiledCatalog,
        _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(Refusal) {
        let scope = scopeNumbers[query.scope.value]
        // Before the read: what a commit publishes from here on refuses the offer.
        let readAt = table.changeCount
        var isAnswered = false
        let isKnown = try named(query.scope, query.name) { snapshot in
            _ = table.offer(
                scope: scope, name: query.name, snapshot: snapshot, readAt: readAt,
                evicting: true)
            isAnswered = decide(query, snapshot, under: catalog, revision: batch.revision, body)
        }
        guard isKnown else { return unknown(query, revision: batch.revision, body) }
        if !isAnswered { try answerFromFacts(query, in: batch, under: catalog, body) }
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
        let batch = batch()
        var isAnswered = false
        if query.kind == .customer {
            let hash = hash(of: query.name, in: query.scope)
            catalogs.withCatalog(for: reader) { catalog in
                isAnswered = answer(
                    query, hash: hash, in: batch, under: catalog, reader: reader, body)
            }
        }
        guard !isAnswered else { return }
        var failure: Refusal?
        catalogs.withCatalog(for: reader) { catalog in
            do throws(Refusal) {
                try answerFromStore(query, in: batch, under: catalog, body)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
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

    /// Answers from a snapshot; false, without an answer, where it does not reach back to the
    /// instant.
    private func decide(
        _ query: borrowing AccessQuery, _ snapshot: Span<UInt8>, under catalog: CompiledCatalog,
        revision: UInt64, _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) -> Bool {
        let view = SnapshotView(snapshot)
        let now = query.nowMilliseconds > 0 ? query.nowMilliseconds : nowMilliseconds
        if view.isLong {
            let instant = query.atMilliseconds
            let asked = instant > 0 ? instant : max(now, view.newestSignedDate)
            guard reaches(query, view, under: catalog, back: asked) else { return false }
        }
        if query.subject == .entitlement {
            let instant = query.atMilliseconds
            decideEntitlement(
                query, view, under: catalog,
                at: instant > 0 ? instant : max(now, view.newestSignedDate), revision: revision,
                body)
            return true
        }
        guard
            let answer = view.answer(
                ofProduct: query.subjectName, at: query.atMilliseconds, orNow: now,
                under: catalog, in: query.scope.value)
        else {
            let none = Span<UInt8>()
            let answer = AccessAnswer(
                reason: .noPurchase, ownership: .unspecified, validUntil: 0, revision: revision)
            body(answer, query.subjectName, none, none)
            return true
        }
        report(answer, query.subjectName, revision: revision, body)
        return true
    }

    /// Whether the snapshot of a long history answers what is asked at `instant`.
    private func reaches(
        _ query: borrowing AccessQuery, _ view: borrowing SnapshotView,
        under catalog: CompiledCatalog, back instant: Int64
    ) -> Bool {
        guard query.subject == .entitlement else {
            guard let index = view.index(ofProduct: query.subjectName) else { return true }
            return view.reaches(back: instant, ofProductAt: index)
        }
        for product in catalog.products(of: query.subjectName, in: query.scope.value) {
            guard let position = catalog.position(ofMember: product, in: view) else { continue }
            guard view.reaches(back: instant, ofProductAt: position) else { return false }
        }
        return true
    }

    @inline(__always)
    private func report(
        _ found: borrowing ProductAnswer, _ product: Span<UInt8>, revision: UInt64,
        _ body: (AccessAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) {
        let answer = AccessAnswer(
            reason: found.decision.reason, ownership: found.ownership,
            validUntil: found.decision.validUntil, revision: revision)
        body(answer, product, found.transactionID, found.originalTransactionID)
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
        let answer = ProductAnswer(found.decision, of: view.grants(ofProductAt: found.product))
        report(answer, view.productID(at: found.product), revision: revision, body)
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
                    // Who was put out meanwhile was read from the store, which may be ahead.
                    guard table.isComplete else { break }
                    return result
                }
            }
        }
        return try publication.withLock { (_) throws(Refusal) in try body(revision) }
    }
}
