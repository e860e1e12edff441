import AppStore
import Entitlements
import TestSupport
import Testing

@testable import entitlebench

@Suite struct SeedClaimsTests {
    private let fixture: SeedFixture
    private let plan = SeedPlan(customerCount: 302)
    private let verifier: SignedDataVerifier

    init() throws {
        fixture = try SeedFixture()
        let app = fixture.signer.app
        verifier = try SignedDataVerifier(
            apps: [
                TrustedApp(
                    bundleID: app.bundleID, appAppleID: app.appAppleID,
                    environments: [.production])
            ],
            roots: [try TrustedRoot(file: fixture.signer.authority.rootPEM)])
    }

    @Test func `what is signed decodes to the fact that a bulk load writes`() throws {
        for index in 0..<302 {
            for transaction in plan.transactions(of: index) {
                let verified = try verifier.verifyTransaction(fixture.signer.sign(transaction))
                #expect(verified.signed.transaction == transaction.fact.transaction)
            }
            if let renewal = plan.renewal(of: index) {
                let verified = try verifier.verifyRenewal(fixture.signer.sign(renewal))
                #expect(verified.signed.renewal == renewal.fact)
            }
        }
    }

    @Test func `a notification carries both, its type and its status`() throws {
        let index = try #require((0..<302).first { plan.renewal(of: $0) != nil })
        let event = SeedNotification(
            type: "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD",
            uuid: "00000000-0000-4000-8000-000000000001", signedDate: 1_780_000_000_000, status: 4)
        let transaction = plan.transactions(of: index)[1]
        let body = try fixture.signer.body(event, transaction, plan.renewal(of: index))
        guard case .signed(let signed) = try verifier.verifyNotification(body) else {
            Issue.record("not signed")
            return
        }
        let notification = signed.notification
        #expect(notification.notificationUUID == event.uuid)
        #expect(notification.type == event.type)
        #expect(notification.subtype == event.subtype)
        #expect(notification.signedDate.milliseconds == event.signedDate)
        #expect(notification.status == 4)
        #expect(notification.transaction?.transaction == transaction.fact.transaction)
        #expect(notification.renewal?.renewal == plan.renewal(of: index)?.fact)
    }

    @Test func `without subtype, status and renewal they are absent`() throws {
        let event = SeedNotification(
            type: "REVOKE", uuid: "00000000-0000-4000-8000-000000000002",
            signedDate: 1_780_000_000_000)
        let body = try fixture.signer.body(event, plan.transactions(of: 0)[0], nil)
        guard case .signed(let signed) = try verifier.verifyNotification(body) else {
            Issue.record("not signed")
            return
        }
        #expect(signed.notification.subtype.isEmpty)
        #expect(signed.notification.status == nil)
        #expect(signed.notification.renewal == nil)
    }
}
