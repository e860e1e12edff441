import AppStore
import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct RefreshTallyTests {
    private func view(_ fixture: ServiceFixture) throws -> ReconciliationView {
        let query = PageQuery(scope: fixture.scope)
        guard case .reconciliation(let view) = try fixture.service.read(.reconciliation(query))
        else { throw UnexpectedReply() }
        return view
    }

    @Test func `whole answers and failures are counted, dry runs and parts are not`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("ann", try fixture.transaction("1"))
        let plan = try fixture.plan(.customer("ann"))
        try fixture.apply(try fixture.history(), by: plan, dryRun: true)
        try fixture.keep(try fixture.history(), by: plan)
        #expect(try view(fixture).succeededCount == 0)
        #expect(try view(fixture).lastFailure == nil)
        try fixture.apply(try fixture.history(), by: plan)
        #expect(try view(fixture).succeededCount == 1)
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(9))
        let refusal = Refusal(.appStoreUnauthorized, "the key was revoked")
        try fixture.commit(
            fixture.service.event(noting: refusal, of: plan.key, notBefore: fixture.clock.now))
        #expect(try view(fixture).failedCount == 1)
        #expect(
            try view(fixture).lastFailure
                == RefreshFailure(at: fixture.clock.now, refusal: refusal))
    }

    @Test func `what the store did not take is not counted`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("ann", try fixture.transaction("1"))
        let plan = try fixture.plan(.customer("ann"))
        fixture.store.failCommits(next: 1)
        let event = fixture.service.event(
            applying: try fixture.history(), by: plan, isDryRun: false)
        #expect(throws: Refusal.self) { try fixture.commit(event) }
        #expect(try view(fixture).succeededCount == 0)
    }
}
