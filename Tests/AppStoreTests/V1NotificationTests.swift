import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct V1NotificationTests {
    let verifier: SignedDataVerifier

    init() throws {
        verifier = try Desk.fixtures().verifier()
    }

    static let receiptItem: FixtureJSON = [
        "expires_date_ms": "1777629600000", "purchase_date_ms": 1_775_037_600_000, "quantity": "1",
        "is_trial_period": "false", "transaction_id": 1_000_000_900_000_001,
        "original_transaction_id": "1000000900000001", "product_id": "meadow.plus.month",
    ]

    static let body: FixtureJSON = [
        "notification_type": "INITIAL_BUY", "password": "meadow-test-secret",
        "environment": "PROD", "bid": "com.example.meadow",
        "auto_renew_product_id": "meadow.plus.month", "auto_renew_status": "true",
        "unified_receipt": [
            "environment": "Production", "status": 0, "latest_receipt": "TUlJ",
            "latest_receipt_info": [receiptItem],
            "pending_renewal_info": [
                ["auto_renew_status": "1", "original_transaction_id": "1000000900000001"]
            ],
        ],
    ]

    private func read(_ body: FixtureJSON) throws -> V1Notification {
        try #require(try verifier.verifyNotification(body.utf8).unsigned)
    }

    @Test func `a V1 body is decoded and nothing more`() throws {
        let notification = try read(Self.body)
        #expect(notification.type == "INITIAL_BUY" && notification.bundleID == "com.example.meadow")
        #expect(notification.environment == .production)
        #expect(notification.originalTransactionIDs == ["1000000900000001"])
        #expect(notification.payload == Self.body.utf8)
        #expect(notification.isAuthenticated(by: Array("meadow-test-secret".utf8)))
        #expect(
            try verifier.scope(of: notification)
                == Scope(bundleID: "com.example.meadow", environment: .production))
    }

    @Test(
        arguments: [
            ("PROD", AppEnvironment.production), ("Prod", .production), ("Production", .production),
            ("Sandbox", .sandbox), ("SANDBOX", .sandbox), ("Xcode", nil), ("", nil),
        ] as [(String, AppEnvironment?)])
    func `V1-1: three names for one environment`(name: String, environment: AppEnvironment?) throws
    {
        let notification = try read(Self.body.changed(["environment": .string(name)]))
        #expect(notification.environment == environment)
        let reason = refusal { try verifier.scope(of: notification) }
        #expect(reason == (environment == .production ? nil : "WRONG_ENVIRONMENT"))
    }

    @Test func `V1-1: the receipt says the environment where the body does not`() throws {
        #expect(try read(Self.body.changed(["environment": nil])).environment == .production)
        #expect(try read(Self.body.changed(["environment": .null])).environment == .production)
    }

    @Test(arguments: [
        FixtureJSON.string("1000000900000001"), .integer(1_000_000_900_000_001),
    ])
    func `V1-1: ids come as strings or numbers`(id: FixtureJSON) throws {
        let item = Self.receiptItem.changed(["original_transaction_id": id, "quantity": 1])
        let receipt: FixtureJSON = ["latest_receipt_info": [item], "status": "0"]
        let notification = try read(
            Self.body.changed([
                "unified_receipt": receipt, "original_transaction_id": id,
                "auto_renew_status": true, "password": "5",
            ]))
        #expect(notification.originalTransactionIDs == ["1000000900000001"])
        #expect(try read(Self.body.changed(["password": 5])).isAuthenticated(by: [0x35]))
    }

    @Test func `every chain is named once, in the order of the body`() throws {
        func item(_ id: FixtureJSON) -> FixtureJSON { ["original_transaction_id": id] }
        let receipt: FixtureJSON = [
            "latest_receipt_info": [item("3"), item("1"), 7, item("3"), item(.null), [], item(2)],
            "pending_renewal_info": [item("4"), item("1")],
        ]
        let notification = try read(
            Self.body.changed(["unified_receipt": receipt, "original_transaction_id": 9]))
        #expect(notification.originalTransactionIDs == ["9", "3", "1", "2", "4"])
    }

    @Test func `a hundred entries are read`() throws {
        let items = (0..<100).map { number -> FixtureJSON in
            Self.receiptItem.changed(["original_transaction_id": .string("\(number)")])
        }
        let receipt: FixtureJSON = ["latest_receipt_info": .array(items)]
        let notification = try read(Self.body.changed(["unified_receipt": receipt]))
        #expect(notification.originalTransactionIDs.count == 100)
    }

    @Test(
        arguments: [
            "wrong", "", nil, .null, [], "meadow-test-secre", "meadow-test-secrets",
            "m\u{0}adow-test-secret", "m", "MEADOW-TEST-SECRET",
        ] as [FixtureJSON?])
    func `V1-6: any password but the shared secret is refused`(password: FixtureJSON?) throws {
        let notification = try read(Self.body.changed(["password": password]))
        #expect(!notification.isAuthenticated(by: Array("meadow-test-secret".utf8)))
        #expect(!notification.isAuthenticated(by: []))
    }

    @Test(arguments: ["com.example.other", "", nil, .null] as [FixtureJSON?])
    func `V1-6: another app is refused`(bundleID: FixtureJSON?) throws {
        let notification = try read(Self.body.changed(["bid": bundleID]))
        #expect(refusal { try verifier.scope(of: notification) } == "WRONG_APP")
    }

    @Test func `a repeat has the same digest, another body another one`() throws {
        let first = try read(Self.body)
        #expect(try read(Self.body).digest == first.digest && first.digest.count == 64)
        #expect(try read(Self.body.changed(["notification_type": "CANCEL"])).digest != first.digest)
    }

    @Test func `a body with signedPayload is never taken for V1`() throws {
        let body = Self.body.changed(["signedPayload": "a.b.c"])
        #expect(refusal { try verifier.verifyNotification(body.utf8) } == "MALFORMED_PAYLOAD")
    }

    @Test(
        arguments: [
            ["notification_type": nil], ["unified_receipt": nil, "password": nil],
        ] as [FixtureChanges])
    func `a body that is neither V1 nor V2 is refused`(changes: FixtureChanges) {
        let body = Self.body.changed(changes)
        #expect(refusal { try verifier.verifyNotification(body.utf8) } == "MALFORMED_PAYLOAD")
    }
}
