import AppStore
import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// A status of a chain as the Statuses endpoint gives it; the date is an offset.
struct FixtureStatus {
    var chain: String
    var transaction: String?
    var status: Int32
    var signed: Int64
}

extension ServiceFixture {
    /// A service that is told that somebody fetches from Apple.
    static func fetching(
        store: MemoryStore = MemoryStore(), catalog: Catalog = Catalog(),
        _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws -> ServiceFixture {
        try ServiceFixture(store: store, catalog: catalog) { configuration in
            configuration.isAppStoreConfigured = true
            configuration.v1SharedSecret = Array(V1Tests.secret.utf8)
            change(&configuration)
        }
    }

    /// What Apple's servers answered, each item verified.
    func history(
        _ transactions: [UInt8]..., renewals: [[UInt8]] = [], statuses: [FixtureStatus] = []
    ) throws -> AppleHistory {
        try history(of: transactions, renewals: renewals, statuses: statuses)
    }

    /// The same from a list.
    func history(
        of transactions: [[UInt8]], renewals: [[UInt8]] = [], statuses: [FixtureStatus] = []
    ) throws -> AppleHistory {
        let verifier = service.signedDataVerifier
        var history = AppleHistory(
            scope: Scope(bundleID: "com.example.meadow", environment: .production))
        history.transactions = try transactions.map { try verifier.verifyTransaction($0).signed }
        history.renewals = try renewals.map { try verifier.verifyRenewal($0).signed }
        history.statuses = statuses.map {
            AppleHistory.ChainStatus(
                originalTransactionID: $0.chain, transactionID: $0.transaction ?? $0.chain,
                status: $0.status, signedDate: Timestamp(milliseconds: Self.date($0.signed)))
        }
        history.itemCount = transactions.count
        return history
    }

    func plan(_ customer: CustomerReference) throws -> RefreshPlan {
        try service.refreshPlan(
            for: RebuildRequest(customer: customer, source: .appStore, scope: scope))
    }

    /// The plan of the only job that is queued.
    func queuedPlan() throws -> RefreshPlan {
        let due = try service.dueRefreshes(at: .distantFuture, countMax: 10).due
        try #require(due.count == 1)
        return try #require(try service.refreshPlan(for: due[0].key))
    }

    /// Who is queued and why, in the order of customers.
    func queue() throws -> [String] {
        let query = PageQuery(scope: scope, countMax: 1_000)
        guard case .reconciliation(let view) = try service.read(.reconciliation(query)) else {
            throw UnexpectedReply()
        }
        #expect(view.queuedCount == UInt64(view.refreshes.count))
        return view.refreshes.map { "\($0.customerID) \($0.job.trigger.rawValue)" }
    }

    /// Commits one event and gives its reply.
    @discardableResult
    func commit(_ event: Event) throws -> WriteReply {
        try #require(service.commit([event]).first).get()
    }

    /// Applies a whole answer.
    @discardableResult
    func apply(
        _ history: AppleHistory, by plan: RefreshPlan, dryRun: Bool = false
    ) throws -> RebuildReply {
        let event = service.event(applying: history, by: plan, isDryRun: dryRun)
        guard case .rebuild(let reply) = try commit(event) else { throw UnexpectedReply() }
        return reply
    }

    /// Applies a whole answer about a customer, as an admin's rebuild does.
    @discardableResult
    func rebuild(
        _ customer: String, _ history: AppleHistory, dryRun: Bool = false
    ) throws -> RebuildReply {
        try apply(history, by: try plan(.customer(customer)), dryRun: dryRun)
    }

    /// Keeps what was read of an answer that broke off.
    @discardableResult
    func keep(_ history: AppleHistory, by plan: RefreshPlan) throws -> RebuildReply {
        let event = service.event(keeping: history, by: plan)
        guard case .rebuild(let reply) = try commit(event) else { throw UnexpectedReply() }
        return reply
    }

    /// The actions in a customer's audit.
    func audit(_ customer: String) throws -> [String] {
        try view(.customer(customer)).audit.map(\.action)
    }

    /// Every record of every keyspace.
    func records() throws -> [String: [[UInt8]: [UInt8]]] {
        var records: [String: [[UInt8]: [UInt8]]] = [:]
        for keyspace in Keyspace.allCases {
            try store.scan(keyspace, prefix: [], from: nil, reversed: false) { key, value in
                records[keyspace.rawValue, default: [:]][key] = value
                return true
            }
        }
        return records
    }
}
