import AppStore
import Entitlements
import OpenSSL
import TestSupport
import Testing

@Suite struct SignedDataVerifierTests {
    let fixtures: SignedFixtures
    let verifier: SignedDataVerifier

    init() throws {
        fixtures = try Desk.fixtures()
        verifier = try fixtures.verifier()
    }

    private func refused(_ body: [UInt8]) -> String? {
        refusal { try verifier.verifyNotification(body) }
    }

    @Test func `a notification comes out whole, in the envelope or bare`() throws {
        let transaction = try fixtures.transaction(
            "20", original: "10", product: "meadow.plus.month", purchased: Desk.march,
            expires: Desk.april)
        let renewal = try fixtures.renewal(
            "10", product: "meadow.plus.month", renewal: Desk.april, signed: Desk.march + 4_000)
        let jws = try fixtures.notification(
            "DID_RENEW", subtype: "BILLING_RECOVERY", uuid: "u-7", signed: Desk.march + 5_000,
            data: fixtures.notificationData(transaction: transaction, renewal: renewal, status: 1))
        let bare = try verifier.verifyNotification(jws)
        #expect(bare == (try verifier.verifyNotification(SignedFixtures.body(jws))))
        let event = try #require(bare.signed)
        #expect(event.payload == jws && !event.hasUntiedRenewal)
        let notification = event.notification
        #expect(notification.notificationUUID == "u-7")
        #expect(notification.type == "DID_RENEW" && notification.subtype == "BILLING_RECOVERY")
        #expect(notification.signedDate.milliseconds == Desk.march + 5_000)
        #expect(notification.status == 1 && !notification.isUnknown && !notification.isUnsigned)
        #expect(
            notification.scope == Scope(bundleID: "com.example.meadow", environment: .production))
        #expect(notification.transaction?.payload == transaction)
        #expect(notification.transaction?.transaction.transactionID == "20")
        #expect(notification.renewal?.payload == renewal)
        #expect(notification.renewal?.renewal.originalTransactionID == "10")
    }

    @Test(arguments: [
        ("", "MALFORMED_PAYLOAD"), ("{}", "MALFORMED_PAYLOAD"), ("{", "MALFORMED_PAYLOAD"),
        ("[]", "MALFORMED_PAYLOAD"), ("null", "MALFORMED_PAYLOAD"), (" ", "MALFORMED_PAYLOAD"),
        ("{\"signedPayload\":null}", "MALFORMED_PAYLOAD"),
        ("{\"signedPayload\":1}", "MALFORMED_PAYLOAD"),
        ("{\"signedPayload\":\"\"}", "MALFORMED_PAYLOAD"),
        ("{\"signedPayload\":\"a.b.c\"} {}", "MALFORMED_PAYLOAD"),
        ("{\"signedpayload\":\"a.b.c\"}", "MALFORMED_PAYLOAD"),
    ])
    func `D2: a body that is not what Apple posts is refused`(body: String, reason: String) {
        #expect(refused(Array(body.utf8)) == reason)
    }

    @Test func `unknown keys, white space and escapes in the envelope are no matter`() throws {
        let jws = String(decoding: try fixtures.charge(), as: UTF8.self)
        let escaped = jws.replacing(".", with: "\\u002e")
        let body =
            " \r\n\t{ \"a\" : [1, {}], \"signed\\u0050ayload\" : \"\(escaped)\" , \"z\":null}\n"
        #expect(refused(Array(body.utf8)) == nil)
    }

    @Test(
        arguments: [
            ("notificationUUID", nil), ("notificationUUID", .null), ("notificationUUID", ""),
            ("notificationType", nil), ("notificationType", .null), ("notificationType", false),
            ("data", nil), ("data", .null), ("data", "text"), ("data", [:]),
            ("data", ["bundleId": "com.example.meadow"]), ("data", ["environment": "Production"]),
        ] as [(String, FixtureJSON?)])
    func `D2, D4: a notification without what verification needs is refused`(
        name: String, value: FixtureJSON?
    ) throws {
        let jws = try fixtures.notification(
            "TEST", uuid: "u", signed: Desk.march, data: fixtures.notificationData(),
            changes: [name: value])
        let reason = refused(jws)
        #expect(reason == "MISSING_CLAIM")
    }

    @Test func `D2: an unknown type is kept with its facts`() throws {
        let jws = try fixtures.notification(
            "SEAT_POLICY_CHANGED", subtype: "QUARTERLY", uuid: "u-7", signed: Desk.march + 5_000,
            data: fixtures.notificationData(
                transaction: try fixtures.transaction(
                    "610", product: "meadow.lifetime", purchased: Desk.march,
                    revoked: Desk.march + 1_000, changes: ["revocationReason": 7])))
        let notification = try #require(try verifier.verifyNotification(jws).signed).notification
        #expect(notification.isUnknown)
        #expect(notification.transaction?.transaction.revocationReason == 7)
        #expect(notification.transaction?.transaction.revocationDate != nil)
    }

    @Test func `D4: notifications without a transaction are verified`() throws {
        let app: FixtureJSON = [
            "bundleId": "com.example.meadow", "environment": "Production",
            "appAppleId": 1_600_000_001,
        ]
        let token: FixtureJSON = [
            "bundleId": "com.example.meadow", "externalPurchaseId": "b2158121",
            "appAppleId": 1_600_000_001, "tokenCreationDate": 1,
        ]
        let parts: [(String, FixtureJSON)] = [
            ("data", app), ("summary", app), ("externalPurchaseToken", token), ("appData", app),
        ]
        for (name, part) in parts {
            let jws = try fixtures.notification(
                "TEST", uuid: "u", signed: Desk.march, data: nil, changes: [name: part])
            let notification = try #require(
                try verifier.verifyNotification(jws).signed, "\(name)"
            ).notification
            #expect(notification.transaction == nil && notification.renewal == nil)
            #expect(notification.scope.environment == .production)
        }
    }

    @Test func `an external purchase id says its environment by itself`() throws {
        let token: FixtureJSON = [
            "bundleId": "com.example.meadow", "externalPurchaseId": "SANDBOX_b2158121",
        ]
        let jws = try fixtures.notification(
            "EXTERNAL_PURCHASE_TOKEN", subtype: "UNREPORTED", uuid: "u", signed: Desk.march,
            data: nil, changes: ["externalPurchaseToken": token])
        #expect(refused(jws) == "WRONG_ENVIRONMENT")
        let both = try fixtures.verifier(environments: [.production, .sandbox])
        #expect(
            try both.verifyNotification(jws).signed?.notification.scope.environment == .sandbox)
        let absent = try fixtures.notification(
            "EXTERNAL_PURCHASE_TOKEN", uuid: "u", signed: Desk.march, data: nil,
            changes: ["externalPurchaseToken": ["bundleId": "com.example.meadow"]])
        #expect(refused(absent) == "MISSING_CLAIM")
    }

    @Test(
        arguments: [
            (FixtureJSON.integer(1_600_000_001), nil), ("1600000001", nil),
            (1_600_000_002, "WRONG_APP"), (nil, "WRONG_APP"), (.null, "WRONG_APP"),
            (true, "WRONG_APP"), (0, "WRONG_APP"), (.verbatim("1600000001.5"), nil),
        ] as [(FixtureJSON?, String?)])
    func `Production notifications carry the app's own number`(
        number: FixtureJSON?, reason: String?
    ) throws {
        let data = fixtures.notificationData().changed(["appAppleId": number])
        let jws = try fixtures.notification("TEST", uuid: "u", signed: Desk.march, data: data)
        #expect(refused(jws) == reason)
    }

    @Test func `Sandbox notifications need no number`() throws {
        let sandbox = try Desk.fixtures(environment: "Sandbox")
        let verifier = try sandbox.verifier(environments: [.sandbox])
        let jws = try sandbox.charge()
        #expect(
            try verifier.verifyNotification(jws).signed?.notification.scope
                == Scope(bundleID: "com.example.meadow", environment: .sandbox))
        let odd = try sandbox.notification(
            "TEST", uuid: "u", signed: Desk.march,
            data: sandbox.notificationData().changed(["appAppleId": 1]))
        #expect(refusal { try verifier.verifyNotification(odd) } == nil)
    }

    @Test func `another app is refused, and before its environment is looked at`() throws {
        var other = try Desk.fixtures(environment: "Sandbox")
        other.bundleID = "com.example.other"
        let transaction = try other.transaction("1", product: "p", purchased: Desk.march)
        #expect(refused(try other.charge()) == "WRONG_APP")
        #expect(refusal { try verifier.verifyTransaction(transaction) } == "WRONG_APP")
        let app = try other.appTransaction("7", created: Desk.march)
        #expect(refusal { try verifier.verifyAppTransaction(app) } == "WRONG_APP")
    }

    @Test(arguments: ["Sandbox", "Xcode", "LocalTesting", "xcode", "production", "", "Staging"])
    func `S7, S8: an environment that is not configured is refused everywhere`(
        name: String
    ) throws {
        let other = try Desk.fixtures(environment: name)
        let transaction = try other.transaction("1", product: "p", purchased: Desk.march)
        let renewal = try other.renewal(
            "1", product: "p", renewal: Desk.april, signed: Desk.march)
        let app = try other.appTransaction("7", created: Desk.march)
        #expect(refused(try other.charge()) == "WRONG_ENVIRONMENT")
        #expect(refusal { try verifier.verifyTransaction(transaction) } == "WRONG_ENVIRONMENT")
        #expect(refusal { try verifier.verifyRenewal(renewal) } == "WRONG_ENVIRONMENT")
        #expect(refusal { try verifier.verifyAppTransaction(app) } == "WRONG_ENVIRONMENT")
    }

    @Test func `S8: Xcode's chain of one certificate is refused by its length`() throws {
        let xcode = try Desk.fixtures(environment: "Xcode")
        let header: FixtureJSON = [
            "alg": "ES256", "kid": "Apple_Xcode_Key", "typ": "JWT",
            "x5c": .array([
                .string(String(decoding: base64(fixtures.authority.leaf.der), as: UTF8.self))
            ]),
        ]
        let claims = xcode.transactionClaims("0", product: "p", purchased: Desk.march)
        let jws = try fixtures.authority.sign(header: header, payload: claims.utf8)
        #expect(refusal { try verifier.verifyTransaction(jws) } == "CHAIN_LENGTH")
    }

    @Test func `what is inside must be of the same app and environment as the outside`() throws {
        var other = try Desk.fixtures()
        other.bundleID = "com.example.other"
        let sandbox = try Desk.fixtures(environment: "Sandbox")
        let verifier = try SignedDataVerifier(
            apps: [
                fixtures.app(environments: [.production, .sandbox]),
                other.app(environments: [.production, .sandbox]),
            ], roots: [fixtures.authority.trustedRoot])
        for (inner, reason) in [
            (other, "WRONG_APP"), (sandbox, "WRONG_ENVIRONMENT"), (fixtures, nil),
        ] as [(SignedFixtures, String?)] {
            let transaction = try inner.transaction("1", product: "p", purchased: Desk.march)
            let jws = try fixtures.notification(
                "ONE_TIME_CHARGE", uuid: "u", signed: Desk.march,
                data: fixtures.notificationData(transaction: transaction))
            #expect(refusal { try verifier.verifyNotification(jws) } == reason)
        }
        let renewal = try sandbox.renewal("1", product: "p", renewal: 1, signed: Desk.march)
        let jws = try fixtures.notification(
            "DID_RENEW", uuid: "u", signed: Desk.march,
            data: fixtures.notificationData(renewal: renewal))
        #expect(refusal { try verifier.verifyNotification(jws) } == "WRONG_ENVIRONMENT")
    }

    @Test func `what is inside is verified by itself`() throws {
        let stranger = SignedFixtures(authority: try TestCertificateAuthority())
        let foreign = try stranger.transaction("1", product: "p", purchased: Desk.march)
        let genuine = try fixtures.transaction("1", product: "p", purchased: Desk.march)
        var broken = Segments(genuine)
        broken.payload =
            Segments(
                try fixtures.transaction("2", product: "p", purchased: Desk.march)
            ).payload
        for (inner, reason) in [
            (foreign, "UNTRUSTED_CHAIN"), (broken.jws, "BAD_SIGNATURE"),
            ([], "MALFORMED_PAYLOAD"), (Array("text".utf8), "MALFORMED_PAYLOAD"),
        ] {
            let transaction = try fixtures.notification(
                "ONE_TIME_CHARGE", uuid: "u", signed: Desk.march,
                data: fixtures.notificationData(transaction: inner))
            #expect(refused(transaction) == reason)
            let renewal = try fixtures.notification(
                "DID_RENEW", uuid: "u", signed: Desk.march,
                data: fixtures.notificationData(transaction: genuine, renewal: inner))
            #expect(refused(renewal) == reason)
        }
    }

    @Test(arguments: ["signedTransactionInfo", "signedRenewalInfo"])
    func `a JWS of another type is not passed over, null is`(name: String) throws {
        for (value, reason) in [
            (1, "MALFORMED_PAYLOAD"), ([], "MALFORMED_PAYLOAD"), (false, "MALFORMED_PAYLOAD"),
            (.null, nil),
        ] as [(FixtureJSON, String?)] {
            let jws = try fixtures.notification(
                "TEST", uuid: "u", signed: Desk.march,
                data: fixtures.notificationData().changed([name: value]))
            #expect(refused(jws) == reason)
        }
    }

    @Test func `renewal info of another chain than the transaction's is refused`() throws {
        let transaction = try fixtures.transaction(
            "20", original: "10", product: "p", purchased: Desk.march, expires: Desk.april)
        for (chain, reason) in [
            ("10", nil), ("20", "RENEWAL_MISMATCH"), ("11", "RENEWAL_MISMATCH"),
        ]
            as [(String, String?)]
        {
            let renewal = try fixtures.renewal(
                chain, product: "p", renewal: Desk.april, signed: Desk.march)
            let jws = try fixtures.notification(
                "DID_RENEW", uuid: "u", signed: Desk.march,
                data: fixtures.notificationData(transaction: transaction, renewal: renewal))
            #expect(refused(jws) == reason)
        }
    }

    @Test func `renewal info without a transaction is passed on as untied`() throws {
        let renewal = try fixtures.renewal(
            "10", product: "p", renewal: Desk.april, signed: Desk.march)
        let jws = try fixtures.notification(
            "DID_CHANGE_RENEWAL_STATUS", uuid: "u", signed: Desk.march,
            data: fixtures.notificationData(renewal: renewal))
        let event = try #require(try verifier.verifyNotification(jws).signed)
        #expect(event.hasUntiedRenewal)
        #expect(event.notification.renewal?.renewal.originalTransactionID == "10")
    }

    @Test func `an app transaction names the Apple Account`() throws {
        let jws = try fixtures.appTransaction("704", created: Desk.march)
        let verified = try verifier.verifyAppTransaction(jws)
        #expect(verified.appTransactionID == "704" && verified.payload == jws)
        #expect(verified.signedDate.milliseconds == Desk.march)
        #expect(verified.scope.environment == .production)
        for (changes, reason) in [
            (["receiptCreationDate": nil], "MISSING_CLAIM"),
            (["receiptType": nil], "MISSING_CLAIM"),
            (["bundleId": nil], "MISSING_CLAIM"), (["appAppleId": nil], "WRONG_APP"),
            (["appAppleId": 5], "WRONG_APP"), (["appTransactionId": nil], nil),
        ] as [(FixtureChanges, String?)] {
            let changed = try fixtures.appTransaction("704", created: Desk.march, changes: changes)
            #expect(refusal { try verifier.verifyAppTransaction(changed) } == reason)
        }
    }

    @Test func `the app transaction in appData is verified too`() throws {
        let app: FixtureJSON = [
            "bundleId": "com.example.meadow", "environment": "Production",
            "appAppleId": 1_600_000_001,
        ]
        let good = try fixtures.appTransaction("704", created: Desk.march)
        for (inner, reason) in [(good, nil), (Array("x.y.z".utf8), "MALFORMED_PAYLOAD")]
            as [([UInt8], String?)]
        {
            let part = app.changed([
                "signedAppTransactionInfo": .string(String(decoding: inner, as: UTF8.self))
            ])
            let jws = try fixtures.notification(
                "RESCIND_CONSENT", uuid: "u", signed: Desk.march, data: nil,
                changes: ["appData": part])
            #expect(refused(jws) == reason)
        }
    }

    @Test func `renewal info from an upload keeps its account and token`() throws {
        let jws = try fixtures.renewal(
            "10", product: "p", renewal: Desk.april, signed: Desk.march,
            changes: ["appTransactionId": "704", "appAccountToken": "7E3FB20B-4CDB-47CC"])
        let verified = try verifier.verifyRenewal(jws)
        #expect(verified.environment == .production && verified.appTransactionID == "704")
        #expect(verified.appAccountToken == "7e3fb20b-4cdb-47cc")
        let missing = try fixtures.renewal(
            "", product: "p", renewal: Desk.april, signed: Desk.march)
        #expect(refusal { try verifier.verifyRenewal(missing) } == "MISSING_CLAIM")
    }

    @Test func `messages name what was expected and found, in printable ASCII`() throws {
        var other = try Desk.fixtures()
        other.bundleID = "com.\u{1B}[31mevil\n"
        #expect {
            try verifier.verifyNotification(try other.charge())
        } throws: { error in
            (error as? AppStoreError)?.message
                == "the notification is for \"com.?[31mevil?\"; configured: com.example.meadow"
        }
        other.bundleID = String(repeating: "x", count: 5_000)
        #expect {
            try verifier.verifyNotification(try other.charge())
        } throws: { error in
            ((error as? AppStoreError)?.message.count ?? .max) < 200
        }
    }

    private func base64(_ der: [UInt8]) -> [UInt8] { Segments.base64(der) }
}
