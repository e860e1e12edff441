import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct EventMappingTests {
    let fixtures: SignedFixtures
    let verifier: SignedDataVerifier

    init() throws {
        fixtures = try Desk.fixtures()
        verifier = try fixtures.verifier()
    }

    private func transaction(_ changes: FixtureChanges) throws -> Transaction {
        try verifier.verifyTransaction(
            fixtures.transaction(
                "20", original: "10", product: "meadow.plus.month", purchased: Desk.march,
                expires: Desk.april, changes: changes)
        ).signed.transaction
    }

    private func renewal(_ changes: FixtureChanges) throws -> RenewalInfo {
        try verifier.verifyRenewal(
            fixtures.renewal(
                "10", product: "meadow.plus.month", renewal: Desk.april, signed: Desk.march,
                changes: changes)
        ).signed.renewal
    }

    @Test func `every field of a transaction lands in its place`() throws {
        let found = try transaction([
            "revocationDate": 1_772_409_600_000, "revocationReason": 1,
            "revocationType": "REFUND_PRORATED", "revocationPercentage": 50_000, "isUpgraded": true,
            "appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138", "appTransactionId": "704",
        ])
        var expected = Transaction(
            transactionID: "20", originalTransactionID: "10", productID: "meadow.plus.month",
            rawType: "Auto-Renewable Subscription", rawOwnership: "PURCHASED",
            purchaseDate: Timestamp(milliseconds: Desk.march),
            signedDate: Timestamp(milliseconds: Desk.march + 3_000))
        expected.expiresDate = Timestamp(milliseconds: Desk.april)
        expected.revocationDate = Timestamp(milliseconds: 1_772_409_600_000)
        expected.revocationReason = 1
        expected.revocationType = "REFUND_PRORATED"
        expected.revocationPercentage = 50_000
        expected.isUpgraded = true
        expected.appAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        expected.appTransactionID = "704"
        expected.webOrderLineItemID = "920"
        expected.subscriptionGroupID = "21000001"
        expected.price = 9_990
        expected.currency = "EUR"
        #expect(found == expected)
    }

    @Test func `every field of renewal info lands in its place`() throws {
        let found = try renewal([
            "autoRenewStatus": 0, "autoRenewProductId": "meadow.pro.month",
            "isInBillingRetryPeriod": true, "gracePeriodExpiresDate": 1_775_600_000_000,
            "expirationIntent": 2,
        ])
        var expected = RenewalInfo(
            originalTransactionID: "10", signedDate: Timestamp(milliseconds: Desk.march))
        expected.productID = "meadow.plus.month"
        expected.autoRenewStatus = 0
        expected.autoRenewProductID = "meadow.pro.month"
        expected.isInBillingRetryPeriod = true
        expected.gracePeriodExpiresDate = Timestamp(milliseconds: 1_775_600_000_000)
        expected.renewalDate = Timestamp(milliseconds: Desk.april)
        expected.expirationIntent = 2
        #expect(found == expected)
    }

    @Test func `D1: a price beyond 32 bits is exact`() throws {
        let found = try transaction(["price": 4_999_000_000, "currency": "VND"])
        #expect(found.price == 4_999_000_000 && found.currency == "VND")
        #expect(throws: Never.self) { try renewal(["renewalPrice": 4_999_000_000]) }
    }

    @Test func `D6: null is absent`() throws {
        let found = try transaction([
            "revocationDate": .null, "revocationReason": .null, "isUpgraded": .null,
            "appAccountToken": .null, "offerType": .null, "webOrderLineItemId": .null,
            "expiresDate": .null, "revocationType": .null, "price": .null,
            "originalTransactionId": .null,
        ])
        #expect(found.revocationDate == nil && found.revocationReason == nil)
        #expect(!found.isUpgraded && found.appAccountToken == nil)
        #expect(found.webOrderLineItemID == nil && found.expiresDate == nil)
        #expect(found.revocationType == nil && found.price == nil)
        #expect(found.originalTransactionID == "20")
        let info = try renewal(["expirationIntent": .null, "gracePeriodExpiresDate": .null])
        #expect(info.expirationIntent == nil && info.gracePeriodExpiresDate == nil)
    }

    @Test func `D8: a purchase without renewal info, line item and group is whole`() throws {
        let found = try verifier.verifyTransaction(
            fixtures.transaction("660", product: "meadow.lifetime", purchased: Desk.march)
        ).signed.transaction
        #expect(found.type == .nonConsumable && found.expiresDate == nil)
        #expect(found.webOrderLineItemID == nil && found.subscriptionGroupID == nil)
        let event = try verifier.verifyNotification(fixtures.charge(id: "660"))
        #expect(event.signed?.notification.renewal == nil)
        #expect(event.signed?.notification.status == nil)
        #expect(event.signed?.hasUntiedRenewal == false)
    }

    @Test(arguments: [
        "purchaseDate", "expiresDate", "revocationDate", "revocationReason", "revocationType",
        "revocationPercentage", "isUpgraded", "appAccountToken", "appTransactionId",
        "webOrderLineItemId", "subscriptionGroupIdentifier", "price", "currency", "type",
        "inAppOwnershipType", "productId", "originalTransactionId",
    ])
    func `an optional field of another type is absent and breaks nothing`(name: String) throws {
        let absent = try transaction([name: nil])
        for value in [[], [:], ["a": 1], .verbatim("[null]")] as [FixtureJSON] {
            #expect(try transaction([name: value]) == absent)
        }
    }

    @Test func `dates and numbers may be strings of digits, or carry a fraction`() throws {
        let found = try transaction([
            "purchaseDate": "1772323200000", "expiresDate": .verbatim("1775001600000.7297"),
            "revocationReason": "1", "price": .verbatim("9990.0"), "signedDate": "1772323203000",
        ])
        #expect(found == (try transaction(["revocationReason": 1])))
    }

    @Test func `ids may be numbers, and keep every digit`() throws {
        let id = "12345678901234567890123456789"
        let found = try transaction([
            "transactionId": .verbatim(id), "originalTransactionId": 9_007_199_254_740_993,
            "webOrderLineItemId": 0,
        ])
        #expect(found.transactionID == id)
        #expect(found.originalTransactionID == "9007199254740993")
        #expect(found.webOrderLineItemID == "0")
    }

    @Test func `the token is lower-cased, and an empty one is absent`() throws {
        let upper = try transaction(["appAccountToken": "7E3FB20B-4CDB-47CC-936D-99D65F608138"])
        #expect(upper.appAccountToken == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        #expect(try transaction(["appAccountToken": ""]).appAccountToken == nil)
    }

    @Test func `unknown words are kept as they are`() throws {
        let found = try transaction([
            "type": "Rental", "inAppOwnershipType": "LENT", "revocationType": "NEW_KIND",
        ])
        #expect(found.rawType == "Rental" && found.type == .unknown)
        #expect(found.rawOwnership == "LENT" && found.ownership == .other)
        #expect(found.revocationType == "NEW_KIND")
    }

    @Test(
        arguments: [
            (true, true), ("true", true), (false, false), ("false", false), (1, false),
            (nil, false),
        ] as [(FixtureJSON?, Bool)])
    func `isUpgraded is true or the word`(value: FixtureJSON?, isUpgraded: Bool) throws {
        #expect(try transaction(["isUpgraded": value]).isUpgraded == isUpgraded)
    }

    @Test(
        arguments: [
            ("transactionId", nil), ("transactionId", .null), ("transactionId", ""),
            ("transactionId", true), ("transactionId", .verbatim("1.5")), ("bundleId", nil),
            ("bundleId", .null), ("environment", nil), ("environment", .null), ("signedDate", nil),
        ] as [(String, FixtureJSON?)])
    func `what verification needs must be there`(name: String, value: FixtureJSON?) {
        #expect(refusal { try transaction([name: value]) } == "MISSING_CLAIM")
    }

    @Test(arguments: [
        "transactionId", "originalTransactionId", "productId", "appTransactionId",
        "webOrderLineItemId", "appAccountToken", "subscriptionGroupIdentifier",
    ])
    func `an id has at most 128 bytes, of any kind`(name: String) {
        let longest = String(repeating: "é", count: 64)
        #expect(refusal { try transaction([name: .string(longest)]) } == nil)
        #expect(refusal { try transaction([name: .string(longest + "x")]) } == "MALFORMED_PAYLOAD")
        #expect(refusal { try transaction([name: "a\u{0}b"]) } == nil)
    }

    @Test func `the notification's own names have the same limits`() throws {
        for changes in [
            ["notificationUUID": .string(String(repeating: "x", count: 129))],
            ["subtype": .string(String(repeating: "x", count: 129))],
        ]
            as [FixtureChanges]
        {
            let jws = try fixtures.notification(
                "TEST", uuid: "u", signed: Desk.march, data: fixtures.notificationData(),
                changes: changes)
            #expect(refusal { try verifier.verifyNotification(jws) } == "MALFORMED_PAYLOAD")
        }
    }

    @Test func `unknown fields and new objects are no matter`() throws {
        let found = try transaction([
            "advancedCommerceInfo": ["items": [["SKU": "s", "price": 1]], "taxRate": "0.15"],
            "commitmentInfo": ["billingPeriodNumber": 3], "brandNew": [.null, 1, "x"],
        ])
        #expect(found == (try transaction([:])))
    }
}
