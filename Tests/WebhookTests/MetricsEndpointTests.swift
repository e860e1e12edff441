import HTTP
import Synchronization
import Testing
import Webhook

@Suite struct MetricsEndpointTests {
    @Test func `the scraper gets the form that it asks for`() throws {
        let router = try WebhookFixture().router
        let plain = router.answerAtOnce(HTTPRequest(target: "/metrics"))
        #expect(
            plain?.fields.value("content-type") == "text/plain; version=0.0.4; charset=utf-8")
        #expect(plain.map(text)?.hasSuffix("# EOF\n") == false)
        let asked = router.answerAtOnce(
            HTTPRequest(
                target: "/metrics",
                fields: [HTTPField("Accept", "application/openmetrics-text;version=1.0.0")]))
        #expect(
            asked?.fields.value("content-type")
                == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(asked.map(text)?.hasSuffix("# EOF\n") == true)
    }

    /// The keys that were shown.
    private final class Asked: Sendable {
        let keys = Mutex<[String]>([])
    }

    private func router(_ asked: Asked) throws -> WebhookRouter {
        let fixture = try WebhookFixture()
        return WebhookRouter(
            notifications: NotificationEndpoint { fixture.ingest($0) },
            health: HealthEndpoint { HealthReport() },
            metrics: MetricsEndpoint(permission: { key in
                let text = String(decoding: key, as: UTF8.self)
                asked.keys.withLock { $0.append(text) }
                switch text {
                case "good": return .granted
                case "poor": return .denied
                default: return .unauthenticated
                }
            }) { MetricsSnapshot() })
    }

    @Test func `a key is a bearer token, and what came of it is a status`() throws {
        let asked = Asked()
        let router = try router(asked)
        func get(_ values: [String], method: String = "GET") -> HTTPResponse? {
            router.answerAtOnce(
                HTTPRequest(
                    method: method, target: "/metrics",
                    fields: values.map { HTTPField("Authorization", $0) }))
        }
        #expect(get(["Bearer good"])?.status == 200)
        #expect(get(["bEARER   good"])?.status == 200)
        #expect(get(["Bearer poor"])?.status == 403)
        for values in [
            [], ["good"], ["Basic good"], ["Bearer"], ["Bearer "], ["Bearer Good"],
            ["Bearer good "], ["Bearer good", "Bearer good"], ["Bearer wrong"],
        ] {
            let response = get(values)
            #expect(response?.status == 401, "\(values)")
            #expect(response?.fields.value("www-authenticate") == "Bearer realm=\"entitled\"")
            #expect(response.map(text)?.contains("entitled_") == false)
        }
        #expect(get([], method: "HEAD")?.status == 401)
        #expect(asked.keys.withLock { $0 }.contains("good "))
    }

    @Test func `probes ask for nothing`() throws {
        let router = try router(Asked())
        for path in ["/livez", "/readyz", "/healthz", "/startupz"] {
            let status = router.answerAtOnce(HTTPRequest(target: path))?.status
            #expect(status == 200 || status == 503)
        }
    }
}
