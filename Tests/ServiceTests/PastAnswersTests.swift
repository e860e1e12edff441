import Entitlements
import Storage
import TestSupport
import Testing

@testable import Service

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

    private let ann = Identity(.customer, "ann")
    private let scope = ScopeNumber(1)

    @Test func `what was made is kept until the customer changes`() throws {
        let fixture = try makeFixture()
        try fill(fixture)
        let answers = PastAnswers(fixture.store)
        let first = try #require(try answers.snapshot(of: ann, in: scope))
        #expect(answers.byteCount == first.count)
        // Behind the ledger's back: the record says that nothing has changed.
        var changes = ChangeSet()
        try fixture.store.scan(.transactions, prefix: [], from: nil, reversed: false) { key, _ in
            changes.delete(key, in: .transactions)
            return true
        }
        try fixture.store.commit(changes)
        #expect(try answers.snapshot(of: ann, in: scope) == first)
        try fixture.link("ann", .appTransaction("A"))
        let second = try #require(try answers.snapshot(of: ann, in: scope))
        #expect(second.count < first.count)
        #expect(answers.byteCount == second.count)
    }

    @Test func `what is kept has a bound, and who was asked about last stays`() throws {
        let fixture = try makeFixture()
        try fill(fixture)
        for number in 20..<30 {
            try fixture.upload("bob", try fixture.transaction("\(number)", original: "20"))
        }
        let bob = Identity(.customer, "bob")
        let none = PastAnswers(fixture.store, byteCountMax: 1)
        #expect(try none.snapshot(of: ann, in: scope) != nil)
        #expect(none.byteCount == 0)
        let size = try #require(try none.snapshot(of: ann, in: scope)).count
        let one = PastAnswers(fixture.store, byteCountMax: size + size / 2)
        for identity in [ann, bob, ann] {
            #expect(try one.snapshot(of: identity, in: scope) != nil)
            #expect((1...size + size / 2).contains(one.byteCount))
        }
        #expect(one.byteCount == size)
        #expect(try one.snapshot(of: Identity(.customer, "nobody"), in: scope) == nil)
    }
}
