import AppStore
import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// The queue as it is stored: durable, one job per customer, never ended by an older fetch.
@Suite struct WorkspaceRefreshesTests {
    private func makeQueued(_ store: MemoryStore = MemoryStore()) throws -> ServiceFixture {
        let fixture = try ServiceFixture.fetching(store: store)
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(10_000))
        try fixture.upload("mia", try fixture.transaction("1", to: 90_000, shared: true))
        try fixture.notify(
            "REVOKE", transaction: try fixture.transaction("1", to: 90_000, shared: true))
        return fixture
    }

    private var throttled: Refusal {
        Refusal(.appStoreThrottled, "wait", retryAfterMilliseconds: 9)
    }

    private func job(_ fixture: ServiceFixture, _ name: String = "mia") throws -> RefreshJob? {
        try fixture.view(.customer(name)).queuedRefresh?.job
    }

    @Test func `the queue outlives the process, and a cut fetch ends nothing`() throws {
        let store = MemoryStore()
        let first = try makeQueued(store)
        let plan = try first.queuedPlan()
        // Half of the answer came, then the process was gone.
        let part = try first.history(first.transaction("2", product: "q", from: 2_000))
        let reply = try first.keep(part, by: plan)
        #expect(reply.changes.map(\.productID) == ["q"])
        let second = try ServiceFixture.fetching(store: store)
        #expect(try second.queue() == ["mia REVOKE"])
        #expect(try second.reason("mia", "q") == .active)
        #expect(try second.reason("mia", at: 20_000) == .familyLeft)
        #expect(try second.view(.customer("mia")).refreshedAt == 0)
        let whole = try second.history(
            second.transaction("1", to: 90_000, shared: true, revoked: 1_500, signed: 2_000),
            second.transaction("2", product: "q", from: 2_000))
        try second.apply(whole, by: try second.queuedPlan())
        #expect(try second.queue() == [])
        #expect(try second.view(.customer("mia")).refreshedAt > 0)
        #expect(try second.reason("mia", at: 20_000) == .familyRefunded)
        let third = try ServiceFixture.fetching(store: store)
        #expect(try third.queue() == [])
    }

    @Test func `half of a history takes nothing away`() throws {
        let fixture = try makeQueued()
        try fixture.upload("ann", try fixture.transaction("7", product: "life"))
        let plan = try fixture.plan(.customer("ann"))
        try fixture.keep(fixture.history(), by: plan)
        #expect(try fixture.reason("ann", "life") == .active)
        #expect(try fixture.view(.customer("ann")).refreshedAt == 0)
    }

    @Test func `what asks again while a fetch is under way stays queued`() throws {
        let fixture = try makeQueued()
        let plan = try fixture.queuedPlan()
        try fixture.notify(
            "REVOKE", signed: 5_000,
            transaction: try fixture.transaction("1", to: 90_000, shared: true, signed: 5_000))
        try fixture.apply(try fixture.history(), by: plan)
        #expect(try fixture.queue() == ["mia REVOKE"])
        try fixture.apply(try fixture.history(), by: try fixture.queuedPlan())
        #expect(try fixture.queue() == [])
    }

    @Test func `an admin's request during a fetch stays queued as well`() throws {
        let fixture = try makeQueued()
        let plan = try fixture.queuedPlan()
        try fixture.commit(fixture.service.event(queueing: [plan.key], for: .admin))
        try fixture.apply(try fixture.history(), by: plan)
        #expect(try fixture.queue() == ["mia ADMIN"])
    }

    @Test func `a failed attempt is noted, and takes no revision`() throws {
        let fixture = try makeQueued()
        let plan = try fixture.queuedPlan()
        let before = try #require(try job(fixture))
        let revision = fixture.service.revision
        let later = Timestamp(milliseconds: ServiceFixture.date(70_000))
        for count in 1...2 {
            let event = fixture.service.event(noting: throttled, of: plan.key, notBefore: later)
            #expect(try fixture.commit(event) == .noted(revision: revision))
            let job = try #require(try job(fixture))
            #expect(job.attempts == UInt32(count))
            #expect(job.lastReason == "APP_STORE_THROTTLED")
            #expect(job.lastMessage == "wait")
            #expect(job.notBefore == later)
            #expect(job.queuedAt == before.queuedAt)
            #expect(job.revision == before.revision)
        }
        #expect(fixture.service.revision == revision)
        let reopened = try ServiceFixture.fetching(store: fixture.store)
        #expect(try reopened.service.dueRefreshes(at: fixture.clock.now, countMax: 9).due == [])
        #expect(try job(reopened)?.attempts == 2)
        #expect(reopened.service.revision == revision)
    }

    @Test func `after failures only an admin brings the next attempt forward`() throws {
        let fixture = try makeQueued()
        let key = try fixture.queuedPlan().key
        let later = Timestamp(milliseconds: ServiceFixture.date(70_000))
        try fixture.commit(fixture.service.event(noting: throttled, of: key, notBefore: later))
        try fixture.notify(
            "REVOKE", signed: 5_000,
            transaction: try fixture.transaction("1", to: 90_000, shared: true, signed: 5_000))
        #expect(try job(fixture)?.notBefore == later)
        try fixture.commit(fixture.service.event(queueing: [key], for: .admin))
        #expect(try job(fixture)?.notBefore == fixture.clock.now)
        #expect(try job(fixture)?.attempts == 1)
    }

    @Test func `a long message is cut, and a job that is gone stays gone`() throws {
        let fixture = try makeQueued()
        let key = try fixture.queuedPlan().key
        let long = Refusal(.appStoreIncomplete, String(repeating: "é", count: 100_000))
        try fixture.commit(
            fixture.service.event(noting: long, of: key, notBefore: fixture.clock.now))
        #expect(try job(fixture)?.lastMessage.count == 500)
        try fixture.apply(try fixture.history(), by: try fixture.queuedPlan())
        try fixture.commit(
            fixture.service.event(noting: long, of: key, notBefore: fixture.clock.now))
        #expect(try fixture.queue() == [])
    }

    @Test func `the customer who takes another one in takes his job`() throws {
        let fixture = try ServiceFixture.fetching()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(10_000))
        try fixture.notify("REVOKE", transaction: try fixture.transaction("1", shared: true))
        try fixture.notify(
            "REVOKE",
            transaction: try fixture.transaction("2", product: "q", shared: true))
        #expect(try fixture.queue() == ["1 REVOKE", "2 REVOKE"])
        let plan = try fixture.plan(.originalTransaction("1"))
        try fixture.link("ann", .originalTransaction("1"))
        #expect(try fixture.queue() == ["2 REVOKE", "ann REVOKE"])
        try fixture.link("ann", .originalTransaction("2"))
        #expect(try fixture.queue() == ["ann REVOKE"])
        let reopened = try ServiceFixture.fetching(store: fixture.store)
        #expect(try reopened.queue() == ["ann REVOKE"])
        // What was planned before she was one person did not ask for all of her.
        try fixture.apply(try fixture.history(), by: plan)
        #expect(try fixture.queue() == ["ann REVOKE"])
        #expect(try fixture.view(.customer("ann")).refreshedAt > 0)
        try fixture.apply(try fixture.history(), by: try fixture.plan(.customer("ann")))
        #expect(try fixture.queue() == [])
    }

    @Test func `of two fetches that became one customer's the older one counts`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.notify("TEST")
        for (id, at) in [("1", Int64(20_000)), ("2", 10_000), ("3", 0)] {
            try fixture.upload("", try fixture.transaction(id, product: id))
            guard at > 0 else { continue }
            fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(at))
            try fixture.apply(
                try fixture.history(), by: try fixture.plan(.originalTransaction(id)))
        }
        func refreshedAt() throws -> Int64 { try fixture.view(.customer("ann")).refreshedAt }
        try fixture.link("ann", .originalTransaction("1"))
        #expect(try refreshedAt() == ServiceFixture.date(20_000))
        try fixture.link("ann", .originalTransaction("2"))
        #expect(try refreshedAt() == ServiceFixture.date(10_000))
        // Of the third one's facts nobody asked Apple yet.
        try fixture.link("ann", .originalTransaction("3"))
        #expect(try refreshedAt() == 0)
    }

    @Test func `a record that does not decode is fetched, not forgotten`() throws {
        let fixture = try makeQueued()
        let key = try fixture.queuedPlan().key
        var changes = ChangeSet()
        changes.put([9, 9], for: Key.refresh(key), in: .refreshes)
        try fixture.store.commit(changes)
        let reopened = try ServiceFixture.fetching(store: fixture.store)
        #expect(try reopened.queue() == ["mia ADMIN"])
        let due = try reopened.service.dueRefreshes(at: reopened.clock.now, countMax: 1).due
        #expect(due.map(\.job.lastReason) == ["STORE_DAMAGED"])
        try reopened.apply(try reopened.history(), by: try reopened.queuedPlan())
        #expect(try reopened.queue() == [])
    }
}
