import AppStore
import AppStoreServerAPI
import Entitlements
import Glibc
import HTTP
import OpenSSL
import Synchronization
import TestSupport
import Testing

/// The client over real TLS against the stand-in, which checks every token.
@Suite struct AppStoreServerTests {
    /// A stand-in that listens, and a client of it; the clock of both moves when somebody waits.
    private struct Pair {
        let clock = TestClock()
        let fixtures: SignedFixtures
        let appStore: StandInAppStore
        let server: StandInAppStoreServer
        let client: AppStoreServerClient
        let deadline = Timestamp.april8(600_000)

        init(
            isPlain: Bool = false, environments: Set<AppEnvironment> = [.production, .sandbox],
            trusts: Bool = true, requestTimeoutMilliseconds: Int64 = 30_000
        ) throws {
            let clock = clock
            fixtures = try Desk.fixtures()
            appStore = try Desk.appStore(clock)
            server = try StandInAppStoreServer(appStore, isPlain: isPlain)
            let http = try HTTPClient(
                options: HTTPClientOptions(
                    userAgent: "entitled/test", extraRoots: trusts ? server.rootPEM : []))
            client = AppStoreServerClient(
                key: try Desk.key(), apps: [try Desk.fixtures().app(environments: environments)],
                verifier: try Desk.verifier(),
                configuration: AppStoreServerConfiguration(
                    productionURL: server.productionURL, sandboxURL: server.sandboxURL,
                    requestTimeoutMilliseconds: requestTimeoutMilliseconds),
                surroundings: AppStoreServerSurroundings(
                    client: http, now: { clock.now }, sleep: { clock.sleep($0) }))
        }

        /// An account with so many non-consumables, `2000000100000001` and on.
        func account(
            _ name: String, count: Int, in environment: StandInEnvironment = .production
        ) -> StandInAccount {
            let account = appStore.account(name, in: environment)
            for number in 1...count {
                account.add(
                    fixtures.transactionClaims(
                        "\(2_000_000_100_000_000 + number)", product: "meadow.lifetime",
                        purchased: Desk.march))
            }
            return account
        }

        func history(
            _ id: String, in scope: Scope = Desk.production
        ) -> (history: AppleHistory, error: AppStoreServerError?) {
            do throws(HistoryFailure) {
                return (
                    try client.history(
                        of: [.init(id: id, chains: [])], in: scope, wantsStatuses: false,
                        deadline: deadline), nil
                )
            } catch {
                return (error.partial, error.error)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a history of three pages is read by any id of the account`(isPlain: Bool) throws {
        let pair = try Pair(isPlain: isPlain)
        defer { pair.server.stop() }
        _ = pair.account("700000000000000001", count: 45)
        for id in ["700000000000000001", "2000000100000007"] {
            let outcome = pair.history(id)
            #expect(outcome.error == nil && outcome.history.problems.isEmpty)
            #expect(outcome.history.transactions.count == 45)
            #expect(
                outcome.history.transactions.allSatisfy {
                    $0.transaction.appTransactionID == "700000000000000001"
                })
        }
        #expect(pair.appStore.requests.map(\.status) == [200, 200, 200, 200, 200, 200])
        #expect(pair.appStore.requests.allSatisfy { $0.refusal == nil })
    }

    @Test func `what is revoked between two pages comes again at the end`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        let account = pair.account("acct", count: 45)
        pair.appStore.script(
            .transactionHistory,
            [
                .usual,
                .after { account.revoke("2000000100000005", at: Desk.march + 30_000, reason: 1) },
            ])
        let outcome = pair.history("acct")
        #expect(outcome.error == nil && outcome.history.transactions.count == 46)
        let copies = outcome.history.transactions.map(\.transaction).filter {
            $0.transactionID == "2000000100000005"
        }
        #expect(copies.map { $0.revocationDate == nil } == [true, false])
    }

    @Test func `a damaged item of the stand-in costs that item only`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        pair.account("acct", count: 21).damage("2000000100000003")
        let outcome = pair.history("acct")
        #expect(outcome.error == nil)
        #expect(outcome.history.transactions.count == 20 && outcome.history.itemCount == 21)
        #expect(outcome.history.problems.map(\.error.reason) == ["BAD_SIGNATURE"])
    }

    @Test func `statuses come with their renewal infos, family copies as well`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        let account = pair.appStore.account("acct")
        let later = Desk.april8 + 86_400_000
        let sold: [(String, String, Int64, String)] = [
            ("1", "plus", Desk.april8 - 1, "PURCHASED"), ("2", "plus", later, "FAMILY_SHARED"),
            ("3", "radio", later, "PURCHASED"),
        ]
        for (id, product, expires, ownership) in sold {
            account.add(
                pair.fixtures.transactionClaims(
                    id, product: product, purchased: Desk.march, expires: expires,
                    ownership: ownership,
                    changes: ["subscriptionGroupIdentifier": .string("group-" + product)]))
        }
        account.revoke("2", at: Desk.april8)
        account.setStatus(of: "3", to: 4)
        account.changeRenewal(of: "3", ["gracePeriodExpiresDate": .integer(later + 1)])
        let outcome = pair.history("acct")
        #expect(outcome.error == nil && outcome.history.problems.isEmpty)
        #expect(outcome.history.statuses.map(\.originalTransactionID) == ["1", "2", "3"])
        #expect(outcome.history.statuses.map(\.status) == [2, 5, 4])
        #expect(
            outcome.history.renewals.last?.renewal.gracePeriodExpiresDate
                == Timestamp(milliseconds: later + 1))
    }

    @Test func `a token is reused for a quarter of an hour and renewed before its end`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        _ = pair.account("acct", count: 1)
        for minute in 0..<90 {
            pair.clock.set(Desk.april8 + Int64(minute) * 60_000)
            #expect(
                (try? pair.client.transaction(
                    "2000000100000001", in: Desk.production, deadline: .distantFuture)) != nil)
        }
        #expect(pair.appStore.requests.allSatisfy { $0.refusal == nil && $0.status == 200 })
    }

    @Test func `a clock that is set back or ahead makes a new token at once`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        _ = pair.account("acct", count: 1)
        for instant in [0, -7_200_000, 7_200_000, 0, 3_600_000] {
            pair.clock.set(Desk.april8 + Int64(instant))
            #expect(
                (try? pair.client.transaction(
                    "2000000100000001", in: Desk.production, deadline: .distantFuture)) != nil)
        }
        #expect(pair.appStore.requests.map(\.status) == [200, 200, 200, 200, 200])
    }

    @Test func `a revoked key is said to be refused, and a key in its place works at once`()
        throws
    {
        let pair = try Pair()
        defer { pair.server.stop() }
        _ = pair.account("acct", count: 1)
        pair.appStore.revokeKey("KEY1")
        guard case .unauthorized(let message)? = pair.history("acct").error else {
            Issue.record("no refusal")
            return
        }
        #expect(message.contains("KEY1") && message.contains("our clock agrees"))
        #expect(
            pair.appStore.requests.map(\.refusal) == ["the key was revoked", "the key was revoked"])
        let replacement = try StandInAppStore.Key.made(issuerID: "issuer-1", keyID: "KEY2")
        pair.appStore.accept(replacement.key)
        pair.client.use(
            try APIKey(issuerID: "issuer-1", keyID: "KEY2", file: replacement.file))
        #expect(pair.history("acct").error == nil)
    }

    @Test
    func `an id of Sandbox is not found in Production, is said to be there, and is not mixed in`()
        throws
    {
        let pair = try Pair()
        defer { pair.server.stop() }
        _ = pair.account("acct", count: 1, in: .sandbox)
        let outcome = pair.history("acct")
        guard case .notFound(4_040_010, let message)? = outcome.error else {
            Issue.record("\(outcome)")
            return
        }
        #expect(message.contains("found in Sandbox"))
        #expect(outcome.history.transactions.isEmpty)
        #expect(pair.appStore.requests.map(\.environment) == [.production, .sandbox])
        #expect(pair.history("acct", in: Desk.sandbox).history.transactions.count == 1)
    }

    @Test func `Production is asked first, and Sandbox only for an app that has it`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        _ = pair.account("here", count: 1)
        _ = pair.account("there", count: 1, in: .sandbox)
        func locate(_ id: String) throws(AppStoreServerError) -> Scope? {
            try pair.client.locate(id, bundleID: Desk.bundleID, deadline: pair.deadline)
        }
        #expect(try locate("here") == Desk.production)
        #expect(try locate("there") == Desk.sandbox)
        #expect(try locate("nowhere") == nil)
        #expect(
            pair.appStore.requests.map(\.environment) == [
                .production, .production, .sandbox, .production, .sandbox,
            ])
        pair.appStore.script(.transactionHistory, [.refusal(code: 4_040_001)])
        #expect(throws: AppStoreServerError.self) { try locate("there") }
        let only = try Pair(environments: [.production])
        defer { only.server.stop() }
        #expect(
            try only.client.locate("x", bundleID: Desk.bundleID, deadline: only.deadline) == nil)
        #expect(only.appStore.requests.count == 1)
    }

    @Test func `missed notifications are found page by page`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        let fixtures = pair.fixtures
        for number in 0..<45 {
            let jws = try fixtures.notification(
                "TEST", uuid: "uuid-\(number)", signed: Desk.march + Int64(number),
                data: fixtures.notificationData())
            pair.appStore.sent(jws, failed: number % 2 == 0)
        }
        func count(_ isOnlyFailures: Bool, _ dates: Range<Int64>) throws -> [Int] {
            var token = ""
            var counts: [Int] = []
            repeat {
                let page = try pair.client.notifications(
                    in: Desk.production,
                    dates: Timestamp(
                        milliseconds: dates.lowerBound)..<Timestamp(milliseconds: dates.upperBound),
                    isOnlyFailures: isOnlyFailures, pageToken: token, deadline: pair.deadline)
                counts.append(page.signedPayloads.count)
                token = page.nextPageToken
            } while !token.isEmpty
            return counts
        }
        #expect(try count(false, Desk.march..<Desk.april8) == [20, 20, 5])
        #expect(try count(true, Desk.march..<Desk.april8) == [20, 3])
        #expect(try count(false, Desk.march + 1..<Desk.march + 4) == [3])
    }

    @Test func `a test notification goes out, and its status says how it went`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        let token = try pair.client.requestTestNotification(
            in: Desk.production, deadline: pair.deadline)
        let status = try pair.client.testNotificationStatus(
            token: token, in: Desk.production, deadline: pair.deadline)
        #expect(status.attempts.map(\.result) == ["SUCCESS"])
        let event = try Desk.verifier().verifyNotification(status.signedPayload)
        guard case .signed(let signed) = event else {
            Issue.record("unsigned")
            return
        }
        #expect(signed.notification.type == "TEST")
        pair.appStore.setHasNotificationURL(false)
        let error = failure { () throws(AppStoreServerError) in
            try pair.client.requestTestNotification(in: Desk.production, deadline: pair.deadline)
        }
        guard case .notFound(4_040_007, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `refunds and the app transaction are those of the account`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        let account = pair.account("acct", count: 30)
        for number in 1...25 {
            account.revoke("\(2_000_000_100_000_000 + number)", at: Desk.april8 - Int64(number))
        }
        let refunds = try pair.client.refunds(
            of: "acct", in: Desk.production, deadline: pair.deadline)
        #expect(refunds.transactions.count == 25 && refunds.problems.isEmpty)
        let dates = refunds.transactions.compactMap(\.transaction.revocationDate)
        #expect(dates == dates.sorted())
        let owner = try pair.client.appTransaction(
            of: "2000000100000001", in: Desk.production, deadline: pair.deadline)
        #expect(owner.appTransactionID == "acct")
        let error = failure { () throws(AppStoreServerError) in
            try pair.client.transaction("acct", in: Desk.production, deadline: pair.deadline)
        }
        #expect(error?.isFinalRefusal(4_000_048) == true)
    }

    @Test func `half an answer, garbage and a page for people are no histories`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        _ = pair.account("acct", count: 3)
        let steps: [StandInStep] = [
            .cut, .garbage([0, 1, 2]), .page(200), .page(404), .garbage([]),
            .page([], revision: "r", hasMore: true),
        ]
        for step in steps {
            pair.appStore.outage(step)
            guard case .malformed? = pair.history("acct").error else {
                Issue.record("taken")
                continue
            }
        }
        pair.appStore.outage(nil)
        #expect(pair.history("acct").history.transactions.count == 3)
    }

    @Test func `an outage is waited out, and a long one is given up`() throws {
        let pair = try Pair()
        defer { pair.server.stop() }
        _ = pair.account("acct", count: 1)
        pair.appStore.script(
            .transactionHistory,
            [.page(503), .refusal(code: 5_000_001), .throttled(retryAfter: nil)])
        #expect(pair.history("acct").error == nil)
        pair.appStore.outage(.page(502))
        guard case .unavailable? = pair.history("acct").error else {
            Issue.record("no refusal")
            return
        }
        pair.appStore.outage(nil)
        #expect(pair.history("acct").error == nil)
        #expect(pair.appStore.requestCount(.transactionHistory) == 10)
    }

    @Test func `an answer that does not come in time is asked for again`() throws {
        let pair = try Pair(requestTimeoutMilliseconds: 1_500)
        defer { pair.server.stop() }
        _ = pair.account("acct", count: 1)
        let gate = Gate()
        pair.appStore.script(.transactionHistory, [.slow { gate.wait() }])
        #expect(pair.history("acct").error == nil)
        gate.open()
        #expect(pair.appStore.requestCount(.transactionHistory) >= 2)
    }

    @Test func `a server whose certificate nobody vouches for gets no token`() throws {
        let pair = try Pair(trusts: false)
        defer { pair.server.stop() }
        guard case .unavailable(let message, _)? = pair.history("acct").error else {
            Issue.record("connected")
            return
        }
        #expect(message.contains("certificate"))
        #expect(pair.appStore.requests.isEmpty)
    }
}

/// Holds a thread until it is opened.
private final class Gate: Sendable {
    private let isOpen = Atomic(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func wait() {
        while !isOpen.load(ordering: .acquiring) { usleep(1_000) }
    }
}

extension AppStoreServerError {
    fileprivate func isFinalRefusal(_ wanted: Int64) -> Bool {
        if case .rejected(let code, _) = self { code == wanted } else { false }
    }
}
