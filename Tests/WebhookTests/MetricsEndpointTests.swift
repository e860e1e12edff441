import HTTP
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
}
