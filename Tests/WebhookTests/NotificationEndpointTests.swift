import Entitlements
import HTTP
import Service
import Testing
import Webhook

@Suite struct NotificationEndpointTests {
    private let fixture: WebhookFixture
    private let endpoint: NotificationEndpoint

    init() throws {
        let fixture = try WebhookFixture()
        self.fixture = fixture
        endpoint = NotificationEndpoint { fixture.ingest($0) }
    }

    private func post(_ body: [UInt8], fields: [HTTPField] = []) -> HTTPResponse {
        endpoint.answer(
            HTTPRequest(
                method: "POST", target: "/apple/notifications", fields: fields, body: body))
    }

    private func post(_ text: String) -> HTTPResponse { post(Array(text.utf8)) }

    private func v1(password: String, environment: String = "PROD") -> String {
        """
        {"notification_type":"INITIAL_BUY","password":\(password),"environment":"\(environment)",\
        "bid":"com.example.meadow","auto_renew_status":"true","unified_receipt":{"status":0,\
        "latest_receipt_info":[{"original_transaction_id":"2000000100000700"}]}}
        """
    }

    @Test func `a purchase is answered 200 and is there, a repeat is answered 200 as well`() throws
    {
        let body = try fixture.purchase()
        let first = post(body, fields: [HTTPField("Content-Type", "text/html")])
        #expect(first.status == 200)
        #expect(text(first) == "{\"disposition\":\"APPLIED\"}\n")
        #expect(try fixture.isGranted())
        let repeated = post(body)
        #expect(repeated.status == 200)
        #expect(text(repeated) == "{\"disposition\":\"DUPLICATE\"}\n")
    }

    @Test func `V1 with the secret is answered 200 and grants nothing`() throws {
        let secret = "\"\(WebhookFixture.secret)\""
        for environment in ["PROD", "Prod", "Production"] {
            let response = post(v1(password: secret, environment: environment))
            #expect(response.status == 200)
            #expect(text(response) == "{\"disposition\":\"NO_EFFECT\"}\n")
        }
        #expect(try !fixture.isGranted())
    }

    @Test(arguments: ["\"wrong\"", "null", "\"\"", "\"m\\u0000adow-test-secret\""])
    func `V1 without the secret is answered 401, which names no secret`(password: String) {
        let response = post(v1(password: password))
        #expect(response.status == 401)
        #expect(text(response).contains("V1_UNAUTHENTICATED"))
        #expect(!text(response).contains(WebhookFixture.secret))
        #expect(response.fields.value("www-authenticate") != nil)
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "{\"signedPayload\":", "{\"signedPayload\":\"a.b.c\"}",
    ])
    func `what is no notification is answered 400`(body: String) {
        let response = post(body)
        #expect(response.status == 400)
        #expect(text(response).contains("\"reason\":\"MALFORMED_PAYLOAD\""))
        #expect(response.fields.value("content-type") == "application/json")
        #expect(response.fields.value("retry-after") == nil)
    }

    @Test func `a changed signature is answered 400 and grants nothing`() throws {
        var body = try fixture.purchase()
        let end = body.count - 10
        body[end] = body[end] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let response = post(body)
        #expect(response.status == 400)
        #expect(text(response).contains("BAD_SIGNATURE"))
        #expect(try !fixture.isGranted())
    }

    @Test func `an environment that is not configured is answered 503, and taken once it is`()
        throws
    {
        let body = try fixture.purchase(environment: .sandbox)
        let response = post(body)
        #expect(response.status == 503)
        #expect(text(response).contains("WRONG_ENVIRONMENT"))
        #expect(response.fields.value("retry-after") == "3600")
        let corrected = try WebhookFixture(environments: [.production, .sandbox])
        let second = NotificationEndpoint { corrected.ingest($0) }
            .answer(HTTPRequest(method: "POST", target: "", body: body))
        #expect(second.status == 200)
    }

    @Test(arguments: [
        (RefusalReason.storeUnavailable, 503), (.draining, 503), (.overloaded, 503),
        (.deadline, 503), (.revisionNotReached, 503), (.renewalMismatch, 503),
        (.unknownScope, 503), (.storeDamaged, 500), (.frameTooLarge, 413), (.wrongApp, 400),
        (.untrustedChain, 400), (.certificateExpired, 400), (.v1Unauthenticated, 401),
    ])
    func `a refusal has a status that says whether a repeat may help`(
        reason: RefusalReason, status: Int
    ) {
        let endpoint = NotificationEndpoint { _ in .failure(Refusal(reason, "it is \"so\"")) }
        let response = endpoint.answer(HTTPRequest(method: "POST", target: ""))
        #expect(response.status == status)
        #expect((response.fields.value("retry-after") != nil) == (status == 503))
        #expect(
            text(response)
                == "{\"reason\":\"\(reason.rawValue)\",\"message\":\"it is \\\"so\\\"\"}\n")
    }

    @Test func `no refusal is answered 2xx`() {
        for reason in RefusalReason.allCases {
            let response = NotificationEndpoint.response(to: Refusal(reason, ""))
            #expect((400..<600).contains(response.status))
        }
    }

    @Test(arguments: [(0, "1"), (1, "1"), (1_000, "1"), (1_001, "2"), (UInt64.max, nil)])
    func `Retry-After is in whole seconds, rounded up`(milliseconds: UInt64, seconds: String?) {
        let refusal = Refusal(.overloaded, "", retryAfterMilliseconds: milliseconds)
        let value = NotificationEndpoint.response(to: refusal).fields.value("retry-after")
        #expect(value == seconds ?? "18446744073709552")
    }

    @Test func `dispositions have the protocol's names`() {
        #expect(NotificationEndpoint.name(of: .stale) == "STALE")
        #expect(NotificationEndpoint.name(of: .storedUnknown) == "STORED_UNKNOWN")
    }
}
