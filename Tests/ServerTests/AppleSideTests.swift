import EntitledClient
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

/// A real server with a stand-in for Apple's servers beside it.
private final class Neighbours: Sendable {
    let appStore: StandInAppStore
    let apple: StandInAppStoreServer
    let server: TestServer

    private init(_ apple: StandInAppStoreServer, _ server: TestServer) {
        appStore = apple.appStore
        self.apple = apple
        self.server = server
    }

    /// Starts both. The timetable is off, but for what `flags` say; `accepts`: Apple knows the
    /// server's key.
    static func start(_ flags: [String] = [], accepts: Bool = true) async throws -> Neighbours {
        let authority = try TestCertificateAuthority()
        let issuer = "57246542-96fe-1a63-e053-0824d011072a"
        let credentials = try StandInAppStore.Key.made(issuerID: issuer, keyID: "2X9R4HXF34")
        let stranger = try StandInAppStore.Key.made(issuerID: issuer, keyID: "2X9R4HXF34")
        let appStore = StandInAppStore(
            fixtures: SignedFixtures(authority: authority),
            keys: [accepts ? credentials.key : stranger.key],
            clock: { Int64(time(nil)) * 1_000 })
        let apple = try StandInAppStoreServer(appStore)
        let files = try TemporaryDirectory()
        let server = try await TestServer.start(
            authorities: [authority],
            flags: [
                "--apple-api-issuer-id", credentials.key.issuerID, "--apple-api-key-id",
                credentials.key.keyID, "--apple-api-key-file",
                try files.write(credentials.file, to: "key.p8"), "--apple-api-ca-file",
                try files.write(apple.rootPEM, to: "ca.pem"), "--apple-api-base-url",
                apple.productionURL, "--apple-api-sandbox-base-url", apple.sandboxURL,
                "--apple-api-backfill-interval", "0s",
            ]
                + (flags.contains("--apple-api-sweep-interval")
                    ? [] : ["--apple-api-sweep-interval", "0s"])
                + flags, keeping: [files])
        return Neighbours(apple, server)
    }

    /// The same Apple, another server: for a restart.
    func with(_ server: TestServer) -> Neighbours { Neighbours(apple, server) }

    /// Somebody whose family shares a purchase; her app has uploaded her copy.
    func member(_ name: String, _ id: String, _ client: Client) async throws -> StandInAccount {
        let account = appStore.account("account of \(name)")
        account.add(
            server.fixtures.transactionClaims(
                id, product: "meadow.lifetime", purchased: Dates.bought,
                ownership: "FAMILY_SHARED"))
        let jws = try #require(account.signedTransaction(id))
        _ = try await client.ingestTransactions(
            TransactionUpload(
                customerID: name, signedTransactions: [String(decoding: jws, as: UTF8.self)]))
        return account
    }

    func isGranted(_ name: String, _ client: Client) async throws -> Bool {
        try await client.checkAccess(.customer(name), product: "meadow.lifetime").isGranted
    }

    /// Waits until the answer about somebody is `granted`.
    func wait(until granted: Bool, _ name: String, _ client: Client) async throws {
        for _ in 0..<3_000 {
            if try await isGranted(name, client) == granted { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("\(name) is still \(granted ? "denied" : "granted"): \(log)")
    }

    var log: String { server.process.errorOutput }

    func end() async throws {
        let end = try await server.stop()
        #expect(end == .exit(0))
        apple.stop()
    }
}

/// What the program does with Apple's servers: the parts have their tests, these are of the whole.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct AppleSideTests {
    private let refunded = Dates.refunded

    @Test func `a rebuild from Apple finds what no notification told, a dry run only shows it`()
        async throws
    {
        let neighbours = try await Neighbours.start()
        let client = try neighbours.server.client()
        defer { client.close() }
        #expect(try await client.serverInfo().isAppStoreAPIConfigured)
        let account = try await neighbours.member("mia", "8100", client)
        #expect(try await neighbours.isGranted("mia", client))
        account.revoke("8100", at: refunded)
        let dry = try await client.rebuildCustomer(
            .customer("mia"), source: .appStore, isDryRun: true, timeout: .seconds(30))
        #expect(dry.changes.map(\.isGranted) == [false])
        #expect(try await neighbours.isGranted("mia", client))
        let done = try await client.rebuildCustomer(.customer("mia"), timeout: .seconds(30))
        #expect(done.source == .appStore && done.changes.count == 1)
        #expect(try await !neighbours.isGranted("mia", client))
        try await neighbours.end()
    }

    @Test func `the sweep finds a lost REVOKE by itself`() async throws {
        let neighbours = try await Neighbours.start(["--apple-api-sweep-interval", "2s"])
        let client = try neighbours.server.client()
        defer { client.close() }
        let account = try await neighbours.member("mia", "8100", client)
        #expect(try await neighbours.isGranted("mia", client))
        account.revoke("8100", at: refunded)
        try await neighbours.wait(until: false, "mia", client)
        let log = try await eventually("it is logged") {
            neighbours.log.contains("a change that no notification had told was found") ? 1 : nil
        }
        #expect(log == 1)
        try await neighbours.end()
    }

    @Test func `a fetch that was queued while Apple failed is done after a kill and a restart`()
        async throws
    {
        let first = try await Neighbours.start()
        let client = try first.server.client()
        let account = try await first.member("mia", "8100", client)
        first.appStore.outage(.page(503))
        // Her own REVOKE says that a copy ended; that the other did too, only Apple's history says.
        account.add(
            first.server.fixtures.transactionClaims(
                "8101", product: "meadow.season", purchased: Dates.bought,
                ownership: "FAMILY_SHARED"))
        account.revoke("8100", at: refunded)
        let revoke = SignedFixtures.body(
            try first.server.fixtures.notification(
                "REVOKE", uuid: "r", signed: refunded + 4_000,
                data: first.server.fixtures.notificationData(
                    transaction: account.signedTransaction("8100"))))
        // Signed by the stand-in's authority, which the server trusts as well.
        #expect(try await client.ingestNotification(revoke).disposition == .applied)
        #expect(try await client.reconciliation(pageSize: 10).queuedCount == 1)
        client.close()
        first.server.process.send(SIGKILL)
        #expect(try await first.server.process.waitForEnd() == .signal(SIGKILL))
        let second = first.with(try await first.server.restart())
        let other = try second.server.client()
        defer { other.close() }
        #expect(try await other.reconciliation(pageSize: 10).queuedCount == 1)
        second.appStore.outage(nil)
        second.server.process.send(SIGHUP)
        for _ in 0..<3_000 where try await other.reconciliation(pageSize: 10).queuedCount > 0 {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try await other.reconciliation(pageSize: 10).queuedCount == 0)
        #expect(
            try await other.checkAccess(.customer("mia"), product: "meadow.season").isGranted)
        try await second.end()
    }

    @Test func `a stop does not wait for Apple`() async throws {
        let neighbours = try await Neighbours.start()
        let client = try neighbours.server.client()
        defer { client.close() }
        _ = try await neighbours.member("mia", "8100", client)
        let gate = Gate()
        neighbours.appStore.outage(.slow { gate.wait() })
        let call = Task { () -> ClientError? in
            do throws(ClientError) {
                _ = try await client.rebuildCustomer(
                    .customer("mia"), source: .appStore, timeout: .seconds(50))
                return nil
            } catch {
                return error
            }
        }
        let asked = try await eventually("Apple is asked") { gate.isWaitedAt ? true : nil }
        #expect(asked)
        neighbours.server.process.send(SIGTERM)
        #expect(try await neighbours.server.process.waitForEnd() == .exit(0))
        #expect(await call.value != nil)
        gate.open()
        neighbours.apple.stop()
    }

    @Test func `credentials that Apple does not accept are an error in the log, and nothing more`()
        async throws
    {
        let neighbours = try await Neighbours.start(accepts: false)
        let client = try neighbours.server.client()
        defer { client.close() }
        _ = try await neighbours.member("mia", "8100", client)
        do throws(ClientError) {
            _ = try await client.rebuildCustomer(
                .customer("mia"), source: .appStore, timeout: .seconds(30))
            Issue.record("nobody knows the key")
        } catch {
            guard case .refused(let refusal) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(refusal.reason == "APP_STORE_UNAUTHORIZED")
        }
        // The customer is queued now; the background says the rest.
        let log = try await eventually("it is logged") {
            neighbours.log.contains("Apple does not accept") ? neighbours.log : nil
        }
        #expect(!log.contains("eyJ") && !log.contains("PRIVATE KEY"))
        #expect(try await neighbours.isGranted("mia", client))
        try await neighbours.end()
    }
}

/// Holds threads back until it is opened.
private final class Gate: Sendable {
    private let state = Mutex((isOpen: false, waiterCount: 0))

    var isWaitedAt: Bool { state.withLock { $0.waiterCount > 0 } }

    func open() { state.withLock { $0.isOpen = true } }

    func wait() {
        state.withLock { $0.waiterCount += 1 }
        while !state.withLock({ $0.isOpen }) { usleep(2_000) }
    }
}
