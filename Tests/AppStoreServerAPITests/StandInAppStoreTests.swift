import AppStore
import Bytes
import HTTP
import OpenSSL
import TestSupport
import Testing

/// The stand-in is as strict as Apple: else what is tested against it proves nothing.
@Suite struct StandInAppStoreTests {
    private let clock = TestClock()
    private let appStore: StandInAppStore
    private let key: SigningKey

    init() throws {
        key = try SigningKey(generatedOn: .p256)
        let publicKey = try #require(key.es256PublicKey())
        let clock = clock
        appStore = StandInAppStore(
            fixtures: try Desk.fixtures(),
            keys: [.init(issuerID: "i", keyID: "k", publicKey: publicKey)],
            clock: { clock.milliseconds })
    }

    private let now = Desk.april8 / 1_000

    private func token(
        header: FixtureChanges = [:], claims: FixtureChanges = [:], by signer: SigningKey? = nil
    ) throws -> String {
        let header: FixtureJSON = (["alg": "ES256", "kid": "k", "typ": "JWT"] as FixtureJSON)
            .changed(header)
        let claims: FixtureJSON =
            ([
                "iss": "i", "iat": .integer(now), "exp": .integer(now + 1_200),
                "aud": "appstoreconnect-v1", "bid": .string(Desk.bundleID),
            ] as FixtureJSON).changed(claims)
        let (first, second) = (header.utf8, claims.utf8)
        let signed = Base64URL.encode(first.span) + [0x2E] + Base64URL.encode(second.span)
        let signature = try (signer ?? key).signature(of: signed.span)
        return String(
            decoding: signed + [0x2E] + Base64URL.encode(signature.span), as: UTF8.self)
    }

    private func refusal(_ authorization: String?) -> String? {
        let fields = authorization.map { [HTTPField("Authorization", $0)] } ?? []
        let request = HTTPRequest(target: "/inApps/v1/transactions/7", fields: fields)
        let response = appStore.respond(to: request)
        #expect((response.status == 401) == (appStore.requests.last?.refusal != nil))
        return appStore.requests.last?.refusal
    }

    @Test func `a token as Apple documents it is accepted`() throws {
        #expect(refusal("Bearer " + (try token())) == nil)
        #expect(refusal("Bearer " + (try token(claims: ["exp": .integer(now + 3_600)]))) == nil)
        #expect(refusal("Bearer " + (try token(claims: ["iat": .integer(now + 60)]))) == nil)
    }

    @Test func `every claim that is wrong is found`() throws {
        let wrong: [FixtureChanges] = [
            ["iss": "j"], ["aud": "appstoreconnect-v2"], ["bid": "com.example.other"],
            ["exp": .integer(now)], ["exp": .integer(now + 3_601)], ["iat": .integer(now + 61)],
            ["iat": .integer(now * 1_000), "exp": .integer(now * 1_000 + 1_200_000)],
            ["exp": nil], ["iat": nil], ["bid": nil],
        ]
        for claims in wrong {
            #expect(refusal("Bearer " + (try token(claims: claims))) != nil, "\(claims)")
        }
        for header in [["alg": "HS256"], ["kid": "other"], ["typ": nil]] as [FixtureChanges] {
            #expect(refusal("Bearer " + (try token(header: header))) != nil, "\(header)")
        }
    }

    @Test func `another key's signature, and what is no token, are refused`() throws {
        let other = try SigningKey(generatedOn: .p256)
        #expect(refusal("Bearer " + (try token(by: other))) != nil)
        for text in [nil, "", "Bearer ", "Bearer a.b.c", "Basic " + (try token()), "Bearer a.b"] {
            #expect(refusal(text) != nil)
        }
    }

    @Test(arguments: [
        ("sort=DOWN", Int64(4_000_021)), ("revision=x", 4_000_005), ("productType=X", 4_000_022),
        ("revoked=1", 4_000_030), ("startDate=x", 4_000_015), ("startDate=2&endDate=1", 4_000_013),
    ])
    func `a query that Apple does not take has Apple's code`(query: String, code: Int64) throws {
        appStore.account("acct").add(
            try Desk.fixtures().transactionClaims("1", product: "p", purchased: Desk.march))
        let response = try ask("/inApps/v2/history/acct", query)
        #expect(try JSONObject(response.body).integer("errorCode") == code)
    }

    @Test func `filters leave out what they should, and a revision goes on after what was read`()
        throws
    {
        let account = appStore.account("acct")
        let fixtures = try Desk.fixtures()
        for number in 1...25 {
            account.add(
                fixtures.transactionClaims(
                    "\(number)", product: number % 2 == 0 ? "even" : "odd",
                    purchased: Desk.march + Int64(number)))
        }
        account.revoke("3", at: Desk.april8)
        func count(_ query: String) throws -> Int? {
            try JSONObject(try ask("/inApps/v2/history/acct", query).body)
                .array("signedTransactions")?.count
        }
        #expect(try count("productId=even") == 12)
        #expect(try count("revoked=true") == 1 && count("revoked=false") == 20)
        #expect(try count("productType=CONSUMABLE") == 0)
        #expect(try count("startDate=\(Desk.march + 5)&endDate=\(Desk.march + 8)") == 3)
        let first = try JSONObject(try ask("/inApps/v2/history/acct", "").body)
        #expect(first.boolean("hasMore") == true)
        let revision = try #require(first.string("revision"))
        #expect(try count("revision=\(revision)") == 5)
        account.change("1", ["isUpgraded": true])
        #expect(try count("revision=\(revision)") == 6)
    }

    @Test func `a page token is good for the body that it was made for`() throws {
        let fixtures = try Desk.fixtures()
        for number in 0..<21 {
            appStore.sent(
                try fixtures.notification(
                    "TEST", uuid: "\(number)", signed: Desk.march, data: fixtures.notificationData()
                ))
        }
        let path = "/inApps/v1/notifications/history"
        let body = "{\"startDate\":\(Desk.march),\"endDate\":\(Desk.april8)}"
        let token = try #require(
            JSONObject(try ask(path, "", body: body).body).string("paginationToken"))
        let next = try JSONObject(try ask(path, "paginationToken=" + token, body: body).body)
        #expect(next.array("notificationHistory")?.count == 1)
        let other = "{\"startDate\":\(Desk.march),\"endDate\":\(Desk.april8 + 1)}"
        let refused = try JSONObject(try ask(path, "paginationToken=" + token, body: other).body)
        #expect(refused.integer("errorCode") == 4_000_014)
        let old = "{\"startDate\":\(Desk.april8 - 181 * 86_400_000),\"endDate\":\(Desk.april8)}"
        #expect(
            try JSONObject(try ask(path, "", body: old).body).integer("errorCode") == 4_000_012)
    }

    private func ask(_ path: String, _ query: String, body: String? = nil) throws -> HTTPResponse {
        let items = query.split(separator: "&").map { item in
            let sides = item.split(separator: "=").map(String.init)
            return HTTPField(sides[0], sides.count > 1 ? sides[1] : "")
        }
        return appStore.respond(
            to: HTTPRequest(
                method: body == nil ? "GET" : "POST", target: path, query: items,
                fields: [HTTPField("Authorization", "Bearer " + (try token()))],
                body: Array((body ?? "").utf8)))
    }
}
