import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct RefreshPlanningTests {
    private func targets(_ plan: RefreshPlan) -> [String] {
        plan.targets.map { "\($0.id): \($0.chains.joined(separator: " "))" }
    }

    private func carrying(
        _ fixture: ServiceFixture, _ id: String, account: String?, to: Int64? = nil
    ) throws -> [UInt8] {
        try fixture.transaction(
            id, product: id, to: to, changes: ["appTransactionId": account.map { .string($0) }])
    }

    @Test func `one question per account, and one per chain whose account is not known`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload(
            "ann", try carrying(fixture, "1", account: "B"),
            try carrying(fixture, "2", account: "B"), try carrying(fixture, "3", account: "A"),
            try carrying(fixture, "4", account: nil), try carrying(fixture, "5", account: nil))
        let plan = try fixture.plan(.customer("ann"))
        #expect(targets(plan) == ["A: 3", "B: 1 2", "4: 4", "5: 5"])
        #expect(plan.revision == fixture.service.revision)
        #expect(!plan.wantsStatuses)
        #expect(try fixture.plan(.originalTransaction("4")) == plan)
        #expect(try fixture.service.refreshPlan(for: plan.key) == plan)
        try fixture.upload("ann", try carrying(fixture, "6", account: "A", to: 9_000))
        #expect(try fixture.plan(.customer("ann")).wantsStatuses)
    }

    @Test func `who has only been linked is asked for under what was linked`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("ann", .appTransaction("A"))
        try fixture.link("ann", .originalTransaction("7"))
        try fixture.link("ann", .appAccountToken("t"))
        let plan = try fixture.plan(.customer("ann"))
        #expect(targets(plan) == ["A: ", "7: 7"])
        #expect(plan.wantsStatuses)
        // Nobody can be asked for by a token.
        try fixture.link("bob", .appAccountToken("u"))
        #expect(try fixture.plan(.customer("bob")).targets == [])
    }

    @Test func `what was moved away is the other's to ask for`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("ann", try carrying(fixture, "1", account: nil))
        try fixture.link("ann", .appTransaction("A"))
        try fixture.link("eve", .originalTransaction("1"), transfer: true)
        try fixture.link("eve", .appTransaction("A"), transfer: true)
        #expect(try fixture.plan(.customer("ann")).targets == [])
        #expect(targets(try fixture.plan(.customer("eve"))) == ["A: ", "1: 1"])
    }

    @Test func `nobody has no plan`() throws {
        let fixture = try ServiceFixture.fetching()
        do {
            _ = try fixture.plan(.customer("zoe"))
            Issue.record("a plan for nobody")
        } catch let refusal as Refusal {
            #expect(refusal.reason == .unknownCustomer)
        }
    }

    @Test func `one merged into another, or of a world configured no more, has none`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("", try carrying(fixture, "1", account: nil))
        let key = try fixture.plan(.originalTransaction("1")).key
        try fixture.link("zoe", household: "h")
        try fixture.link("zoe", .originalTransaction("1"))
        #expect(try fixture.service.refreshPlan(for: key) == nil)
        let strange = CustomerKey(scope: ScopeNumber(77), number: 1)
        #expect(try fixture.service.refreshPlan(for: strange) == nil)
    }
}
