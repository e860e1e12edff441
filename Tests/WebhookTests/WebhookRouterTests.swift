import HTTP
import Service
import Synchronization
import Testing
import Webhook

@Suite struct WebhookRouterTests {
    private let fixture: WebhookFixture

    init() throws { fixture = try WebhookFixture() }

    private func answer(_ router: WebhookRouter, _ request: HTTPRequest) -> HTTPResponse {
        router.answerAtOnce(request) ?? router.answer(request)
    }

    @Test(arguments: [
        ("GET", "/livez", 200), ("HEAD", "/readyz", 200), ("GET", "/healthz", 200),
        ("GET", "/startupz", 200), ("GET", "/metrics", 200), ("POST", "/apple/notifications", 400),
        ("GET", "/", 404), ("GET", "/metrics/", 404), ("GET", "/LIVEZ", 404), ("GET", "", 404),
        ("GET", "/livez\0", 404), ("POST", "/apple/notifications/", 404),
    ])
    func `a path has its answer`(method: String, path: String, status: Int) {
        let request = HTTPRequest(method: method, target: path)
        #expect(answer(fixture.router, request).status == status)
    }

    @Test(arguments: [
        ("GET", "/apple/notifications", "POST"), ("PUT", "/apple/notifications", "POST"),
        ("HEAD", "/apple/notifications", "POST"), ("post", "/apple/notifications", "POST"),
        ("POST", "/metrics", "GET, HEAD"), ("DELETE", "/livez", "GET, HEAD"),
    ])
    func `another method is told which ones there are`(
        method: String, path: String, allowed: String
    ) {
        let response = answer(fixture.router, HTTPRequest(method: method, target: path))
        #expect(response.status == 405)
        #expect(response.fields.value("allow") == allowed)
        #expect(text(response).contains("METHOD_NOT_ALLOWED"))
    }

    @Test func `all but a notification is answered at once`() {
        let router = fixture.router
        let post = HTTPRequest(method: "POST", target: "/apple/notifications")
        #expect(router.answerAtOnce(post) == nil)
        #expect(router.answerAtOnce(HTTPRequest(target: "/livez")) != nil)
        fixture.report.withLock { $0.isDraining = true }
        let response = router.answerAtOnce(post)
        #expect(response?.status == 503)
        #expect(response?.fields.value("retry-after") == "10")
        #expect(response.map(text)?.contains("DRAINING") == true)
    }

    @Test func `answers are counted and told`() throws {
        let router = fixture.router
        let body = try fixture.purchase()
        for _ in 0..<2 {
            _ = answer(
                router, HTTPRequest(method: "POST", target: "/apple/notifications", body: body))
        }
        _ = answer(router, HTTPRequest(target: "/nowhere"))
        let metrics = text(answer(router, HTTPRequest(target: "/metrics")))
        let name = "entitled_http_requests_total"
        #expect(metrics.contains("\(name){path=\"/apple/notifications\",code=\"200\"} 2\n"))
        #expect(metrics.contains("\(name){path=\"other\",code=\"404\"} 1\n"))
        #expect(router.routeCounts.contains { $0.path == "/metrics" && $0.count == 1 })
    }
}
