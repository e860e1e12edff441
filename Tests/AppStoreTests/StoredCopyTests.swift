import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct StoredCopyTests {
    private let fixtures: SignedFixtures

    init() throws { fixtures = SignedFixtures(authority: try TestCertificateAuthority()) }

    private func transaction() throws -> [UInt8] {
        try fixtures.transaction("1", product: "p", purchased: 1_700_000_000_000)
    }

    @Test func `a copy says what was signed`() throws {
        let copy = try #require(StoredCopy(try transaction()))
        #expect(copy.transaction?.transactionID == "1" && copy.transaction?.productID == "p")
        #expect(copy.renewal?.originalTransactionID == "1")
        #expect(copy.notificationUUID == nil)
        let renewal = try fixtures.renewal(
            "9", product: "p", renewal: 1_700_000_000_000, signed: 1_700_000_000_000)
        #expect(StoredCopy(renewal)?.renewal?.originalTransactionID == "9")
    }

    @Test func `a changed byte anywhere is another text`() throws {
        let jws = try transaction()
        let original = try #require(StoredCopy(jws)?.transaction)
        for offset in stride(from: 0, to: jws.count, by: 61) {
            var changed = jws
            changed[offset] = changed[offset] == 0x41 ? 0x42 : 0x41
            #expect(StoredCopy(changed) == nil, "byte \(offset) of \(original.transactionID)")
        }
        for count in [0, 1, jws.count / 2, jws.count - 1] {
            #expect(StoredCopy(Array(jws[..<count])) == nil)
        }
    }

    @Test func `a body has the id of its notification, or of its digest`() throws {
        let jws = try fixtures.notification(
            "TEST", uuid: "u-1", signed: 1_700_000_000_000, data: nil)
        #expect(StoredCopy.notificationUUID(ofBody: jws) == "u-1")
        #expect(StoredCopy.notificationUUID(ofBody: SignedFixtures.body(jws)) == "u-1")
        let v1 = Array(#"{"notification_type":"CANCEL","password":"x"}"#.utf8)
        #expect(StoredCopy.notificationUUID(ofBody: v1)?.hasPrefix("v1-") == true)
        for body in ["", "{}", "[1]", "{\"signedPayload\":\"a.b.c\"}"] {
            #expect(StoredCopy.notificationUUID(ofBody: Array(body.utf8)) == nil)
        }
    }
}
