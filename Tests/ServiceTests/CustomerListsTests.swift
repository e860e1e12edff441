import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct CustomerListsTests {
    private func page(
        _ fixture: ServiceFixture, _ token: String = "", countMax: Int = 100, since: UInt64 = 0,
        in scope: ScopeIndex? = nil
    ) throws -> CustomerPage {
        let query = PageQuery(scope: scope ?? fixture.scope, pageToken: token, countMax: countMax)
        let reply = try fixture.service.read(.customers(query, changedSince: since))
        guard case .customers(let page) = reply else { throw UnexpectedReply() }
        return page
    }

    private func all(
        _ fixture: ServiceFixture, countMax: Int, since: UInt64 = 0
    ) throws -> [CustomerReference] {
        var (found, token): ([CustomerReference], String) = ([], "")
        repeat {
            let page = try page(fixture, token, countMax: countMax, since: since)
            #expect(page.customers.count <= countMax)
            found += page.customers.map(\.customer)
            token = page.nextPageToken
        } while !token.isEmpty
        return found
    }

    private func makeFixture() throws -> ServiceFixture {
        let fixture = try ServiceFixture()
        try fixture.upload("ann", try fixture.transaction("1"), try fixture.transaction("2"))
        try fixture.notify("ONE_TIME_CHARGE", transaction: try fixture.transaction("3"))
        try fixture.link("bob", .originalTransaction("9"))
        try fixture.upload(
            "", try fixture.transaction("4", changes: ["appTransactionId": "A"]))
        try fixture.upload("", try fixture.transaction("5"))
        return fixture
    }

    @Test(arguments: 1...6)
    func `every customer once, by the name to ask for him with`(countMax: Int) throws {
        let fixture = try makeFixture()
        let expected: [CustomerReference] = [
            .customer("ann"), .originalTransaction("3"), .customer("bob"), .appTransaction("A"),
            .originalTransaction("5"),
        ]
        #expect(try all(fixture, countMax: countMax) == expected)
        for name in expected { _ = try fixture.view(name) }
        let first = try page(fixture)
        #expect(first.customers.map(\.transactionCount) == [2, 1, 0, 1, 1])
        #expect(first.customerCount == 5)
        #expect(first.revision == fixture.service.revision)
        #expect(first.nextPageToken == "")
    }

    @Test func `whoever was merged is listed once, under the name that he has now`() throws {
        let fixture = try makeFixture()
        try fixture.link("bob", .originalTransaction("3"))
        #expect(
            try all(fixture, countMax: 1) == [
                .customer("ann"), .customer("bob"), .appTransaction("A"), .originalTransaction("5"),
            ])
    }

    @Test func `only those whom a revision or a later one changed`() throws {
        let fixture = try makeFixture()
        let revision = try fixture.notify(
            "REFUND", transaction: try fixture.transaction("1", revoked: 2_000)
        ).revision
        #expect(try all(fixture, countMax: 2, since: revision) == [.customer("ann")])
        #expect(try all(fixture, countMax: 2, since: revision + 1) == [])
        try fixture.link("bob", .originalTransaction("8"))
        #expect(
            try all(fixture, countMax: 1, since: revision) == [.customer("ann"), .customer("bob")])
    }

    @Test func `another world has a list of its own, and a foreign token is refused`() throws {
        let fixture = try makeFixture()
        let sandbox = try #require(
            fixture.desk.scopeIndex(
                Scope(bundleID: "com.example.meadow", environment: .sandbox)))
        #expect(try page(fixture, in: sandbox).customers == [])
        for token in ["x", "q1", "c01"] {
            #expect(throws: Refusal.self) { try page(fixture, token) }
        }
        #expect(throws: Refusal.self) {
            try fixture.service.read(
                .reconciliation(PageQuery(scope: fixture.scope, pageToken: "c1")))
        }
    }

    @Test func `the queue is told a page at a time, with how far the server has come`() throws {
        let fixture = try ServiceFixture.fetching()
        for id in 1...5 { try fixture.upload("c\(id)", try fixture.transaction("\(id)")) }
        let keys = try (1...5).map { try fixture.plan(.customer("c\($0)")).key }
        try fixture.commit(fixture.service.event(queueing: keys, for: .sweep))
        try fixture.commit(
            fixture.service.event(
                moving: .notificationsComplete, of: fixture.scope,
                to: Timestamp(milliseconds: 7)))
        var (names, token, pageCount): ([String], String, Int) = ([], "", 0)
        repeat {
            let query = PageQuery(scope: fixture.scope, pageToken: token, countMax: 2)
            guard case .reconciliation(let view) = try fixture.service.read(.reconciliation(query))
            else { throw UnexpectedReply() }
            #expect(view.isAppStoreConfigured)
            #expect(view.queuedCount == 5)
            #expect(view.notificationsCompleteUntil == 7)
            #expect(view.sweepFinishedAt == 0)
            names += view.refreshes.map(\.customerID)
            token = view.nextPageToken
            pageCount += 1
        } while !token.isEmpty
        #expect(names == ["c1", "c2", "c3", "c4", "c5"])
        #expect(pageCount == 3)
    }
}

@Suite struct SweepTests {
    private func sweep(
        _ fixture: ServiceFixture, countMax: Int = 100, fetchedBefore: Int64 = 1_000_000
    ) throws -> [String] {
        var (names, cursor): ([String], UInt64?) = ([], nil)
        repeat {
            let page = try fixture.service.sweepPage(
                of: fixture.scope, from: cursor, countMax: countMax,
                fetchedBefore: Timestamp(milliseconds: ServiceFixture.date(fetchedBefore)))
            #expect(page.customerCount <= countMax)
            for key in page.due {
                let plan = try #require(try fixture.service.refreshPlan(for: key))
                names.append(plan.targets.map(\.id).joined(separator: " "))
            }
            cursor = page.next
        } while cursor != nil
        return names
    }

    private func makeFixture(_ catalog: Catalog = Catalog()) throws -> ServiceFixture {
        let fixture = try ServiceFixture.fetching(catalog: catalog)
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        try fixture.upload("buyer", try fixture.transaction("1", to: 90_000))
        try fixture.upload("month", try fixture.transaction("2", to: 90_000, shared: true))
        try fixture.upload("life", try fixture.transaction("3", shared: true))
        try fixture.upload("over", try fixture.transaction("4", to: 5_000, shared: true))
        try fixture.upload("gone", try fixture.transaction("5", shared: true, revoked: 2_000))
        try fixture.upload(
            "both", try fixture.transaction("6", to: 90_000),
            try fixture.transaction("7", product: "q", shared: true))
        return fixture
    }

    @Test(arguments: [1, 2, 5, 100])
    func `whoever has an active family copy is due`(countMax: Int) throws {
        let fixture = try makeFixture()
        #expect(try sweep(fixture, countMax: countMax) == ["2", "3", "6 7"])
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(90_000))
        #expect(try sweep(fixture, countMax: countMax) == ["3", "6 7"])
    }

    @Test func `not whoever is queued, nor whoever was fetched lately`() throws {
        let fixture = try makeFixture()
        let keys = [try fixture.plan(.customer("life")).key]
        try fixture.commit(fixture.service.event(queueing: keys, for: .sweep))
        #expect(try sweep(fixture) == ["2", "6 7"])
        try fixture.rebuild("month", fixture.history())
        #expect(try sweep(fixture, fetchedBefore: 5_000) == ["6 7"])
        #expect(try sweep(fixture, fetchedBefore: 5_001) == ["2", "6 7"])
    }

    @Test func `a fetch in the future, for the clock was set back, does not count`() throws {
        let fixture = try makeFixture()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(8_000))
        for name in ["life", "both"] { try fixture.rebuild(name, fixture.history()) }
        #expect(try sweep(fixture, fetchedBefore: 0) == ["2"])
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(7_999))
        #expect(try sweep(fixture, fetchedBefore: 0) == ["2", "3", "6 7"])
    }

    /// The household's cut rests on a guess at who shares: only Apple can say that he still does.
    @Test func `a suspended copy is due as well`() throws {
        let fixture = try makeFixture()
        for name in ["buyer", "month"] { try fixture.link(name, household: "h") }
        try fixture.upload("buyer", try fixture.transaction("1", to: 90_000, revoked: 4_000))
        for name in ["buyer", "month"] { try fixture.rebuild(name, fixture.history()) }
        #expect(try fixture.reason("month") == .familySuspended)
        #expect(try sweep(fixture) == ["2", "3", "6 7"])
    }

    @Test func `whoever's snapshot does not decode is due, for a fetch repairs it`() throws {
        let fixture = try makeFixture()
        try damageSnapshots(of: fixture.store) { Array($0.prefix(3)) }
        #expect(try sweep(fixture).count == 6)
    }

    /// S3: one REVOKE of a family was lost.
    @Test func `a lost REVOKE is found`() throws {
        let fixture = try makeFixture()
        let due = try fixture.service.sweepPage(
            of: fixture.scope, from: nil, countMax: 100, fetchedBefore: .distantFuture
        ).due
        try fixture.commit(fixture.service.event(queueing: due, for: .sweep))
        #expect(try fixture.queue() == ["month SWEEP", "life SWEEP", "both SWEEP"])
        let reply = try fixture.rebuild(
            "life", fixture.history(fixture.transaction("3", shared: true, revoked: 3_000)))
        #expect(reply.changes.map(\.isGranted) == [false])
        #expect(try fixture.reason("life") == .familyRefunded)
        #expect(try fixture.audit("life").last == "REBUILT")
    }
}
