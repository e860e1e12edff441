import AppStore
import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct LedgerRefreshesTests {
    private func shared(
        _ fixture: ServiceFixture, _ id: String, revoked: Int64? = nil, signed: Int64? = nil
    ) throws -> [UInt8] {
        try fixture.transaction(id, to: 90_000, shared: true, revoked: revoked, signed: signed)
    }

    @Test func `without somebody who fetches nothing is queued`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("mia", try shared(fixture, "1"))
        try fixture.notify("REVOKE", transaction: try shared(fixture, "1", revoked: 4_000))
        try fixture.notify("LATER_TYPE", transaction: try shared(fixture, "1", signed: 5_000))
        #expect(try fixture.queue() == [])
        #expect(try fixture.records()["refreshes"] == nil)
        let plan = try fixture.plan(.customer("mia"))
        let event = fixture.service.event(queueing: [plan.key], for: .admin)
        #expect(throws: Refusal.self) { try fixture.commit(event) }
    }

    @Test func `a REVOKE queues its member in its own commit`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("mia", try shared(fixture, "1"))
        try fixture.upload("max", try shared(fixture, "2"))
        let commits = fixture.store.commitCount
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(7_000))
        let reply = try fixture.notify(
            "REVOKE", transaction: try shared(fixture, "1", revoked: 4_000))
        #expect(fixture.store.commitCount == commits + 1)
        #expect(try fixture.queue() == ["mia REVOKE"])
        let job = try #require(try fixture.view(.customer("mia")).queuedRefresh).job
        #expect(job.revision == reply.revision)
        #expect(job.queuedAt.milliseconds == ServiceFixture.date(7_000))
        #expect(job.notBefore == job.queuedAt)
        #expect(try fixture.view(.customer("max")).queuedRefresh == nil)
    }

    @Test(
        arguments: [
            ("REVOKE", 4_000, "REVOKE"), ("REVOKE", nil, "REVOKE"),
            ("REFUND_REVERSED", nil, "REFUND_REVERSED"),
            ("LATER_TYPE", nil, "UNKNOWN_TYPE"), ("SUBSCRIBED", nil, nil), ("DID_RENEW", nil, nil),
            ("EXPIRED", nil, nil), ("REFUND", 4_000, nil), ("CONSUMPTION_REQUEST", nil, nil),
        ] as [(String, Int64?, String?)])
    func `the type says who is fetched`(
        type: String, revoked: Int64?, expected: String?
    ) throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("bo", try fixture.transaction("1", to: 90_000))
        try fixture.notify(
            type, transaction: try fixture.transaction("1", to: 90_000, revoked: revoked))
        // A dateless REVOKE of a purchase changes nothing, and is all the more a reason to ask.
        #expect(try fixture.queue() == (expected.map { ["bo \($0)"] } ?? []))
    }

    @Test func `an unknown subtype, and unknown types without a customer`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("bo", try fixture.transaction("1", to: 90_000))
        try fixture.notify("LATER_TYPE")
        #expect(try fixture.queue() == [])
        try fixture.notify(
            "DID_RENEW", subtype: "LATER", renewal: try fixture.renewal("1", signed: 3_000))
        #expect(try fixture.queue() == ["bo UNKNOWN_TYPE"])
    }

    @Test func `a late REVOKE that changes nothing is queued; a repeated one is not`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("mia", try shared(fixture, "1", signed: 9_000))
        let reply = try fixture.notify(
            "REVOKE", uuid: "u", transaction: try shared(fixture, "1", revoked: 4_000))
        #expect(reply.changes == [])
        #expect(try fixture.queue() == ["mia REVOKE"])
        try fixture.rebuild("mia", fixture.history())
        #expect(try fixture.queue() == [])
        try fixture.notify(
            "REVOKE", uuid: "u", transaction: try shared(fixture, "1", revoked: 4_000))
        #expect(try fixture.queue() == [])
    }

    private func makeFamily(_ fixture: ServiceFixture) throws {
        try fixture.link("buyer", household: "h")
        try fixture.upload("buyer", try fixture.transaction("1", to: 90_000))
        for (name, id) in [("mia", "2"), ("max", "3"), ("own", "4"), ("old", "5")] {
            try fixture.link(name, household: "h")
            switch name {
            case "own": try fixture.upload(name, try fixture.transaction(id, to: 90_000))
            case "old":
                try fixture.upload(
                    name, try fixture.transaction(id, to: 2_000, shared: true))
            default: try fixture.upload(name, try shared(fixture, id))
            }
        }
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
    }

    @Test func `a refund queues the buyer and whoever shares, once the household is declared`()
        throws
    {
        let fixture = try ServiceFixture.fetching()
        try makeFamily(fixture)
        try fixture.notify(
            "REFUND", transaction: try fixture.transaction("1", to: 90_000, revoked: 4_000))
        #expect(try fixture.queue() == ["buyer REFUND", "mia FAMILY_REFUND", "max FAMILY_REFUND"])
        for name in ["buyer", "mia", "max"] { try fixture.rebuild(name, fixture.history()) }
        #expect(try fixture.queue() == [])
        // Whoever's own copy is revoked already is not in doubt.
        try fixture.notify("REVOKE", transaction: try shared(fixture, "3", revoked: 4_500))
        try fixture.rebuild("max", fixture.history())
        try fixture.notify(
            "REFUND",
            transaction: try fixture.transaction("1", to: 90_000, revoked: 4_000, signed: 4_001))
        #expect(try fixture.queue() == ["buyer REFUND", "mia FAMILY_REFUND"])
        for name in ["buyer", "mia"] { try fixture.rebuild(name, fixture.history()) }
        // When the payment comes back, his copy may have come back as well.
        try fixture.notify(
            "REFUND_REVERSED", transaction: try fixture.transaction("1", to: 90_000, signed: 6_000))
        #expect(
            try fixture.queue() == [
                "buyer REFUND_REVERSED", "mia REFUND_REVERSED", "max REFUND_REVERSED",
            ])
    }

    @Test func `a refund that no notification told is found in an upload and in a history`() throws
    {
        for uploader in ["buyer", "", nil] {
            let fixture = try ServiceFixture.fetching()
            try makeFamily(fixture)
            let copy = try fixture.transaction("1", to: 90_000, revoked: 4_000)
            if let uploader {
                try fixture.upload(uploader, copy)
                #expect(
                    try fixture.queue()
                        == ["buyer REFUND", "mia FAMILY_REFUND", "max FAMILY_REFUND"])
            } else {
                try fixture.rebuild("buyer", fixture.history(copy))
                // He himself was fetched just now.
                #expect(try fixture.queue() == ["mia FAMILY_REFUND", "max FAMILY_REFUND"])
            }
        }
    }

    @Test func `a refund of what nobody shares asks nobody`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("buyer", try fixture.transaction("1", to: 90_000))
        try fixture.upload("mia", try shared(fixture, "2"))
        try fixture.notify(
            "REFUND", transaction: try fixture.transaction("1", to: 90_000, revoked: 4_000))
        #expect(try fixture.queue() == [])
        // A buyer who has a family copy of it as well.
        try fixture.upload("buyer", try shared(fixture, "3"))
        try fixture.notify(
            "REFUND",
            transaction: try fixture.transaction("1", to: 90_000, revoked: 4_000, signed: 4_001))
        #expect(try fixture.queue() == ["buyer REFUND"])
    }

    @Test
    func `an event that queues has a revision of its own, and one that has nothing to say none`()
        throws
    {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("mia", try shared(fixture, "1"))
        let key = try fixture.plan(.customer("mia")).key
        let revision = fixture.service.revision
        try fixture.commit(fixture.service.event(queueing: [key, key], for: .sweep))
        #expect(fixture.service.revision == revision + 1)
        let commits = fixture.store.commitCount
        try fixture.commit(fixture.service.event(queueing: [key], for: .sweep))
        #expect(fixture.service.revision == revision + 1)
        #expect(fixture.store.commitCount == commits)
        #expect(try fixture.queue() == ["mia SWEEP"])
        try fixture.commit(fixture.service.event(queueing: [key], for: .admin))
        #expect(try fixture.queue() == ["mia ADMIN"])
        try fixture.commit(fixture.service.event(queueing: [key], for: .sweep))
        #expect(try fixture.queue() == ["mia ADMIN"])
        // The next event goes on where the last one stopped.
        #expect(try fixture.notify("TEST").revision == revision + 3)
    }

    @Test func `whoever is not there is not queued`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("mia", try shared(fixture, "1"))
        let key = try fixture.plan(.customer("mia")).key
        let gone = CustomerKey(scope: key.scope, number: 99)
        try fixture.commit(fixture.service.event(queueing: [gone], for: .admin))
        #expect(try fixture.queue() == [])
        let event = fixture.service.event(
            applying: try fixture.history(),
            by: RefreshPlan(
                key: gone, scope: try fixture.plan(.customer("mia")).scope, targets: [],
                wantsStatuses: false, revision: 0), isDryRun: false)
        #expect(throws: Refusal.self) { try fixture.commit(event) }
        #expect(try fixture.service.refreshPlan(for: gone) == nil)
    }
}
