import Entitlements
import Service
import Storage
import Synchronization
import TestSupport
import Testing

/// A clock that stands where a test puts it.
final class StoppedClock: Sendable {
    private let milliseconds: Atomic<Int64>

    init(_ milliseconds: Int64) { self.milliseconds = Atomic(milliseconds) }

    var now: Timestamp {
        get { Timestamp(milliseconds: milliseconds.load(ordering: .relaxed)) }
        set { milliseconds.store(newValue.milliseconds, ordering: .relaxed) }
    }
}

/// A service on a store in memory, with an authority whose signatures it believes.
///
/// Dates are small numbers: milliseconds since 1,767,225,600,000, which is 2026-01-01.
struct ServiceFixture {
    static let authority = Result { try TestCertificateAuthority(name: "Service") }
    static let epoch: Int64 = 1_767_225_600_000

    let store: MemoryStore
    let clock: StoppedClock
    let desk: ServiceDesk<MemoryStore>
    let scope: ScopeIndex
    var apple: SignedFixtures
    private let uuids = Atomic64()

    init(
        store: MemoryStore = MemoryStore(), catalog: Catalog = Catalog(), isWarm: Bool = true,
        cacheByteCountMax: Int = 1 << 24,
        environments: Set<AppEnvironment> = [.production, .sandbox],
        _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws {
        let authority = try Self.authority.get()
        let clock = StoppedClock(Self.epoch)
        var configuration = ServiceConfiguration(
            apps: [
                AppConfiguration(
                    bundleID: "com.example.meadow", appAppleID: 1_600_000_001,
                    environments: environments, catalog: catalog)
            ], roots: [authority.trustedRoot], cacheByteCountMax: cacheByteCountMax,
            clock: { clock.now })
        change(&configuration)
        self.store = store
        self.clock = clock
        let service = try EntitlementService(store: store, configuration: configuration)
        if isWarm { try service.warm() }
        desk = ServiceDesk(service)
        apple = SignedFixtures(authority: authority)
        scope = try #require(
            desk.scopeIndex(Scope(bundleID: "com.example.meadow", environment: .production)))
    }

    var service: EntitlementService<MemoryStore> { desk.service }

    /// A date of the fixtures as Apple writes it.
    static func date(_ offset: Int64) -> Int64 { epoch + offset }

    /// A signed transaction; dates are offsets.
    func transaction(
        _ id: String, original: String? = nil, product: String = "p", from: Int64 = 1_000,
        to: Int64? = nil, shared: Bool = false, revoked: Int64? = nil, signed: Int64? = nil,
        changes: FixtureChanges = [:]
    ) throws -> [UInt8] {
        try apple.transaction(
            id, original: original, product: product, purchased: Self.date(from),
            expires: to.map(Self.date), ownership: shared ? "FAMILY_SHARED" : "PURCHASED",
            revoked: revoked.map(Self.date), signed: Self.date(signed ?? revoked ?? from),
            changes: changes)
    }

    func renewal(_ chain: String, signed: Int64, changes: FixtureChanges = [:]) throws -> [UInt8] {
        try apple.renewal(
            chain, product: "p", renewal: Self.date(0), signed: Self.date(signed),
            changes: changes)
    }

    /// A notification call, fresh unless `uuid` is given.
    func notification(
        _ type: String, subtype: String? = nil, uuid: String? = nil, signed: Int64 = 1_000,
        transaction: [UInt8]? = nil, renewal: [UInt8]? = nil, status: Int64? = nil
    ) throws -> WriteCall {
        let jws = try apple.notification(
            type, subtype: subtype, uuid: uuid ?? "uuid-\(uuids.next())",
            signed: Self.date(signed),
            data: apple.notificationData(
                transaction: transaction, renewal: renewal, status: status))
        return .notification(payload: SignedFixtures.body(jws))
    }

    /// Delivers a notification and gives its answer.
    @discardableResult
    func notify(
        _ type: String, subtype: String? = nil, uuid: String? = nil, signed: Int64 = 1_000,
        transaction: [UInt8]? = nil, renewal: [UInt8]? = nil, status: Int64? = nil
    ) throws -> NotificationReply {
        let call = try notification(
            type, subtype: subtype, uuid: uuid, signed: signed, transaction: transaction,
            renewal: renewal, status: status)
        guard case .notification(let reply) = try desk.perform(call).get() else {
            throw UnexpectedReply()
        }
        return reply
    }

    /// Uploads and gives the changes and the revision.
    @discardableResult
    func upload(
        _ customer: String, _ transactions: [UInt8]..., renewals: [[UInt8]] = [],
        account: [UInt8] = [], transfer: Bool = false
    ) throws -> (changes: [EntitlementChange], revision: UInt64) {
        let call = WriteCall.transactions(
            TransactionUpload(
                customerID: customer, signedTransactions: transactions, signedRenewals: renewals,
                signedAppTransaction: account, isTransfer: transfer))
        guard case .transactions(let changes, let revision) = try desk.perform(call).get() else {
            throw UnexpectedReply()
        }
        return (changes, revision)
    }

    /// Links and gives the changes and the revision.
    @discardableResult
    func link(
        _ customer: String, _ identity: CustomerReference? = nil, household: String = "",
        leave: Bool = false, transfer: Bool = false, in scope: ScopeIndex? = nil
    ) throws -> (changes: [EntitlementChange], revision: UInt64) {
        let call = WriteCall.link(
            LinkRequest(
                customerID: customer, identity: identity, scope: scope ?? self.scope,
                isTransfer: transfer, householdID: household, leavesHousehold: leave))
        guard case .link(let changes, let revision) = try desk.perform(call).get() else {
            throw UnexpectedReply()
        }
        return (changes, revision)
    }

    /// The answer about a product at an offset.
    func check(
        _ customer: String, _ product: String = "p", at offset: Int64 = 5_000
    ) throws -> AccessVerdict {
        try desk.check(.customer(customer), product, at: Self.date(offset), in: scope)
    }

    /// The reason about a product at an offset.
    func reason(
        _ customer: String, _ product: String = "p", at offset: Int64 = 5_000
    ) throws -> AccessReason {
        try check(customer, product, at: offset).reason
    }

    /// All that is known of a customer, as one page.
    func view(_ customer: CustomerReference) throws -> CustomerView {
        try service.customer(
            CustomerQuery(customer: customer, scope: scope, byteCountMax: 1 << 30))
    }

    /// The reason for which a call is refused; nil when it is not.
    func refusal(_ call: WriteCall) -> RefusalReason? {
        guard case .failure(let refusal) = desk.perform(call) else { return nil }
        return refusal.reason
    }
}

struct UnexpectedReply: Error {}

/// Counts up from 1.
final class Atomic64: Sendable {
    private let value = Atomic<Int64>(0)
    func next() -> Int64 { value.add(1, ordering: .acquiringAndReleasing).newValue }
    /// How often it has counted.
    var current: Int64 { value.load(ordering: .acquiring) }
}
