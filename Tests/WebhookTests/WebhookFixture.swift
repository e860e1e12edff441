import AppStore
import Entitlements
import HTTP
import Service
import Storage
import Synchronization
import TestSupport
import Testing
import Webhook

/// A service on a store in memory behind the HTTP surface, without a socket.
final class WebhookFixture: Sendable {
    static let authority = Result { try TestCertificateAuthority(name: "Webhook") }
    static let epoch: Int64 = 1_767_225_600_000
    static let secret = "meadow-test-secret"

    let desk: ServiceDesk<MemoryStore>
    let apple: SignedFixtures
    let scope: ScopeIndex
    let report = Mutex(HealthReport())
    let snapshot = Mutex(MetricsSnapshot())
    /// One commit at a time, as the commit thread has it.
    private let turn = Mutex(())

    init(environments: Set<AppEnvironment> = [.production]) throws {
        let authority = try Self.authority.get()
        let service = try EntitlementService(
            store: MemoryStore(),
            configuration: ServiceConfiguration(
                apps: [
                    AppConfiguration(
                        bundleID: "com.example.meadow", appAppleID: 1_600_000_001,
                        environments: environments)
                ], roots: [authority.trustedRoot], v1SharedSecret: Array(Self.secret.utf8),
                clock: { Timestamp(milliseconds: Self.epoch) }))
        try service.warm()
        desk = ServiceDesk(service)
        apple = SignedFixtures(authority: authority)
        scope = try #require(
            desk.scopeIndex(Scope(bundleID: "com.example.meadow", environment: .production)))
    }

    /// Verifies and commits.
    func ingest(_ payload: [UInt8]) -> Result<WriteReply, Refusal> {
        turn.withLock { _ in desk.perform(.notification(payload: payload)) }
    }

    var router: WebhookRouter {
        WebhookRouter(
            notifications: NotificationEndpoint { self.ingest($0) },
            health: HealthEndpoint { self.report.withLock { $0 } },
            metrics: MetricsEndpoint { self.snapshot.withLock { $0 } })
    }

    /// The body of a notification that somebody bought `meadow.lifetime`.
    func purchase(
        _ id: String = "2000000100000700", uuid: String = "uuid-1",
        environment: AppEnvironment = .production
    ) throws -> [UInt8] {
        var apple = apple
        apple.environment = environment.name
        let transaction = try apple.transaction(
            id, product: "meadow.lifetime", purchased: Self.epoch - 2_000,
            signed: Self.epoch - 1_000)
        let notification = try apple.notification(
            "ONE_TIME_CHARGE", uuid: uuid, signed: Self.epoch - 1_000,
            data: apple.notificationData(transaction: transaction))
        return SignedFixtures.body(notification)
    }

    /// Whether the buyer of a purchase has it.
    func isGranted(_ id: String = "2000000100000700") throws -> Bool {
        try desk.check(.originalTransaction(id), "meadow.lifetime", in: scope).isGranted
    }
}

/// The text of a body.
func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }
