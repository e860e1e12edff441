import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct RefreshingTests {
    @Test func `every configured world is told, and found again by a customer's key`() throws {
        let fixture = try ServiceFixture.fetching()
        let service = fixture.service
        #expect(service.scopes.map(\.scope.environment) == [.production, .sandbox])
        try fixture.upload("ann", try fixture.transaction("1"))
        let key = try fixture.plan(.customer("ann")).key
        #expect(service.scopeIndex(of: key) == fixture.scope)
        #expect(service.scopeIndex(of: CustomerKey(scope: ScopeNumber(77), number: 1)) == nil)
    }

    @Test func `a mark that does not decode is damage, and says so`() throws {
        let fixture = try ServiceFixture.fetching()
        let service = fixture.service
        let key = try fixtureKey(fixture)
        var changes = ChangeSet()
        changes.put([1], for: Key.mark(.sweepFinished, of: key.scope), in: .meta)
        try fixture.store.commit(changes)
        do throws(Refusal) {
            _ = try service.mark(.sweepFinished, of: fixture.scope)
            Issue.record("a mark of one byte")
        } catch {
            #expect(error.reason == .storeDamaged)
        }
    }

    private func fixtureKey(_ fixture: ServiceFixture) throws -> CustomerKey {
        try fixture.upload("ann", try fixture.transaction("1"))
        return try fixture.plan(.customer("ann")).key
    }

    @Test func `marks move forwards only, each world's for itself, and outlive the process`() throws
    {
        let fixture = try ServiceFixture.fetching()
        let service = fixture.service
        let sandbox = try #require(
            fixture.desk.scopeIndex(
                Scope(bundleID: "com.example.meadow", environment: .sandbox)))
        #expect(try service.mark(.sweepFinished, of: fixture.scope) == nil)
        let revision = service.revision
        for (instant, expected) in [(5, 5), (4, 5), (5, 5), (6, 6)] as [(Int64, Int64)] {
            let event = service.event(
                moving: .sweepFinished, of: fixture.scope, to: Timestamp(milliseconds: instant))
            #expect(try fixture.commit(event) == .noted(revision: revision))
            #expect(
                try service.mark(.sweepFinished, of: fixture.scope)?.milliseconds == expected)
        }
        #expect(try service.mark(.notificationsComplete, of: fixture.scope) == nil)
        #expect(try service.mark(.sweepFinished, of: sandbox) == nil)
        #expect(service.revision == revision)
        // Two of one group.
        for result in service.commit([
            service.event(
                moving: .notificationsComplete, of: sandbox, to: Timestamp(milliseconds: 9)),
            service.event(
                moving: .notificationsComplete, of: sandbox, to: Timestamp(milliseconds: 8)),
        ]) { _ = try result.get() }
        let reopened = try ServiceFixture.fetching(store: fixture.store)
        #expect(try reopened.service.mark(.sweepFinished, of: fixture.scope)?.milliseconds == 6)
        #expect(
            try reopened.service.mark(.notificationsComplete, of: sandbox)?.milliseconds == 9)
    }
}
