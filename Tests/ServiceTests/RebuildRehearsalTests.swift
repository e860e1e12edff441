import Entitlements
import Storage
import TestSupport
import Testing

@testable import Service

@Suite struct RebuildRehearsalTests {
    private func makeFixture() throws -> ServiceFixture {
        let fixture = try ServiceFixture()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        try fixture.upload("ann", try fixture.transaction("1", to: 90_000))
        return fixture
    }

    /// A rebuild as a worker hands it on.
    private func prepare(
        _ fixture: ServiceFixture, _ customer: CustomerReference = .customer("ann"),
        dryRun: Bool = false
    ) throws -> Event {
        try fixture.service.prepare(
            .rebuild(
                RebuildRequest(customer: customer, isDryRun: dryRun, scope: fixture.scope)))
    }

    private func rehearsal(of event: Event) -> RebuildRehearsal? {
        guard case .rebuild(let rebuild) = event.content else { return nil }
        return rebuild.rehearsal
    }

    private func commit(_ fixture: ServiceFixture, _ event: Event) throws -> RebuildReply {
        guard case .rebuild(let reply)? = try fixture.service.commit([event]).first?.get() else {
            throw UnexpectedReply()
        }
        return reply
    }

    @Test(arguments: [false, true])
    func `what a worker found is the answer, with the revision of the commit`(
        isDryRun: Bool
    ) throws {
        let fixture = try makeFixture()
        let event = try prepare(fixture, dryRun: isDryRun)
        #expect(rehearsal(of: event)?.reply.transactionCount == 1)
        // Somebody else's facts change nothing about it.
        try fixture.upload("bob", try fixture.transaction("7"))
        let reply = try commit(fixture, event)
        #expect(reply.transactionCount == 1)
        #expect(reply.revision == fixture.service.revision)
        #expect(reply.entitlements.map(\.reason) == [.active])
    }

    @Test func `who changed since is rebuilt anew`() throws {
        let fixture = try makeFixture()
        let event = try prepare(fixture)
        try fixture.upload("ann", try fixture.transaction("2", product: "q"))
        let reply = try commit(fixture, event)
        #expect(reply.transactionCount == 2)
        #expect(reply.entitlements.map(\.productID) == ["p", "q"])
    }

    @Test func `who changes in the same group is, too`() throws {
        let fixture = try makeFixture()
        let rebuild = try prepare(fixture)
        let upload = try fixture.service.prepare(
            .transactions(
                TransactionUpload(
                    customerID: "ann",
                    signedTransactions: [try fixture.transaction("2", product: "q")])))
        guard case .rebuild(let reply) = try fixture.service.commit([upload, rebuild])[1].get()
        else { throw UnexpectedReply() }
        #expect(reply.transactionCount == 2)
    }

    @Test func `a name that has come to mean somebody else is followed`() throws {
        let fixture = try makeFixture()
        try fixture.upload("bob", try fixture.transaction("7", product: "q"))
        let event = try prepare(fixture, .originalTransaction("1"))
        let move = WriteCall.link(
            LinkRequest(
                customerID: "bob", identity: .originalTransaction("1"), scope: fixture.scope,
                isTransfer: true))
        _ = try fixture.desk.perform(move).get()
        #expect(try commit(fixture, event).entitlements.map(\.productID) == ["p", "q"])
    }

    @Test func `a merged customer is found under the number that his name had`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("", try fixture.transaction("1", to: 90_000))
        try fixture.link("ann", .originalTransaction("1"))
        let event = try prepare(fixture, .originalTransaction("1"))
        #expect(rehearsal(of: event) != nil)
        #expect(try commit(fixture, event).transactionCount == 1)
    }

    @Test func `what is to be repaired is left to the commit thread`() throws {
        let fixture = try makeFixture()
        try damageSnapshots(of: fixture.store) { _ in [1, 2, 3] }
        let event = try prepare(fixture)
        #expect(rehearsal(of: event) == nil)
        #expect(try commit(fixture, event).transactionCount == 1)
        #expect(rehearsal(of: try prepare(fixture)) != nil)
    }

    @Test(arguments: [Keyspace.refunds, .matches])
    func `so is what is missing among refunds and families`(keyspace: Keyspace) throws {
        let fixture = try makeFixture()
        try fixture.upload("ann", try fixture.transaction("2", product: "q", revoked: 2_000))
        #expect(rehearsal(of: try prepare(fixture)) != nil)
        var changes = ChangeSet()
        try fixture.store.scan(keyspace, prefix: [], from: nil, reversed: false) { key, _ in
            changes.delete(key, in: keyspace)
            return true
        }
        #expect(!changes.isEmpty)
        try fixture.store.commit(changes)
        let event = try prepare(fixture)
        #expect(rehearsal(of: event) == nil)
        #expect(rehearsal(of: try prepare(fixture, dryRun: true)) != nil)
        _ = try commit(fixture, event)
        #expect(rehearsal(of: try prepare(fixture)) != nil)
    }

    @Test func `a household decides together, and nobody is nobody`() throws {
        let fixture = try makeFixture()
        try fixture.link("ann", .originalTransaction("1"), household: "h")
        #expect(rehearsal(of: try prepare(fixture)) == nil)
        #expect(rehearsal(of: try prepare(fixture, .customer("nobody"))) == nil)
    }
}
