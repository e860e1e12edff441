import AppStore
import EntitledClient
import Testing

@testable import entitlebench

@Suite struct SeedIngestTests {
    @Test func `what is signed on several threads is everybody's, in order`() throws {
        let fixture = try SeedFixture()
        let plan = SeedPlan(customerCount: 200, transactionCounts: 1...2)
        let seeding = SeedIngest(plan: plan, signer: fixture.signer, threadCount: 3)
        let uploads = try seeding.signed(10..<200)
        #expect(uploads.map(\.customerID) == (10..<200).map { plan.name(of: $0) })
        for (offset, upload) in uploads.enumerated() {
            let index = 10 + offset
            #expect(upload.signedTransactions.count == plan.transactionCount(of: index))
            #expect(upload.signedRenewals.isEmpty == (plan.renewal(of: index) == nil))
            #expect(upload.signedTransactions.allSatisfy { $0.split(separator: ".").count == 3 })
        }
    }

    @Test func `rates are per second of the time that was spent on them`() {
        let outcome = SeedIngest.Outcome(
            customerCount: 10, signatureCount: 20, signingNanoseconds: 2_000_000_000,
            sendingNanoseconds: 500_000_000)
        #expect(outcome.signaturesPerSecond == 10)
        #expect(outcome.customersPerSecond == 20)
    }
}
