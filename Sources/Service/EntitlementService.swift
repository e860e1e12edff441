import AppStore
package import Entitlements
import SnapshotTable
package import Storage
import Synchronization

/// One configured app in one environment.
struct World: Sendable {
    let scope: Scope
    let number: ScopeNumber
}

/// What the server does, without a socket: answers checks, verifies and applies what comes in.
///
/// Event loops use `reader`; worker threads `prepare` and `customer`; one commit thread `commit`.
/// After `commit` returns, every reader sees what it wrote.
package final class EntitlementService<Store: EntitlementWriter & Sendable>: Sendable {
    /// What event loops ask.
    package let reader: AccessReader

    let store: Store
    let configuration: ServiceConfiguration
    let verifier: SignedDataVerifier
    /// The same for threads that must not spend 3 ms on a chain of certificates.
    let quickVerifier: SignedDataVerifier
    let worlds: [World]
    let scopeNumbers: [Scope: ScopeNumber]
    let catalogTable: Catalogs
    let ledgerCounters: LedgerCounterBox
    /// Which queued fetches are due.
    let refreshQueue = RefreshQueue()
    /// How fetches went since the start.
    let refreshTally = RefreshTally()
    let commitTally = CommitTally()
    /// What is to leave the disk.
    let erasures = ErasureList()
    let pastAnswers: PastAnswers<Store>
    /// What signatures and durable writes took.
    package let timings = ServiceTimings()

    /// Opens the ledger in `store`; numbers are given to scopes that it does not know yet.
    ///
    /// - Throws: `ServiceStartError`.
    package init(store: Store, configuration: ServiceConfiguration) throws(ServiceStartError) {
        self.store = store
        self.configuration = configuration
        verifier = try Self.makeVerifier(configuration)
        quickVerifier = verifier.withKnownChainsOnly()
        let opened: LedgerCounters
        do throws(StorageError) {
            opened = try LedgerCounters.read(from: store)
            scopeNumbers = try Self.numberScopes(of: configuration, in: store)
            try store.placeSnapshotsByName { count, isDone in
                configuration.onNotice(.converting(snapshotCount: count, isDone: isDone))
            }
            try store.placeMatchesByDate()
            try refreshQueue.load(Array(scopeNumbers.values), from: store)
        } catch {
            throw .storage(error)
        }
        let counters = LedgerCounterBox(opened)
        ledgerCounters = counters
        let worlds = Self.makeWorlds(configuration, scopeNumbers)
        self.worlds = worlds
        catalogTable = Catalogs(
            of: worlds, configuration.apps, readerCount: configuration.readerCount)
        let table = CustomerTable(
            customerCount: Int(clamping: opened.customerCount),
            byteCountMax: configuration.cacheByteCountMax, readerCount: configuration.readerCount)
        let clock = configuration.clock
        let ticks = configuration.monotonicMilliseconds ?? { clock().milliseconds }
        let startedAt = ticks()
        let numbers = worlds.map(\.number)
        let scopes = worlds.map(\.scope)
        let pastAnswers = PastAnswers(store)
        self.pastAnswers = pastAnswers
        reader = AccessReader(
            table: table, catalogs: catalogTable.compiled, worlds: worlds,
            isOnlyApp: configuration.apps.count == 1,
            revision: opened.revision, isAppStoreConfigured: configuration.isAppStoreConfigured,
            clock: clock,
            named: { scope, name, body throws(Refusal) in
                try store.withSnapshot(named: name, in: numbers[scope.value], body)
            },
            fallback: { scope, identity throws(Refusal) in
                try store.snapshot(of: identity, in: numbers[scope.value])
            },
            past: { scope, identity throws(Refusal) in
                try pastAnswers.snapshot(of: identity, in: numbers[scope.value])
            },
            facts: {
                let counts = counters.value
                let uptime = ticks() - startedAt
                return ServerInfo(
                    revision: counts.revision, uptimeMilliseconds: UInt64(max(0, uptime)),
                    scopes: scopes, customerCount: counts.customerCount,
                    transactionCount: counts.transactionCount,
                    isAppStoreConfigured: configuration.isAppStoreConfigured)
            })
    }

    private static func makeWorlds(
        _ configuration: ServiceConfiguration, _ numbers: [Scope: ScopeNumber]
    ) -> [World] {
        configuration.apps.flatMap { app in
            app.environments.sorted { $0.rawValue < $1.rawValue }.compactMap { environment in
                let scope = Scope(bundleID: app.bundleID, environment: environment)
                return numbers[scope].map { World(scope: scope, number: $0) }
            }
        }
    }

    private static func makeVerifier(
        _ configuration: ServiceConfiguration
    ) throws(ServiceStartError) -> SignedDataVerifier {
        guard !configuration.apps.isEmpty else { throw .configuration("no app is configured") }
        let apps = configuration.apps.map {
            TrustedApp(
                bundleID: $0.bundleID, appAppleID: $0.appAppleID, environments: $0.environments)
        }
        do throws(TrustError) {
            return try SignedDataVerifier(apps: apps, roots: configuration.roots)
        } catch {
            throw .configuration("\(error)")
        }
    }

    private static func numberScopes(
        of configuration: ServiceConfiguration, in store: Store
    ) throws(StorageError) -> [Scope: ScopeNumber] {
        var numbers: [Scope: ScopeNumber] = [:]
        var changes = ChangeSet()
        let stored = try store.value(for: Key.nextScope, in: .meta)
        var next = UInt16(
            truncatingIfNeeded: try stored.map { (bytes) throws(StorageError) in
                try RecordCodec.decodeNumber(bytes, in: .meta)
            } ?? 1)
        for app in configuration.apps {
            for environment in app.environments.sorted(by: { $0.rawValue < $1.rawValue }) {
                let scope = Scope(bundleID: app.bundleID, environment: environment)
                if let bytes = try store.value(for: Key.scope(scope), in: .meta) {
                    let number = try RecordCodec.decodeNumber(bytes, in: .meta)
                    numbers[scope] = ScopeNumber(UInt16(truncatingIfNeeded: number))
                    continue
                }
                numbers[scope] = ScopeNumber(next)
                changes.put(RecordCodec.encode(UInt64(next)), for: Key.scope(scope), in: .meta)
                next += 1
            }
        }
        if !changes.isEmpty {
            changes.put(RecordCodec.encode(UInt64(next)), for: Key.nextScope, in: .meta)
            try store.commit(changes)
        }
        return numbers
    }
}

extension LedgerCounters {
    /// The counters as the last group left them.
    static func read(from store: some EntitlementReader) throws(StorageError) -> LedgerCounters {
        var counters = LedgerCounters()
        if let bytes = try store.value(for: Key.revision, in: .meta) {
            counters.revision = try RecordCodec.decodeNumber(bytes, in: .meta)
        }
        if let bytes = try store.value(for: Key.nextCustomer, in: .meta) {
            counters.nextCustomer = try RecordCodec.decodeNumber(bytes, in: .meta)
        }
        if let bytes = try store.value(for: Key.counts, in: .meta) {
            let counts = try RecordCodec.decodeCounts(bytes)
            counters.customerCount = counts.customers
            counters.transactionCount = counts.transactions
        }
        if let bytes = try store.value(for: Key.forgottenCount, in: .meta) {
            counters.forgottenCount = try RecordCodec.decodeNumber(bytes, in: .meta)
        }
        return counters
    }
}

// MARK: - Scopes and facts about the server

/// What the server says of itself.
package struct ServerInfo: Hashable, Sendable {
    /// The last revision that every reader sees.
    package var revision: UInt64
    /// How long it has run, in milliseconds.
    package var uptimeMilliseconds: UInt64
    /// The configured worlds.
    package var scopes: [Scope]
    /// How many customers are known, unnamed ones included.
    package var customerCount: UInt64
    /// How many transactions are stored.
    package var transactionCount: UInt64
    /// Whether what is queued is fetched from Apple.
    package var isAppStoreConfigured = false
}

extension EntitlementService {
    /// The last revision that every reader sees.
    package var revision: UInt64 { reader.revision }

    /// What happened since the start.
    package var counters: Counters { reader.counters }

    func world(_ scope: ScopeIndex) -> World { worlds[scope.value] }
}

/// The ledger's counters, shared by the commit thread and those who ask for counts.
final class LedgerCounterBox: Sendable {
    private let counters: Mutex<LedgerCounters>

    init(_ counters: LedgerCounters) { self.counters = Mutex(counters) }

    var value: LedgerCounters {
        get { counters.withLock { $0 } }
        set { counters.withLock { $0 = newValue } }
    }
}
