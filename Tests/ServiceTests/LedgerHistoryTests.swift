import AppStore
import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct LedgerHistoryTests {
    private func makeFixture() throws -> ServiceFixture {
        let fixture = try ServiceFixture.fetching()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(50_000))
        return fixture
    }

    @Test func `a history that was never seen is one customer's, whole`() throws {
        let fixture = try makeFixture()
        try fixture.link("ann", .originalTransaction("1"))
        let reply = try fixture.rebuild(
            "ann",
            fixture.history(
                fixture.transaction("1", product: "life"),
                fixture.transaction("2", product: "gone", revoked: 3_000),
                fixture.transaction("4", original: "3", from: 2_000, to: 90_000)))
        #expect(reply.source == .appStore)
        #expect(reply.transactionCount == 3)
        #expect(reply.problems == [])
        #expect(reply.changes.map(\.productID) == ["gone", "life", "p"])
        #expect(reply.changes.map(\.reason) == [.refunded, .active, .active])
        #expect(reply.entitlements.map(\.productID) == ["gone", "life", "p"])
        #expect(try fixture.reason("ann", "life") == .active)
        #expect(try fixture.check("ann").revision == reply.revision)
        #expect(fixture.service.reader.serverInfo().customerCount == 1)
        let view = try fixture.view(.customer("ann"))
        #expect(view.transactionCount == 3)
        #expect(view.refreshedAt == ServiceFixture.date(50_000))
        #expect(view.audit.last?.action == "REBUILT")
        #expect(view.audit.last?.detail.contains("items: 3, new or changed: 3") == true)
        #expect(view.transactions.allSatisfy { !$0.payload.isEmpty })
    }

    /// A1: a transaction was revoked while the pages were turned, and comes again.
    @Test(arguments: [false, true])
    func `of two copies in one history the one signed last counts`(isReversed: Bool) throws {
        let fixture = try makeFixture()
        try fixture.link("hob", .originalTransaction("1"))
        var pages = [
            try fixture.transaction("1"), try fixture.transaction("2", product: "q"),
            try fixture.transaction("1", revoked: 30_000, signed: 31_000),
        ]
        if isReversed { pages.reverse() }
        try fixture.rebuild("hob", fixture.history(of: pages))
        #expect(try fixture.reason("hob", at: 40_000) == .refunded)
        #expect(try fixture.view(.customer("hob")).transactionCount == 2)
    }

    @Test func `a copy older than the stored one changes nothing`() throws {
        let fixture = try makeFixture()
        try fixture.link("ann", .originalTransaction("1"))
        try fixture.notify(
            "REFUND", transaction: try fixture.transaction("1", revoked: 4_000, signed: 9_000))
        let reply = try fixture.rebuild(
            "ann", fixture.history(fixture.transaction("1", signed: 8_999)))
        #expect(reply.changes == [])
        #expect(try fixture.reason("ann") == .refunded)
        let newer = try fixture.rebuild(
            "ann", fixture.history(fixture.transaction("1", signed: 9_001)))
        #expect(newer.changes.map(\.isGranted) == [true])
        #expect(try fixture.reason("ann", at: 10_000) == .active)
    }

    @Test func `what a history leaves out stays`() throws {
        let fixture = try makeFixture()
        try fixture.upload(
            "ann", try fixture.transaction("1"), try fixture.transaction("2", product: "q"))
        let reply = try fixture.rebuild("ann", fixture.history())
        #expect(reply.changes == [])
        #expect(reply.entitlements.map(\.reason) == [.active, .active])
        try fixture.rebuild("ann", fixture.history(fixture.transaction("2", product: "q")))
        #expect(try fixture.reason("ann") == .active)
        #expect(try fixture.view(.customer("ann")).transactionCount == 2)
    }

    @Test func `the same facts signed anew leave no trace but their dates`() throws {
        let fixture = try makeFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        let audit = try fixture.audit("ann")
        try fixture.rebuild("ann", fixture.history(fixture.transaction("1", signed: 7_000)))
        #expect(try fixture.audit("ann") == audit)
        let view = try fixture.view(.customer("ann"))
        #expect(
            view.transactions[0].transaction.signedDate.milliseconds
                == ServiceFixture.date(7_000))
        // To the byte the same: not even a revision.
        let revision = fixture.service.revision
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(60_000))
        let reply = try fixture.rebuild(
            "ann", fixture.history(fixture.transaction("1", signed: 7_000)))
        #expect(reply.revision == revision)
        #expect(fixture.service.revision == revision)
        #expect(try fixture.view(.customer("ann")).refreshedAt == ServiceFixture.date(60_000))
    }

    @Test func `a dry run says what would change and writes not a byte`() throws {
        let fixture = try makeFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        try fixture.link("ben", .originalTransaction("9"), household: "h")
        try fixture.link("ann", household: "h")
        let history = try fixture.history(
            fixture.transaction("1", revoked: 4_000),
            fixture.transaction("2", product: "q", revoked: 5_000),
            fixture.transaction("3", product: "r"))
        let records = try fixture.records()
        let revision = fixture.service.revision
        let refusals = fixture.service.counters.refusalCounts
        let dry = try fixture.rebuild("ann", history, dryRun: true)
        #expect(try fixture.records() == records)
        #expect(fixture.service.revision == revision)
        #expect(dry.revision == revision)
        #expect(fixture.service.counters.refusalCounts == refusals)
        #expect(try fixture.reason("ann") == .active)
        // What it said is what comes.
        let real = try fixture.rebuild("ann", history)
        #expect(real.changes == dry.changes)
        #expect(real.entitlements == dry.entitlements)
        #expect(real.changes.map(\.reason) == [.refunded, .refunded, .active])
        #expect(real.revision == revision + 1)
    }

    @Test func `a dry run in a group leaves the others of the group alone`() throws {
        let fixture = try makeFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        let plan = try fixture.plan(.customer("ann"))
        let history = try fixture.history(fixture.transaction("1", revoked: 4_000))
        let refund = try fixture.service.prepare(
            fixture.notification("TEST", uuid: "u", transaction: nil))
        let results = fixture.service.commit([
            refund, fixture.service.event(applying: history, by: plan, isDryRun: true),
            fixture.service.event(queueing: [plan.key], for: .admin),
        ])
        for result in results { _ = try result.get() }
        #expect(try fixture.reason("ann") == .active)
        #expect(try fixture.queue() == ["ann ADMIN"])
    }

    @Test func `a history repairs a snapshot that is not what the facts say`() throws {
        let fixture = try makeFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        try damageSnapshots(of: fixture.store) { Array($0.prefix(5)) }
        let cold = try ServiceFixture(store: fixture.store, isWarm: false)
        #expect(throws: Refusal.self) { try cold.reason("ann") }
        let history = try cold.history(cold.transaction("1"))
        let dry = try cold.rebuild("ann", history, dryRun: true)
        #expect(dry.changes.map(\.isGranted) == [true])
        let reply = try cold.rebuild("ann", history)
        #expect(reply.changes == dry.changes)
        #expect(try cold.reason("ann") == .active)
        #expect(try cold.audit("ann").last == "REBUILT")
        #expect(try cold.rebuild("ann", history).changes == [])
    }

    @Test func `what was not believed is told, and the rest stands`() throws {
        let fixture = try makeFixture()
        try fixture.link("ann", .originalTransaction("1"))
        var history = try fixture.history(
            fixture.transaction("1"), renewals: [fixture.renewal("77", signed: 2_000)])
        history.problems = [
            AppleHistory.Problem(
                error: .malformedPayload("three segments were expected"), place: "page 1, item 2")
        ]
        history.itemCount = 2
        let reply = try fixture.rebuild("ann", history)
        #expect(reply.problems.map(\.reason) == [.malformedPayload, .renewalMismatch])
        #expect(reply.problems[0].message.hasPrefix("page 1, item 2: "))
        #expect(try fixture.reason("ann") == .active)
        let record = fixture.service.reader.serverInfo()
        #expect(record.transactionCount == 1)
    }

    @Test func `a history of another world than its plan is refused`() throws {
        let fixture = try makeFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        var history = try fixture.history(fixture.transaction("1", revoked: 2_000))
        history.scope = Scope(bundleID: "com.example.meadow", environment: .sandbox)
        let plan = try fixture.plan(.customer("ann"))
        let event = fixture.service.event(applying: history, by: plan, isDryRun: false)
        #expect(throws: Refusal.self) { try fixture.commit(event) }
        #expect(try fixture.reason("ann") == .active)
    }
}

@Suite struct HistoryStatusTests {
    private func overridden(_ fixture: ServiceFixture) throws {
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(50_000))
        try fixture.upload("mia", try fixture.transaction("1", to: 90_000, shared: true))
        try fixture.notify(
            "REVOKE", signed: 5_000,
            transaction: try fixture.transaction("1", to: 90_000, shared: true, signed: 4_000))
        #expect(try fixture.reason("mia", at: 6_000) == .familyLeft)
    }

    /// 4.5 (b): status 1 or 4, signed after the REVOKE; a copy alone clears nothing.
    @Test(
        arguments: [
            (1, 5_001, AccessReason.active), (4, 5_001, .active), (1, 5_000, .familyLeft),
            (2, 9_000, .familyLeft), (3, 9_000, .familyLeft), (5, 9_000, .familyLeft),
        ] as [(Int32, Int64, AccessReason)])
    func `an active status signed after it clears a REVOKE without a date`(
        status: Int32, signed: Int64, expected: AccessReason
    ) throws {
        let fixture = try ServiceFixture.fetching()
        try overridden(fixture)
        let copy = try fixture.transaction("1", to: 90_000, shared: true, signed: 9_000)
        try fixture.rebuild("mia", fixture.history(copy))
        #expect(try fixture.reason("mia", at: 10_000) == .familyLeft)
        try fixture.rebuild(
            "mia",
            fixture.history(
                copy, statuses: [FixtureStatus(chain: "1", status: status, signed: signed)]))
        #expect(try fixture.reason("mia", at: 10_000) == expected)
    }

    @Test func `a status counts though its transaction is stored already and does not come along`()
        throws
    {
        let fixture = try ServiceFixture.fetching()
        try overridden(fixture)
        let reply = try fixture.rebuild(
            "mia",
            fixture.history(statuses: [FixtureStatus(chain: "1", status: 1, signed: 6_000)]))
        #expect(reply.changes.map(\.isGranted) == [true])
        // And one for a transaction that nobody knows counts for nobody.
        let stranger = FixtureStatus(chain: "8", status: 1, signed: 6_000)
        #expect(try fixture.rebuild("mia", fixture.history(statuses: [stranger])).changes == [])
    }

    /// The rest of an earlier period must not come back once the later one is revoked too.
    @Test func `a status says nothing of an older transaction of its chain`() throws {
        let fixture = try ServiceFixture.fetching()
        try overridden(fixture)
        let later = try fixture.transaction(
            "2", original: "1", from: 10_000, to: 20_000, shared: true)
        try fixture.rebuild(
            "mia",
            fixture.history(
                later,
                statuses: [
                    FixtureStatus(chain: "1", transaction: "2", status: 1, signed: 11_000)
                ]))
        #expect(try fixture.reason("mia", at: 15_000) == .active)
        #expect(try fixture.reason("mia", at: 6_000) == .familyLeft)
        try fixture.notify(
            "REVOKE",
            transaction: try fixture.transaction(
                "2", original: "1", from: 10_000, to: 20_000, shared: true, revoked: 12_000))
        #expect(try !fixture.check("mia", at: 15_000).isGranted)
        #expect(try !fixture.check("mia", at: 30_000).isGranted)
    }

    /// A5: several groups, several chains; an empty answer changes nothing.
    @Test func `every chain of every group counts`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.link("joy", .originalTransaction("730"))
        try fixture.link("joy", .originalTransaction("740"))
        let history = try fixture.history(
            fixture.transaction("730", to: 5_000),
            fixture.transaction("740", product: "radio", from: 6_000, to: 90_000),
            renewals: [fixture.renewal("730", signed: 5_000)],
            statuses: [
                FixtureStatus(chain: "730", status: 2, signed: 6_000),
                FixtureStatus(chain: "740", status: 1, signed: 6_000),
            ])
        try fixture.rebuild("joy", history)
        try fixture.rebuild("joy", fixture.history())
        #expect(try fixture.reason("joy", "radio", at: 7_000) == .active)
        #expect(try fixture.reason("joy", at: 7_000) == .expired)
    }
}
