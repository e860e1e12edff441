import AppStoreServerAPI
import Entitlements
import EventLoop
import Service
import Storage
import Testing

@testable import Reconciliation
@testable import Service

@Suite struct RemoteAnswersTests {
    static let scope = ScopeIndex(value: 0)
    let bench = Bench()

    func answer(_ call: RemoteCall, timeout: Int64 = 10_000) throws(Refusal) -> RemoteReply {
        try RemoteAnswers(desk: bench.desk) {}
            .answer(call, RemoteContext(door: bench.door, timeoutMilliseconds: timeout))
    }

    func rebuild(_ name: String = "a", isDryRun: Bool = false) -> RemoteCall {
        .rebuild(
            RebuildRequest(
                customer: .customer(name), source: .appStore, isDryRun: isDryRun, scope: Self.scope
            ))
    }

    // MARK: Rebuild

    @Test func `a rebuild fetches, applies and tells the difference`() throws {
        let change = Bench.change("p", to: false)
        bench.set { $0.changes = [change] }
        guard case .rebuild(let reply) = try answer(rebuild()) else {
            Issue.record("a rebuild is answered as one")
            return
        }
        #expect(reply.changes == [change])
        #expect(bench.committed == ["apply 1"])
        #expect(bench.desk.counts.rebuilds == [.init(trigger: .admin, outcome: .succeeded): 1])
    }

    @Test(arguments: [
        (Int64(10_000), Int64(9_500)), (1_000, 900), (1, 1), (10_000_000, 54_500),
    ])
    func `Apple is waited for as long as the client waits, less what answering takes`(
        timeout: Int64, deadline: Int64
    ) throws {
        _ = try answer(rebuild(), timeout: timeout)
        #expect(bench.snapshot.deadlines == [Bench.start.adding(milliseconds: deadline)])
    }

    @Test(arguments: [
        (
            AppStoreServerError.throttled(until: Bench.start.adding(milliseconds: 2_500)),
            RefusalReason.appStoreThrottled
        ),
        (.unavailable(message: "down", retryAt: Bench.start), .appStoreIncomplete),
        (.malformed("<html>"), .appStoreIncomplete),
        (.unauthorized("look at the key"), .appStoreUnauthorized),
    ])
    func `a rebuild that breaks off keeps what it read, and goes on in the background`(
        error: AppStoreServerError, reason: RefusalReason
    ) {
        bench.set { $0.histories = [Bench.failure(error, partial: Bench.history())] }
        let refusal = #expect(throws: Refusal.self) { try answer(rebuild()) }
        #expect(refusal?.reason == reason)
        #expect(bench.committed == ["keep 1: 1", "queue [1]: ADMIN"])
        // A client's patience says nothing about Apple's servers.
        #expect(bench.desk.pausedUntil(Bench.production, .customers) == nil)
    }

    @Test func `what Apple will never answer is not queued`() {
        bench.set {
            $0.histories = [Bench.failure(.notFound(code: 4_040_010, message: "unknown"))]
        }
        let refusal = #expect(throws: Refusal.self) { try answer(rebuild()) }
        #expect(refusal?.reason == .appStoreIncomplete)
        #expect(bench.committed.isEmpty)
    }

    @Test func `a dry run that breaks off leaves no trace`() throws {
        bench.set {
            $0.histories = [
                Bench.failure(.malformed("<html>"), partial: Bench.history(problemCount: 1))
            ]
        }
        #expect(throws: Refusal.self) { try answer(rebuild(isDryRun: true)) }
        #expect(bench.committed.isEmpty && bench.notices.isEmpty)
        #expect(bench.desk.counts.rebuilds.isEmpty)
        _ = try answer(rebuild(isDryRun: true))
        #expect(bench.committed == ["apply dry 1"])
        #expect(bench.desk.counts.rebuilds.isEmpty)
    }

    @Test func `an unknown customer is refused before Apple is asked`() {
        let refusal = #expect(throws: Refusal.self) { try answer(rebuild("b")) }
        #expect(refusal?.reason == .unknownCustomer)
        #expect(bench.snapshot.historyCount == 0)
    }

    @Test func `a success tells the background that Apple answers again`() throws {
        _ = bench.desk.failed(.unauthorized("no"), Bench.production, .notifications)
        _ = try answer(rebuild())
        #expect(bench.desk.pausedUntil(Bench.production, .notifications) == nil)
        #expect(bench.notices.last == .recovered(Bench.production))
    }

    @Test(arguments: [true, false])
    func `a no of Apple's is an answer: the credentials are good`(isDryRun: Bool) {
        _ = bench.desk.failed(.unauthorized("look at the key"), Bench.production, .notifications)
        #expect(bench.desk.counts.unauthorizedScopes == [Bench.production])
        bench.set {
            $0.histories = [Bench.failure(.notFound(code: 4_040_010, message: "unknown"))]
        }
        #expect(throws: Refusal.self) { try answer(rebuild(isDryRun: isDryRun)) }
        #expect(bench.desk.counts.unauthorizedScopes.isEmpty)
        #expect(bench.notices.contains(.recovered(Bench.production)))
    }

    @Test func `while the server goes down nothing is asked, and nobody is blamed`() {
        bench.set { $0.histories = [Bench.failure(.unauthorized("no"))] }
        bench.desk.giveUp()
        let refusal = #expect(throws: Refusal.self) { try answer(rebuild()) }
        #expect(refusal?.reason == .draining)
        #expect(bench.snapshot.historyCount == 0)
    }

    @Test func `a call that the end of the server breaks off is told so, and is queued`() {
        let end = Locked<@Sendable () -> Void>({})
        let bench = Bench(onHistory: { end.withLock { $0 }() })
        end.withLock { $0 = { bench.desk.giveUp() } }
        bench.set {
            $0.histories = [Bench.failure(.unavailable(message: "", retryAt: Bench.start))]
        }
        let refusal = #expect(throws: Refusal.self) {
            try RemoteAnswers(desk: bench.desk) {}
                .answer(rebuild(), RemoteContext(door: bench.door, timeoutMilliseconds: 9))
        }
        #expect(refusal?.reason == .draining)
        #expect(bench.committed == ["queue [1]: ADMIN"])
        end.withLock { $0 = {} }
    }

    // MARK: Notifications

    func backfill(
        isDryRun: Bool = false, token: String = "", from: Int64 = -1_000, to: Int64 = 0
    ) -> RemoteCall {
        .backfill(
            BackfillRequest(
                scope: Self.scope, from: Bench.start.adding(milliseconds: from),
                to: Bench.start.adding(milliseconds: to), pageToken: token, isOnlyFailures: true,
                isDryRun: isDryRun))
    }

    @Test func `a page is asked for as the client says, and goes on with Apple's token`() throws {
        bench.set { $0.pages = [Bench.page(["u1", "bad", "u2"], next: "t2")] }
        guard case .backfill(let reply) = try answer(backfill(token: "t1")) else {
            Issue.record("a backfill is answered as one")
            return
        }
        #expect(
            bench.queries == [
                NotificationQuery(
                    scope: Bench.production,
                    dates: Bench.start.adding(milliseconds: -1_000)..<Bench.start,
                    isOnlyFailures: true, pageToken: "t1")
            ])
        #expect(reply.nextPageToken == "t2" && reply.notificationCount == 3)
        #expect(reply.recovered.map(\.notificationUUID) == ["u1", "u2"])
        #expect(reply.problems.map(\.reason) == [.badSignature])
        #expect(reply.revision == 5)
    }

    @Test func `a dry run of a backfill says what is missing and stores nothing`() throws {
        bench.set {
            $0.pages = [Bench.page(["u1", "u2"])]
            $0.storedUUIDs = ["u1"]
        }
        guard case .backfill(let reply) = try answer(backfill(isDryRun: true)) else {
            Issue.record("a backfill is answered as one")
            return
        }
        #expect(reply.recovered.map(\.notificationUUID) == ["u2"])
        #expect(bench.committed.isEmpty)
    }

    @Test(arguments: [(Int64(0), Int64(0)), (1, 0)])
    func `a span that is none is refused`(from: Int64, to: Int64) {
        let refusal = #expect(throws: Refusal.self) { try answer(backfill(from: from, to: to)) }
        #expect(refusal?.reason == .invalidField)
        #expect(bench.queries.isEmpty)
    }

    @Test func `a test notification is asked for, and its way can be followed`() throws {
        let first = try answer(.testNotification(TestNotificationRequest(scope: Self.scope)))
        #expect(
            first
                == .testNotification(
                    TestNotificationReply(token: "token-1", attempts: [], isReceived: false)))
        for isReceived in [false, true] {
            if isReceived { bench.set { $0.storedUUIDs = ["uuid-t"] } }
            let status = try answer(
                .testNotification(TestNotificationRequest(scope: Self.scope, token: "token-1")))
            #expect(
                status
                    == .testNotification(
                        TestNotificationReply(
                            token: "token-1",
                            attempts: [.init(at: Bench.start, result: "TIMED_OUT")],
                            isReceived: isReceived)))
        }
        let refusal = #expect(throws: Refusal.self) {
            try answer(
                .testNotification(TestNotificationRequest(scope: Self.scope, token: "other")))
        }
        #expect(refusal?.reason == .invalidField)
    }
}
