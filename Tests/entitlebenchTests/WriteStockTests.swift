import AppStore
import Entitlements
import TestSupport
import Testing

@testable import entitlebench

@Suite struct WriteStockTests {
    @Test func `what is signed before comes in order, what is missing is signed late`() throws {
        let fixture = try SeedFixture()
        let events = WriteEvents(plan: SeedPlan(customerCount: 12))
        let stock = try WriteStock(
            events, signer: fixture.signer, from: 5, count: 70, threadCount: 2)
        let app = fixture.signer.app
        let verifier = try SignedDataVerifier(
            apps: [
                TrustedApp(
                    bundleID: app.bundleID, appAppleID: app.appAppleID,
                    environments: [.production])
            ],
            roots: [try TrustedRoot(file: fixture.signer.authority.rootPEM)])
        for place in 0..<72 {
            let (event, body) = try stock.next()
            #expect(event == 5 + place)
            guard case .signed(let signed) = try verifier.verifyNotification(body) else {
                Issue.record("not signed")
                return
            }
            #expect(signed.notification.notificationUUID == events.uuid(event))
        }
        #expect(stock.takenCount == 72)
        #expect(stock.lateCount == 2)
    }
}

@Suite struct WriteOracleTests {
    private let oracle = WriteOracle()

    @Test func `nobody has to show what nobody sent`() {
        #expect(oracle.floor(of: 3).rounds == 0)
        #expect(oracle.ceiling(of: 3) == 0)
        #expect(oracle.recentCustomer(9) == nil)
    }

    @Test func `what was sent may show, what was acknowledged must`() {
        oracle.send(0, of: 3)
        #expect(oracle.floor(of: 3).rounds == 0)
        #expect(oracle.ceiling(of: 3) == 1)
        oracle.acknowledge(0, of: 3, revision: 8)
        #expect(oracle.floor(of: 3).rounds == 1)
        #expect(oracle.floor(of: 3).revision == 8)
        #expect(oracle.recentCustomer(9) == 3)
        #expect(oracle.ceiling(of: 4) == 0)
    }

    @Test func `an acknowledgement that overtakes another counts once that has come`() {
        oracle.send(0, of: 3)
        oracle.send(1, of: 3)
        oracle.acknowledge(1, of: 3, revision: 9)
        #expect(oracle.floor(of: 3).rounds == 0)
        oracle.acknowledge(0, of: 3, revision: 10)
        #expect(oracle.floor(of: 3).rounds == 2)
        #expect(oracle.floor(of: 3).revision == 10)
    }

    @Test func `an acknowledgement of what was never sent changes nothing`() {
        oracle.acknowledge(0, of: 3, revision: 9)
        #expect(oracle.floor(of: 3).rounds == 0)
        #expect(oracle.recentCustomer(0) == nil)
    }

    @Test func `the recent ones are the last thousand`() {
        for customer in 0..<2_000 {
            oracle.send(0, of: customer)
            oracle.acknowledge(0, of: customer, revision: UInt64(customer))
        }
        let recent = Set((0..<1_024).compactMap { oracle.recentCustomer(UInt64($0)) })
        #expect(recent == Set(976..<2_000))
    }
}
