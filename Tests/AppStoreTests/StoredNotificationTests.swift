import AppStore
import TestSupport
import Testing

@Suite struct StoredNotificationTests {
    private let apple: SignedFixtures
    private let transaction: [UInt8]
    private let renewal: [UInt8]

    init() throws {
        apple = try Desk.fixtures()
        transaction = try apple.transaction(
            "1", product: "p", purchased: Desk.march, expires: Desk.april)
        renewal = try apple.renewal(
            "1", product: "p", renewal: Desk.april, signed: Desk.march + 3_000)
    }

    private func notification(transaction: [UInt8]?, renewal: [UInt8]?) throws -> [UInt8] {
        try apple.notification(
            "DID_RENEW", uuid: "u", signed: Desk.march + 5_000,
            data: apple.notificationData(transaction: transaction, renewal: renewal, status: 1))
    }

    @Test func `what is signed inside comes out byte for byte, with an envelope or bare`() throws {
        let jws = try notification(transaction: transaction, renewal: renewal)
        for body in [jws, SignedFixtures.body(jws)] {
            let stored = try #require(StoredNotification(body: body))
            #expect(stored.transaction == transaction)
            #expect(stored.renewal == renewal)
        }
    }

    @Test func `what it does not carry is absent`() throws {
        let stored = try #require(
            StoredNotification(body: try notification(transaction: transaction, renewal: nil)))
        #expect(stored.transaction == transaction)
        #expect(stored.renewal == nil)
    }

    @Test(arguments: ["", "{}", "{", "a.b.c", "no dots", #"{"signedPayload":"e30"}"#])
    func `what is no notification opens as none`(body: String) {
        #expect(StoredNotification(body: Array(body.utf8)) == nil)
    }

    @Test func `a notification about no purchase opens as none`() throws {
        let test = try apple.notification(
            "EXTERNAL_PURCHASE_TOKEN", uuid: "u", signed: Desk.march, data: nil)
        #expect(StoredNotification(body: SignedFixtures.body(test)) == nil)
    }
}
