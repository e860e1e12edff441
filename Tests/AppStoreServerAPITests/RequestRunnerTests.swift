import AppStore
@testable import AppStoreServerAPI
import Entitlements
import HTTP
import Synchronization
import TestSupport
import Testing

@Suite struct RequestRunnerTests {
    private let clock = TestClock()
    private let minute = Timestamp.april8(60_000)

    private static let good = json(["testNotificationToken": "t-1"])

    /// Asks for a test notification, the shortest question.
    private func ask(
        _ server: CannedServer, deadline: Timestamp? = nil,
        _ adjust: (inout AppStoreServerConfiguration) -> Void = { $0.historyRatePerSecond = 5_000 }
    ) throws -> (token: String?, error: AppStoreServerError?) {
        let client = try Desk.client(server, clock, adjust)
        do throws(AppStoreServerError) {
            let token = try client.requestTestNotification(
                in: Desk.production, deadline: deadline ?? minute)
            return (token, nil)
        } catch {
            return (nil, error)
        }
    }

    @Test func `a Retry-After is a moment in milliseconds, and one request follows it`() throws {
        let busy = refusal(4_290_000, fields: [HTTPField("Retry-After", "1775642402500")])
        let server = CannedServer(responses: [busy, Self.good])
        #expect(try ask(server).token == "t-1")
        let times = server.requests.map { $0.at - Desk.april8 }
        #expect(times.count == 2 && (2_500...10_000).contains(times[1]))
    }

    @Test(arguments: [nil, "-5", "Wed, 08 Apr 2026 10:00:02 GMT", "99999999999999", "0", "3", ""])
    func `without a moment to believe the pause is ours`(text: String?) throws {
        let fields = text.map { [HTTPField("Retry-After", $0)] } ?? []
        let server = CannedServer(responses: [refusal(4_290_000, fields: fields), Self.good])
        #expect(try ask(server).token == "t-1")
        let times = server.requests.map { $0.at - Desk.april8 }
        #expect(times.count == 2 && (500...300_000).contains(times[1]))
    }

    @Test func `a wait beyond the deadline is not begun, and says until when`() throws {
        let busy = refusal(4_290_000, fields: [HTTPField("Retry-After", "1775642402500")])
        let server = CannedServer(responses: [busy])
        #expect(
            try ask(server, deadline: .april8(2_500)).error == .throttled(until: .april8(2_500)))
        #expect(clock.sleeps == [])
        #expect(server.requests.count == 1)
    }

    @Test func `a pause holds for whoever asks next`() throws {
        let busy = refusal(4_290_000, fields: [HTTPField("Retry-After", "1775642430000")])
        let server = CannedServer(responses: [busy, Self.good])
        let client = try Desk.client(server, clock)
        for _ in 0..<3 {
            let error = failure { () throws(AppStoreServerError) in
                try client.requestTestNotification(
                    in: Desk.production, deadline: .april8(1_000))
            }
            #expect(error == .throttled(until: .april8(30_000)))
        }
        #expect(server.requests.count == 1)
        clock.advance(30_000)
        let token = try client.requestTestNotification(in: Desk.production, deadline: minute)
        #expect(token == "t-1")
    }

    @Test func `429 for ever ends, with ever longer pauses`() throws {
        let server = CannedServer(
            responses: Array(repeating: refusal(4_290_000), count: 100))
        let outcome = try ask(server, deadline: .distantFuture)
        guard case .throttled? = outcome.error else {
            Issue.record("\(outcome)")
            return
        }
        let times = server.requests.map(\.at)
        let waits = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(times.count == 5)
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `our own budget makes wait before Apple has to`() throws {
        let server = CannedServer(responses: Array(repeating: Self.good, count: 3))
        let client = try Desk.client(server, clock)
        for _ in 0..<3 {
            _ = try client.requestTestNotification(in: Desk.production, deadline: minute)
        }
        let times = server.requests.map { $0.at - Desk.april8 }
        #expect(times == [0, 1_250, 2_500])
        #expect(server.records.withLock { $0.map(\.throttledMilliseconds) } == [0, 1_250, 1_250])
        let error = failure { () throws(AppStoreServerError) in
            try client.requestTestNotification(in: Desk.production, deadline: .april8(3_749))
        }
        #expect(error == .throttled(until: .april8(3_750)))
    }

    @Test func `a 401 is answered with a new token, once`() throws {
        let denied = HTTPResponse(status: 401, body: Array("Unauthenticated".utf8))
        let server = CannedServer(responses: [denied, Self.good])
        #expect(try ask(server).token == "t-1")
        let tokens = server.requests.map { $0.request.fields.value("Authorization") ?? "" }
        #expect(tokens.count == 2 && tokens[0] != tokens[1])
    }

    @Test func `a second 401 says what to check, and shows no token`() throws {
        let denied = HTTPResponse(
            status: 401, fields: [HTTPField("Date", "Wed, 08 Apr 2026 10:07:00 GMT")])
        let server = CannedServer(responses: [denied, denied, Self.good])
        guard case .unauthorized(let message)? = try ask(server).error else {
            Issue.record("no refusal")
            return
        }
        for word in ["KEY1", "issuer-1", Desk.bundleID, "420 s behind", "never released"] {
            #expect(message.contains(word), "\(word)")
        }
        #expect(!message.contains("eyJ") && !message.contains("Bearer"))
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [
        ("Wed, 08 Apr 2026 09:53:00 GMT", "420 s ahead"),
        ("Wed, 08 Apr 2026 10:00:02 GMT", "agrees"), ("yesterday", "check this machine's clock"),
    ])
    func `a 401 compares the clocks`(date: String, words: String) throws {
        let denied = HTTPResponse(status: 401, fields: [HTTPField("Date", date)])
        let outcome = try ask(CannedServer(responses: [denied, denied]))
        #expect(outcome.error?.message.contains(words) == true)
    }

    @Test(arguments: [
        refusal(5_000_001), refusal(4_040_002), refusal(4_040_004), refusal(4_040_006),
        HTTPResponse(status: 503, body: Array("<html>".utf8)), HTTPResponse(status: 500),
    ])
    func `what may pass is tried again, with a pause`(response: HTTPResponse) throws {
        let server = CannedServer(responses: [response, response, Self.good])
        #expect(try ask(server).token == "t-1")
        #expect(clock.sleeps == [750, 1_500])
    }

    @Test func `a broken network is tried again, and given up after five attempts`() throws {
        let down = CannedServer.Step.failure(
            .unreachable(message: "no connection", mayRetryHelp: true))
        let server = CannedServer(Array(repeating: down, count: 9))
        guard case .unavailable(let message, let retryAt)? = try ask(server).error else {
            Issue.record("no refusal")
            return
        }
        #expect(server.requests.count == 5)
        #expect(message.contains("no connection"))
        #expect(retryAt > clock.now)
    }

    @Test func `a pause that would pass the deadline is not begun`() throws {
        let server = CannedServer(responses: [HTTPResponse(status: 503), Self.good])
        let outcome = try ask(server, deadline: .april8(750))
        #expect(outcome.error?.retryAt == .april8(750))
        #expect(server.requests.count == 1 && clock.sleeps == [])
    }

    @Test(arguments: [
        CannedServer.Step.response(refusal(5_000_000)),
        .failure(.unreachable(message: "the certificate is not trusted", mayRetryHelp: false)),
    ])
    func `what will not pass soon is not tried again at once`(step: CannedServer.Step) throws {
        let server = CannedServer([step, .response(Self.good)])
        let error = try ask(server).error
        #expect(error?.retryAt == .april8(300_000))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        CannedServer.Step.response(refusal(4_040_007)), .response(refusal(4_000_000)),
        .response(HTTPResponse(status: 302)), .failure(.unusable(message: "too large")),
        .response(json(["testNotificationToken": 7])), .response(json([:])),
    ])
    func `what is final is final`(step: CannedServer.Step) throws {
        let server = CannedServer([step, .response(Self.good)])
        let error = try ask(server).error
        #expect(error != nil && error?.retryAt == nil)
        #expect(server.requests.count == 1)
    }

    @Test func `a stop ends the waiting`() throws {
        clock.stop(afterSleeps: 1)
        let server = CannedServer(responses: Array(repeating: HTTPResponse(status: 503), count: 5))
        #expect(try ask(server).error?.message == "the server is stopping")
        #expect(server.requests.count == 2)
        let cancelled = CannedServer([.failure(.cancelled)])
        #expect(try ask(cancelled).error?.message == "the server is stopping")
    }

    @Test func `one request never has more time than is left`() throws {
        let server = CannedServer(responses: [Self.good, Self.good])
        _ = try ask(server, deadline: .april8(7_000))
        _ = try ask(server, deadline: .april8(90_000))
        #expect(server.requests.map(\.timeout) == [7_000, 30_000])
        let late = try ask(CannedServer(responses: [Self.good]), deadline: .april8())
        #expect(late.error != nil)
    }

    @Test func `every request is recorded by endpoint and class`() throws {
        let steps: [CannedServer.Step] = [
            .failure(.unreachable(message: "", mayRetryHelp: true)),
            .response(HTTPResponse(status: 503)), .response(refusal(4_290_000)),
            .response(HTTPResponse(status: 401)), .response(Self.good),
        ]
        let server = CannedServer(steps)
        #expect(try ask(server).token == "t-1")
        let records = server.records.withLock { $0 }
        #expect(
            records.map(\.statusClass) == [
                .unreachable, .failed, .throttled, .unauthorized, .success,
            ])
        #expect(records.allSatisfy { $0.endpoint == .testNotification })
    }
}
