import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct EndedAccessTests {
    private func refund(
        _ bench: BillFixture, _ id: String, at revoked: Int64, learnt: Int64,
        shared: Bool = false
    ) throws {
        bench.setClock(learnt)
        try bench.fixture.notify(
            shared ? "REVOKE" : "REFUND", signed: learnt,
            transaction: try bench.fixture.transaction(
                id, from: 0, to: 90 * day, shared: shared, revoked: revoked, signed: learnt))
    }

    @Test func `a refund stands in the bill with the commit that stores it`() throws {
        let bench = try BillFixture()
        try bench.fixture.upload("ann", try bench.fixture.transaction("1", from: 0, to: 90 * day))
        #expect(try bench.endings().isEmpty)
        let commits = bench.fixture.store.commitCount
        try refund(bench, "1", at: 3 * day, learnt: 5 * day)
        #expect(bench.fixture.store.commitCount == commits + 1)
        #expect(try bench.endingTexts() == ["1 3: revoked 3 learnt 5"])
        let record = try #require(try bench.endings().first).record
        #expect(record.ownership == .purchased && record.isPaymentReversed)
        #expect(record.productID == "p")
    }

    @Test func `a date that moves moves it, and what was learnt stays; a reversal removes it`()
        throws
    {
        let bench = try BillFixture()
        try refund(bench, "1", at: 3 * day, learnt: 5 * day)
        try refund(bench, "1", at: 2 * day, learnt: 7 * day)
        #expect(try bench.endingTexts() == ["1 2: revoked 2 learnt 5"])
        // An older copy changes nothing, nor does a repeat.
        try refund(bench, "1", at: 3 * day, learnt: 6 * day)
        #expect(try bench.endingTexts() == ["1 2: revoked 2 learnt 5"])
        try bench.fixture.notify(
            "REFUND_REVERSED", signed: 8 * day,
            transaction: try bench.fixture.transaction("1", from: 0, to: 90 * day, signed: 8 * day))
        #expect(try bench.endings().isEmpty)
        // Refunded again it is learnt again.
        try refund(bench, "1", at: 3 * day, learnt: 9 * day)
        #expect(try bench.endingTexts() == ["1 3: revoked 3 learnt 9"])
    }

    @Test func `a family copy keeps when each cause was learnt`() throws {
        let bench = try BillFixture()
        let fixture = bench.fixture
        try fixture.link("buyer", .originalTransaction("1"), household: "h")
        try fixture.link("mary", .originalTransaction("2"), household: "h")
        try fixture.notify(
            "SUBSCRIBED", transaction: try fixture.transaction("1", from: 0, to: 90 * day))
        try fixture.notify(
            "SUBSCRIBED",
            transaction: try fixture.transaction("2", from: 0, to: 90 * day, shared: true))
        try refund(bench, "1", at: 3 * day, learnt: 5 * day)
        #expect(
            try bench.endingTexts() == ["1 3: revoked 3 learnt 5", "2 3: suspended 3 learnt 5"])
        try refund(bench, "2", at: 4 * day, learnt: 8 * day, shared: true)
        #expect(
            try bench.endingTexts() == [
                "1 3: revoked 3 learnt 5", "2 3: revoked 4 learnt 8, suspended 3 learnt 5",
            ])
        // The household ends: what is left is her own end.
        bench.setClock(10 * day)
        try fixture.link("mary", leave: true)
        #expect(
            try bench.endingTexts() == ["1 3: revoked 3 learnt 5", "2 4: revoked 4 learnt 8"])
        try fixture.link("mary", household: "h")
        #expect(
            try bench.endingTexts() == [
                "1 3: revoked 3 learnt 5", "2 3: revoked 4 learnt 8, suspended 3 learnt 10",
            ])
    }

    @Test func `a departure without a date is an end, and no payment went back`() throws {
        let bench = try BillFixture()
        try bench.fixture.notify(
            "SUBSCRIBED",
            transaction: try bench.fixture.transaction("2", from: 0, to: 90 * day, shared: true))
        bench.setClock(6 * day)
        try bench.fixture.notify(
            "REVOKE", signed: 5 * day,
            transaction: try bench.fixture.transaction("2", from: 0, to: 90 * day, shared: true))
        #expect(try bench.endingTexts() == ["2 5: revoked 5 learnt 6"])
        #expect(try bench.endings().first?.record.isPaymentReversed == false)
        #expect(try bench.bill().isEmpty)
    }

    @Test func `a merge and a transfer take it along`() throws {
        let bench = try BillFixture()
        try refund(bench, "1", at: 3 * day, learnt: 5 * day)
        bench.setClock(6 * day)
        try bench.fixture.link("ann", .originalTransaction("1"))
        #expect(try bench.endingTexts() == ["1 3: revoked 3 learnt 5"])
        #expect(try bench.bill().map(\.customerID) == ["ann"])
        let before = try #require(try bench.endings().first).position.customer
        try bench.fixture.link("bob", .originalTransaction("1"), transfer: true)
        let after = try #require(try bench.endings().first).position.customer
        #expect(before != after)
        #expect(try bench.endingTexts() == ["1 3: revoked 3 learnt 5"])
        #expect(try bench.bill().map(\.customerID) == ["bob"])
    }

    @Test func `events of one group see each other's ends`() throws {
        let bench = try BillFixture()
        let fixture = bench.fixture
        bench.setClock(5 * day)
        let refunded = try fixture.transaction("1", from: 0, to: 90 * day, revoked: 3 * day)
        let reversed = try fixture.transaction("1", from: 0, to: 90 * day, signed: 4 * day)
        let again = try fixture.transaction(
            "1", from: 0, to: 90 * day, revoked: 2 * day, signed: 5 * day)
        let results = fixture.desk.performGroup([
            try fixture.notification("REFUND", transaction: refunded),
            .link(
                LinkRequest(
                    customerID: "ann", identity: .originalTransaction("1"), scope: fixture.scope)),
            try fixture.notification("REFUND_REVERSED", transaction: reversed),
            try fixture.notification("REFUND", transaction: again),
        ])
        #expect(results.allSatisfy { (try? $0.get()) != nil })
        #expect(try bench.endingTexts() == ["1 2: revoked 2 learnt 5"])
        #expect(try bench.bill().map(\.customerID) == ["ann"])
    }

    @Test func `a rebuild writes what an older release left out, and keeps the rest`() throws {
        let bench = try BillFixture()
        try refund(bench, "1", at: 3 * day, learnt: 5 * day)
        try refund(bench, "2", at: 4 * day, learnt: 5 * day)
        let lost = try #require(try bench.endings().last).position
        var changes = ChangeSet()
        changes.delete(Key.refund(lost), in: .refunds)
        try bench.fixture.store.commit(changes)
        bench.setClock(9 * day)
        for id in ["1", "2"] {
            for isDryRun in [true, false] {
                let before = try bench.endingTexts()
                _ = try bench.fixture.desk.perform(
                    .rebuild(
                        RebuildRequest(
                            customer: .originalTransaction(id), source: .storedFacts,
                            isDryRun: isDryRun, scope: bench.fixture.scope))
                ).get()
                if isDryRun { #expect(try bench.endingTexts() == before) }
            }
        }
        #expect(
            try bench.endingTexts() == ["1 3: revoked 3 learnt 5", "2 4: revoked 4 learnt 9"])
    }
}
