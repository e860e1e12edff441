import Entitlements
import Service
import Storage
import Synchronization
import TestSupport
import Testing

@Suite struct LedgerLinksTests {
    @Test func `said twice is said once`() throws {
        let fixture = try ServiceFixture()
        let first = try fixture.link("ann", .originalTransaction("1"), household: "h")
        let commits = fixture.store.commitCount
        let again = try fixture.link("ann", .originalTransaction("1"), household: "h")
        #expect(again.revision == first.revision)
        #expect(again.changes == [])
        #expect(fixture.store.commitCount == commits)
    }

    @Test func `a transfer moves a chain, and what it leaves behind stays`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("dan", try fixture.transaction("1"))
        try fixture.upload("dan", try fixture.transaction("2", product: "q"))
        let changes = try fixture.link("eve", .originalTransaction("1"), transfer: true).changes
        #expect(
            changes.map { "\($0.customerID) \($0.productID) \($0.isGranted)" }.sorted()
                == ["dan p false", "eve p true"])
        #expect(try fixture.reason("dan") == .noPurchase)
        #expect(try fixture.reason("dan", "q") == .active)
        #expect(try fixture.reason("eve") == .active)
        for name in ["dan", "eve"] {
            let audit = try fixture.view(.customer(name)).audit.map(\.action)
            #expect(audit.contains("TRANSFERRED"), "\(name)")
        }
        // A newer copy stays where the chain went.
        try fixture.notify("REFUND", transaction: try fixture.transaction("1", revoked: 2_000))
        #expect(try fixture.reason("eve") == .refunded)
        #expect(try fixture.reason("dan") == .noPurchase)
        // And it can be moved back.
        try fixture.link("dan", .originalTransaction("1"), transfer: true)
        #expect(try fixture.reason("dan") == .refunded)
    }

    @Test func `a transfer of what nobody has is a link`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("eve", .originalTransaction("1"), transfer: true)
        try fixture.notify("ONE_TIME_CHARGE", transaction: try fixture.transaction("1"))
        #expect(try fixture.reason("eve") == .active)
    }

    @Test func `a transfer of facts that nobody named merges them`() throws {
        let fixture = try ServiceFixture()
        try fixture.notify("ONE_TIME_CHARGE", transaction: try fixture.transaction("1"))
        try fixture.link("eve", .originalTransaction("1"), transfer: true)
        #expect(try fixture.reason("eve") == .active)
        #expect(fixture.service.reader.serverInfo().customerCount == 1)
    }
}

@Suite struct HouseholdCutTests {
    /// A buyer and five members in one household; the purchase is a subscription.
    static let members = ["mary", "tom", "ann", "ben", "joe"]

    private func makeFamily(_ fixture: ServiceFixture) throws {
        try fixture.link("buyer", .originalTransaction("1"), household: "h")
        try fixture.notify("SUBSCRIBED", transaction: try fixture.transaction("1", to: 90_000))
        for (index, member) in Self.members.enumerated() {
            let id = "\(index + 2)"
            try fixture.link(member, .originalTransaction(id), household: "h")
            try fixture.notify(
                "SUBSCRIBED", transaction: try fixture.transaction(id, to: 90_000, shared: true))
        }
    }

    @Test func `the refund cuts everybody in its own revision, and says whom`() throws {
        let fixture = try ServiceFixture()
        try makeFamily(fixture)
        let commits = fixture.store.commitCount
        let reply = try fixture.notify(
            "REFUND", transaction: try fixture.transaction("1", to: 90_000, revoked: 4_000))
        #expect(fixture.store.commitCount == commits + 1)
        #expect(Set(reply.changes.map(\.customerID)) == Set(Self.members + ["buyer"]))
        #expect(reply.changes.allSatisfy { !$0.isGranted && $0.wasGranted })
        for member in Self.members {
            #expect(try fixture.reason(member) == .familySuspended, "\(member)")
            #expect(try fixture.reason(member, at: 3_999) == .active, "\(member)")
        }
        #expect(try fixture.check("buyer").revision == reply.revision)
        let back = try fixture.notify(
            "REFUND_REVERSED",
            transaction: try fixture.transaction("1", to: 90_000, signed: 6_000))
        #expect(back.changes.count == 6)
        #expect(try fixture.reason("joe") == .active)
    }

    @Test func `joining and leaving change the others at once`() throws {
        let fixture = try ServiceFixture()
        try makeFamily(fixture)
        try fixture.notify(
            "REFUND", transaction: try fixture.transaction("1", to: 90_000, revoked: 4_000))
        // Somebody who bought it too joins: nobody is cut any more.
        try fixture.link("zoe", .originalTransaction("20"))
        try fixture.notify("SUBSCRIBED", transaction: try fixture.transaction("20", to: 90_000))
        let joined = try fixture.link("zoe", household: "h")
        #expect(Set(joined.changes.map(\.customerID)) == Set(Self.members))
        #expect(joined.changes.allSatisfy { $0.isGranted })
        #expect(try fixture.reason("tom") == .active)
        let left = try fixture.link("zoe", leave: true)
        #expect(Set(left.changes.map(\.customerID)) == Set(Self.members))
        #expect(try fixture.reason("tom") == .familySuspended)
        // The buyer moves to a household of his own.
        let moved = try fixture.link("buyer", household: "other")
        #expect(Set(moved.changes.map(\.customerID)) == Set(Self.members))
        #expect(try fixture.reason("tom") == .active)
        #expect(try fixture.view(.customer("buyer")).householdID == "other")
        let audit = try fixture.view(.customer("buyer")).audit.map(\.action)
        #expect(audit.suffix(2) == ["HOUSEHOLD_LEFT", "HOUSEHOLD_JOINED"])
    }

    @Test func `a chain that moves takes the cut with it`() throws {
        let fixture = try ServiceFixture()
        try makeFamily(fixture)
        try fixture.notify(
            "REFUND", transaction: try fixture.transaction("1", to: 90_000, revoked: 4_000))
        let changes = try fixture.link("stranger", .originalTransaction("1"), transfer: true)
            .changes
        #expect(Set(changes.filter(\.isGranted).map(\.customerID)) == Set(Self.members))
        try fixture.link("stranger", household: "h")
        #expect(try fixture.reason("ben") == .familySuspended)
    }

    @Test func `facts that nobody named count once they are a member's`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("mary", .originalTransaction("2"), household: "h")
        try fixture.notify(
            "SUBSCRIBED", transaction: try fixture.transaction("2", to: 90_000, shared: true))
        try fixture.notify(
            "REFUND", transaction: try fixture.transaction("1", to: 90_000, revoked: 4_000))
        #expect(try fixture.reason("mary") == .active)
        try fixture.link("buyer", household: "h")
        let changes = try fixture.link("buyer", .originalTransaction("1")).changes
        #expect(changes.contains { $0.customerID == "mary" && !$0.isGranted })
        #expect(try fixture.reason("mary") == .familySuspended)
    }

    @Test func `a reader of several sees all of the family cut or none`() async throws {
        let fixture = try ServiceFixture()
        try makeFamily(fixture)
        let calls = try (0..<120).map { round in
            try fixture.notification(
                "PRICE_INCREASE", signed: 10_000 + Int64(round),
                transaction: try fixture.transaction(
                    "1", to: 90_000, revoked: round.isMultiple(of: 2) ? 4_000 : nil,
                    signed: 10_000 + Int64(round)))
        }
        let isDone = Flag()
        let mixed = Atomic64()
        let seen = Atomic64()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let desk = ServiceDesk(fixture.service)
                let names = Self.members.map { CustomerReference.customer($0) }
                while !isDone.isSet {
                    let verdicts = try? desk.checkTogether(
                        names, "p", at: ServiceFixture.date(5_000), in: fixture.scope)
                    if Set((verdicts ?? []).map(\.reason)).count != 1 { _ = mixed.next() }
                    _ = seen.next()
                    await Task.yield()
                }
            }
            group.addTask {
                for call in calls {
                    _ = fixture.desk.perform(call)
                    await Task.yield()
                }
                isDone.set()
            }
        }
        #expect(mixed.current == 0)
        #expect(seen.current > 0)
    }
}

/// Set once.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
