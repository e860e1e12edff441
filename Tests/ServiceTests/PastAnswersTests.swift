import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct PastAnswersTests {
    private func makeFixture(isWarm: Bool = true, store: MemoryStore = MemoryStore()) throws
        -> ServiceFixture
    {
        let fixture = try ServiceFixture(store: store, isWarm: isWarm) {
            $0.longHistoryLimits = LongHistoryLimits(
                transactionCountMax: 4, headCount: 2, chainCountMax: 9)
        }
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(100_000))
        return fixture
    }

    /// Ten periods with gaps between them.
    private func fill(_ fixture: ServiceFixture) throws {
        for number in 0..<10 {
            let start = Int64(number) * 1_000 + 1_000
            try fixture.upload(
                "ann",
                try fixture.transaction(
                    "\(number)", original: "0", from: start, to: start + 500, signed: start))
        }
    }

    private func check(_ fixture: ServiceFixture) throws {
        for number in 0..<10 {
            let start = Int64(number) * 1_000 + 1_000
            let inside = try fixture.check("ann", at: start + 100)
            #expect(inside.reason == .active)
            #expect(inside.validUntil == ServiceFixture.date(start + 500))
            #expect(inside.transactionID == "\(number)")
            #expect(try fixture.reason("ann", at: start + 600) == .expired)
        }
        #expect(try fixture.reason("ann", at: 999) == .notStarted)
    }

    @Test func `a question about the past is answered from all facts`() throws {
        let fixture = try makeFixture()
        try fill(fixture)
        try check(fixture)
    }

    @Test func `it is after a restart, warm or not`() throws {
        let fixture = try makeFixture()
        try fill(fixture)
        try check(try makeFixture(store: fixture.store))
        try check(try makeFixture(isWarm: false, store: fixture.store))
    }

    @Test func `an entitlement of several products is, too`() throws {
        let fixture = try makeFixture()
        try fill(fixture)
        #expect(try fixture.reason("ann", "q", at: 1_100) == .noPurchase)
        #expect(try fixture.reason("bob", at: 1_100) == .unknownCustomer)
    }
}
