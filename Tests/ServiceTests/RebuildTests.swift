import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct RebuildTests {
    private func rebuild(
        _ fixture: ServiceFixture, _ customer: CustomerReference = .customer("ann"),
        dryRun: Bool = false
    ) throws -> RebuildReply {
        let call = WriteCall.rebuild(
            RebuildRequest(customer: customer, isDryRun: dryRun, scope: fixture.scope))
        guard case .rebuild(let reply) = try fixture.desk.perform(call).get() else {
            throw UnexpectedReply()
        }
        return reply
    }

    private func makeFixture() throws -> ServiceFixture {
        let fixture = try ServiceFixture()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        try fixture.upload(
            "ann", try fixture.transaction("1", to: 90_000),
            try fixture.transaction("2", product: "q", revoked: 2_000))
        return fixture
    }

    @Test func `a rebuild of what is right changes nothing`() throws {
        let fixture = try makeFixture()
        let revision = fixture.service.revision
        let reply = try rebuild(fixture)
        #expect(reply.source == .storedFacts)
        #expect(reply.transactionCount == 2)
        #expect(reply.changes == [])
        #expect(reply.revision == revision)
        #expect(fixture.service.revision == revision)
        #expect(reply.entitlements.map(\.productID) == ["p", "q"])
        #expect(reply.entitlements.map(\.reason) == [.active, .refunded])
        #expect(reply.entitlements.map(\.isPaymentReversed) == [false, true])
    }

    /// What the group has changed so far is in no stored snapshot yet when the rebuild looks.
    @Test(arguments: [false, true])
    func `a rebuild in one group with a change of the same customer finds nothing wrong`(
        isDryRun: Bool
    ) throws {
        let fixture = try ServiceFixture()
        _ = try fixture.desk.perform(
            try fixture.notification("ONE_TIME_CHARGE", transaction: fixture.transaction("1"))
        ).get()
        let scope = fixture.scope
        let results = fixture.desk.performGroup([
            .link(
                LinkRequest(customerID: "ann", identity: .originalTransaction("1"), scope: scope)),
            try fixture.notification(
                "REFUND", transaction: try fixture.transaction("1", revoked: 2_000)),
            .rebuild(
                RebuildRequest(customer: .customer("ann"), isDryRun: isDryRun, scope: scope)),
        ])
        let revision = fixture.service.revision
        guard case .success(.rebuild(let reply)) = results[2] else { throw UnexpectedReply() }
        #expect(reply.changes == [])
        #expect(reply.revision == revision)
        #expect(reply.entitlements.map(\.reason) == [.refunded])
        let audit = try fixture.view(.customer("ann")).audit
        #expect(!audit.contains { $0.action == "REBUILT" })
        #expect(try rebuild(fixture).changes == [])
    }

    /// The whole snapshot of somebody else under her name: well formed, and wrong.
    @Test func `a wrong snapshot is shown by a dry run and repaired by a rebuild`() throws {
        let fixture = try makeFixture()
        let empty = try ServiceFixture()
        try empty.link("bob", .originalTransaction("9"))
        var wrong: [UInt8] = []
        try empty.store.scan(.snapshots, prefix: [], from: nil, reversed: false) { _, value in
            wrong = value
            return false
        }
        try damageSnapshots(of: fixture.store) { _ in wrong }
        let damaged = try ServiceFixture(store: fixture.store)
        damaged.clock.now = fixture.clock.now
        #expect(try damaged.reason("ann") == .noPurchase)
        let revision = damaged.service.revision
        let dry = try rebuild(damaged, dryRun: true)
        #expect(dry.changes.map(\.productID) == ["p", "q"])
        #expect(dry.changes.map(\.isGranted) == [true, false])
        #expect(dry.changes.map(\.reason) == [.active, .refunded])
        #expect(damaged.service.revision == revision)
        #expect(try damaged.reason("ann") == .noPurchase)

        let reply = try rebuild(damaged)
        #expect(reply.changes == dry.changes)
        #expect(reply.revision == revision + 1)
        #expect(damaged.service.revision == revision + 1)
        #expect(try damaged.reason("ann") == .active)
        #expect(try damaged.view(.customer("ann")).audit.map(\.action).contains("REBUILT"))
        #expect(try rebuild(damaged).changes == [])
    }

    @Test(arguments: [0, 5, 40])
    func `a snapshot that does not decode is repaired`(count: Int) throws {
        let fixture = try makeFixture()
        try damageSnapshots(of: fixture.store) { Array($0.prefix(count)) }
        let cold = try ServiceFixture(store: fixture.store, isWarm: false)
        cold.clock.now = fixture.clock.now
        #expect(throws: Refusal.self) { try cold.reason("ann") }
        #expect(try rebuild(cold, dryRun: true).changes.count == 2)
        #expect(throws: Refusal.self) { try cold.reason("ann") }
        #expect(try rebuild(cold).changes.count == 2)
        #expect(try cold.reason("ann") == .active)
        let reopened = try ServiceFixture(store: fixture.store)
        #expect(try reopened.reason("ann") == .active)
    }

    @Test(arguments: [true, false])
    func `how a rebuild is grouped with what came before it does not show`(isDry: Bool) throws {
        let fixture = try makeFixture()
        let refund = try fixture.notification(
            "REFUND", transaction: try fixture.transaction("1", to: 90_000, revoked: 4_000))
        let rebuild = WriteCall.rebuild(
            RebuildRequest(customer: .customer("ann"), isDryRun: isDry, scope: fixture.scope))
        let revision = fixture.service.revision
        let results = fixture.desk.performGroup([refund, rebuild])
        guard case .notification(let refunded) = try results[0].get(),
            case .rebuild(let rebuilt) = try results[1].get()
        else { throw UnexpectedReply() }
        #expect(refunded.changes.map(\.productID) == ["p"])
        #expect(rebuilt.changes == [])
        #expect(rebuilt.entitlements.map(\.reason) == [.refunded, .refunded])
        #expect(rebuilt.revision == revision + 1)
        #expect(fixture.service.revision == revision + 1)
        #expect(try !fixture.view(.customer("ann")).audit.map(\.action).contains("REBUILT"))
    }

    @Test func `a rebuild under one of Apple's names is the same person's`() throws {
        let fixture = try makeFixture()
        #expect(try rebuild(fixture, .originalTransaction("2")).transactionCount == 2)
    }

    @Test func `nobody's rebuild is refused`() throws {
        let fixture = try makeFixture()
        let call = WriteCall.rebuild(
            RebuildRequest(customer: .customer("zoe"), scope: fixture.scope))
        #expect(fixture.refusal(call) == .unknownCustomer)
        #expect(RefusalReason.unknownCustomer.status == .notFound)
    }

    @Test func `a rebuild of a member counts what the household bought`() throws {
        let fixture = try ServiceFixture()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        try fixture.link("ben", .originalTransaction("1"), household: "h")
        try fixture.link("mary", .originalTransaction("2"), household: "h")
        try fixture.upload("", try fixture.transaction("1", to: 90_000, revoked: 4_000))
        try fixture.upload("", try fixture.transaction("2", to: 90_000, shared: true))
        let reply = try rebuild(fixture, .customer("mary"))
        #expect(reply.changes == [])
        #expect(reply.entitlements.first?.reason == .familySuspended)
        #expect(reply.entitlements.first?.revokedAt == ServiceFixture.date(4_000))
    }
}
