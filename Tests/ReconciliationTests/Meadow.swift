import AppStore
import AppStoreServerAPI
import Entitlements
import EventLoop
import HTTP
import Service
import Storage
import TestSupport
import Testing

@testable import Reconciliation

/// An app with its server and Apple's, over real TLS; time stands until a test, or somebody who
/// waits, moves it.
final class Meadow: Sendable {
    static let start: Int64 = 1_775_642_400_000
    static let minute: Int64 = 60_000
    static let day: Int64 = 86_400_000
    private static let authority = Result { try TestCertificateAuthority(name: "Meadow") }
    static let credentials = Result {
        try StandInAppStore.Key.made(issuerID: "issuer-1", keyID: "KEY1")
    }

    let clock: MeadowClock
    let store: MemoryStore
    let fixtures: SignedFixtures
    let appStore: StandInAppStore
    let apple: StandInAppStoreServer
    let desk: ServiceDesk<MemoryStore>
    let scope: ScopeIndex
    let reconciler: Reconciler
    let notices = Locked<[ReconciliationNotice]>([])
    private let commits: Locked<Void>

    /// A server whose timetable is switched off, but for what `change` says; `earlier`: whose store
    /// and whose Apple to go on with, as after a crash.
    init(
        after earlier: Meadow? = nil,
        _ change: (inout ReconciliationConfiguration) -> Void = { _ in }
    ) throws {
        let clock = earlier?.clock ?? MeadowClock(Self.start)
        self.clock = clock
        store = earlier?.store ?? MemoryStore()
        let fixtures = SignedFixtures(authority: try Self.authority.get())
        self.fixtures = fixtures
        let key = try Self.credentials.get().key
        appStore =
            earlier?.appStore
            ?? StandInAppStore(fixtures: fixtures, keys: [key], clock: { clock.milliseconds })
        apple = try earlier?.apple ?? StandInAppStoreServer(appStore)
        let service = try Self.service(store, fixtures, clock)
        desk = ServiceDesk(service)
        scope = try #require(service.scopes.first).index
        commits = Locked(())
        var configuration = ReconciliationConfiguration()
        configuration.pollInterval = 1
        configuration.backfillInterval = 0
        configuration.sweepInterval = 0
        change(&configuration)
        let notices = notices
        let (client, giveUp) = try Self.client(
            of: apple, fixtures, service.signedDataVerifier, clock)
        reconciler = Reconciler(
            service: service, client: client, giveUp: giveUp, configuration: configuration,
            clock: { clock.now },
            onNotice: { notice in notices.withLock { $0.append(notice) } })
    }

    private static func service(
        _ store: MemoryStore, _ fixtures: SignedFixtures, _ clock: MeadowClock
    ) throws -> EntitlementService<MemoryStore> {
        let app = AppConfiguration(
            bundleID: fixtures.bundleID, appAppleID: fixtures.appAppleID,
            environments: [.production])
        let service = try EntitlementService(
            store: store,
            configuration: ServiceConfiguration(
                apps: [app], roots: [fixtures.authority.trustedRoot], isAppStoreConfigured: true,
                clock: { clock.now }))
        try service.warm()
        return service
    }

    /// A client whose waits move the clock, and what makes it give up.
    private static func client(
        of apple: StandInAppStoreServer, _ fixtures: SignedFixtures,
        _ verifier: SignedDataVerifier, _ clock: MeadowClock
    ) throws -> (AppStoreServerClient, @Sendable () -> Void) {
        let credentials = try Self.credentials.get()
        let http = try HTTPClient(
            options: HTTPClientOptions(userAgent: "entitled/test", extraRoots: apple.rootPEM))
        let isOver = Locked(false)
        let client = AppStoreServerClient(
            key: try APIKey(
                issuerID: credentials.key.issuerID, keyID: credentials.key.keyID,
                file: credentials.file),
            apps: [fixtures.app()], verifier: verifier,
            configuration: AppStoreServerConfiguration(
                productionURL: apple.productionURL, sandboxURL: apple.sandboxURL),
            surroundings: AppStoreServerSurroundings(
                client: http, now: { clock.now },
                sleep: { milliseconds in
                    clock.advance(milliseconds)
                    return !isOver.withLock { $0 }
                }))
        let giveUp: @Sendable () -> Void = {
            isOver.withLock { $0 = true }
            http.cancelAll()
        }
        return (client, giveUp)
    }

    var service: EntitlementService<MemoryStore> { desk.service }

    /// One event after the other, as the commit thread takes them.
    var door: CommitDoor {
        CommitDoor { [desk, commits] event in
            commits.withLock { _ in desk.service.commit([event])[0] }
        }
    }

    func start() throws { try reconciler.start(door: door) }

    func end() {
        reconciler.stop()
        apple.stop()
    }

    // MARK: What people and Apple do

    /// The claims of a product that somebody in the family bought.
    func familyCopy(_ id: String) -> FixtureJSON {
        fixtures.transactionClaims(
            id, product: "meadow.lifetime", purchased: Self.start - 30 * Self.day,
            ownership: "FAMILY_SHARED")
    }

    /// A family member whose app has uploaded her copy a while ago.
    @discardableResult
    func member(_ name: String, _ account: String, _ id: String) throws -> StandInAccount {
        let standIn = appStore.account(account)
        standIn.add(familyCopy(id))
        let payload = try #require(standIn.signedTransaction(id))
        try perform(
            .transactions(TransactionUpload(customerID: name, signedTransactions: [payload])))
        return standIn
    }

    /// The REVOKE that Apple signs for a copy now.
    func revoke(_ account: StandInAccount, _ id: String, uuid: String) throws -> [UInt8] {
        account.revoke(id, at: clock.milliseconds)
        return try notification("REVOKE", account, id, uuid: uuid)
    }

    func notification(
        _ type: String, _ account: StandInAccount, _ id: String, uuid: String
    ) throws -> [UInt8] {
        try fixtures.notification(
            type, uuid: uuid, signed: clock.milliseconds,
            data: fixtures.notificationData(
                transaction: account.signedTransaction(id)))
    }

    @discardableResult
    func perform(_ call: WriteCall) throws -> WriteReply {
        try door.commit(try service.prepare(call))
    }

    func ask(_ call: RemoteCall, timeout: Int64 = 30_000) throws(Refusal) -> RemoteReply {
        try reconciler.remoteWork.handler(
            call, RemoteContext(door: door, timeoutMilliseconds: timeout))
    }

    func rebuild(_ name: String, isDryRun: Bool = false) -> RemoteCall {
        .rebuild(
            RebuildRequest(
                customer: .customer(name), source: .appStore, isDryRun: isDryRun, scope: scope))
    }

    // MARK: What can be seen

    func reason(_ name: String) throws -> AccessReason {
        try desk.check(.customer(name), "meadow.lifetime", in: scope).reason
    }

    func view(_ name: String) throws -> CustomerView {
        try service.customer(
            CustomerQuery(customer: .customer(name), scope: scope, byteCountMax: 1 << 30))
    }

    /// Waits until nobody is queued; time goes by meanwhile.
    func queueEmpties() -> Bool {
        eventually {
            clock.advance(10)
            return (try? queuedCount) == 0
        }
    }

    var queuedCount: UInt64 {
        get throws {
            guard
                case .reconciliation(let view) = try service.read(
                    .reconciliation(PageQuery(scope: scope)))
            else { return .max }
            return view.queuedCount
        }
    }
}

/// A clock that moves when it is told to.
final class MeadowClock: Sendable {
    private let state: Locked<Int64>

    init(_ milliseconds: Int64) { state = Locked(milliseconds) }

    var milliseconds: Int64 { state.withLock { $0 } }
    var now: Timestamp { Timestamp(milliseconds: milliseconds) }
    func advance(_ milliseconds: Int64) { state.withLock { $0 += milliseconds } }
}
