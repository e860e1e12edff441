import Glibc
import HTTP
import Service
import Synchronization
import Testing
import Webhook

/// The whole surface over a real socket.
@Suite struct WebhookListenerTests {
    private func serve(_ router: WebhookRouter) throws -> HTTPListener {
        try HTTPListener(
            options: .init(), early: { router.answerAtOnce($0) },
            handler: { router.answer($0) })
    }

    @Test func `a flood of notifications and their repeats is stored once each`() async throws {
        let fixture = try WebhookFixture()
        let listener = try serve(fixture.router)
        defer { listener.stop(graceMilliseconds: 5_000) }
        let client = try HTTPClient(options: .init(userAgent: "AppStore/1.0"))
        let url = "http://\(listener.address)/apple/notifications"
        let bodies = try (0..<10).map { index in
            try fixture.purchase("20000001000008\(index)", uuid: "uuid-\(index)")
        }
        let answers = try await withThrowingTaskGroup(of: [HTTPResponse].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try bodies.map { body in
                        try client.send(HTTPRequest(method: "POST", target: url, body: body))
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(answers.allSatisfy { $0.status == 200 })
        let dispositions = Dictionary(grouping: answers, by: text).mapValues(\.count)
        #expect(
            dispositions == [
                "{\"disposition\":\"APPLIED\"}\n": 10, "{\"disposition\":\"DUPLICATE\"}\n": 30,
            ])
        for index in 0..<10 { #expect(try fixture.isGranted("20000001000008\(index)")) }
    }

    @Test func `a store that hangs keeps no probe waiting`() throws {
        let fixture = try WebhookFixture()
        let isOpen = Atomic(false)
        let entered = Atomic(0)
        let router = WebhookRouter(
            notifications: NotificationEndpoint { _ in
                entered.add(1, ordering: .releasing)
                while !isOpen.load(ordering: .acquiring) { usleep(1_000) }
                return .failure(Refusal(.storeUnavailable, "", retryAfterMilliseconds: 1_500))
            },
            health: HealthEndpoint { fixture.report.withLock { $0 } },
            metrics: MetricsEndpoint { MetricsSnapshot() })
        var options = HTTPListenerOptions()
        options.workerCount = 1
        let listener = try HTTPListener(
            options: options, early: { router.answerAtOnce($0) }, handler: { router.answer($0) })
        defer { listener.stop(graceMilliseconds: 5_000) }
        defer { isOpen.store(true, ordering: .releasing) }
        let client = try HTTPClient(options: .init(userAgent: "probe/1"))
        let base = "http://\(listener.address)"
        let post = HTTPRequest(method: "POST", target: base + "/apple/notifications")
        #expect(throws: HTTPError.self) {
            try client.send(post, limits: .init(totalMilliseconds: 200))
        }
        #expect(entered.load(ordering: .acquiring) == 1)
        #expect(try client.send(HTTPRequest(target: base + "/livez")).status == 200)
        #expect(try client.send(HTTPRequest(target: base + "/metrics")).status == 200)
        let head = try client.send(HTTPRequest(method: "HEAD", target: base + "/readyz"))
        #expect(head.status == 200 && head.body.isEmpty)
        isOpen.store(true, ordering: .releasing)
        let response = try client.send(post)
        #expect(response.status == 503)
        #expect(response.fields.value("retry-after") == "2")
    }
}
