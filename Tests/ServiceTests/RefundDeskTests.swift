import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// A year of an app, act by act; every expected figure is worked out by hand in the comments.
///
/// Days are counted from 0 = 2026-01-01, UTC. One unit of "month" costs 0.02, of "life" nothing.
@Suite struct RefundDeskTests {
    static let hour: Int64 = 3_600_000
    static let catalog = Catalog(products: [
        "month": .init(unitCostMicros: 20_000), "kept": .init(policy: keptPolicy),
    ])
    private static var keptPolicy: ProductPolicy {
        var policy = ProductPolicy()
        policy.keepsProratedRefunds = true
        return policy
    }

    /// The year ends on day 200.
    private func bill(_ bench: BillFixture, at end: Int64 = 200 * day) throws -> [RefundView] {
        bench.flush()
        bench.setClock(end)
        return try bench.bill()
    }

    /// Links a member of a household and shares or sells a period of days to him.
    private func give(
        _ bench: BillFixture, _ customer: String, _ id: String, original: String? = nil,
        _ product: String = "month", days: Range<Int64>, household: String = "", shared: Bool,
        changes: FixtureChanges = [:]
    ) throws {
        bench.setClock(days.lowerBound * day)
        if original == nil {
            try bench.fixture.link(customer, .originalTransaction(id), household: household)
        }
        try bench.fixture.notify(
            "SUBSCRIBED", signed: days.lowerBound * day,
            transaction: try bench.fixture.transaction(
                id, original: original, product: product, from: days.lowerBound * day,
                to: days.upperBound * day, shared: shared, changes: changes))
    }

    /// Revokes at `instant`, which the server learns at `learnt`.
    private func revoke(
        _ bench: BillFixture, _ type: String, _ id: String, _ product: String = "month",
        days: Range<Int64>, shared: Bool = false, at instant: Int64, learnt: Int64,
        changes: FixtureChanges = [:]
    ) throws {
        bench.setClock(learnt)
        try bench.fixture.notify(
            type, signed: instant,
            transaction: try bench.fixture.transaction(
                id, product: product, from: days.lowerBound * day, to: days.upperBound * day,
                shared: shared, revoked: instant, changes: changes))
    }

    @Test func `six people on one payment, and a refund that was learnt three days late`() throws {
        let bench = try BillFixture(catalog: Self.catalog)
        try give(bench, "buyer", "1", days: 0..<31, household: "h", shared: false)
        for (index, name) in ["mary", "tom", "ann", "ben", "joe"].enumerated() {
            try give(bench, name, "\(index + 2)", days: 0..<31, household: "h", shared: true)
        }
        // The buyer: two checks of 3 units on day 0, one of 10 on day 5: 2 days, 3 checks,
        // 16 units, 16 * 0.02 = 0.32. On day 11, after the refund, one of 1 unit: 1 day, 0.02.
        try bench.check("buyer", "month", at: Self.hour, units: 3)
        try bench.check("buyer", "month", at: 2 * Self.hour, units: 3)
        try bench.check("buyer", "month", at: 5 * day, units: 10)
        // Mary: one check of 5 units on each of days 1 to 10, the last one after the refund of that
        // day: 10 days, 10 checks, 50 units, 1.00. On days 11, 12 and 13, before the server knew:
        // 3 days, 15 units, 0.30.
        for index in 1...9 { try bench.check("mary", "month", at: Int64(index) * day, units: 5) }
        try bench.check("mary", "month", at: 10 * day + 20 * Self.hour, units: 5)
        try bench.check("mary", "month", at: 11 * day, units: 5)
        try bench.check("buyer", "month", at: 11 * day, units: 1)
        try bench.check("mary", "month", at: 12 * day, units: 5)
        // Tom: one check without units.
        try bench.check("tom", "month", at: 3 * day + 1)
        try bench.check("mary", "month", at: 13 * day + 8 * Self.hour, units: 5)
        try revoke(
            bench, "REFUND", "1", days: 0..<31, at: 10 * day + 10 * Self.hour,
            learnt: 13 * day + 9 * Self.hour)
        #expect(try !bench.check("mary", "month", at: 13 * day + 10 * Self.hour, units: 5))
        let line = try #require(try bill(bench).first)
        #expect(line.customerID == "buyer" && !line.isPurchaseUnknown)
        #expect(line.refundedAt == ServiceFixture.date(10 * day + 10 * Self.hour))
        #expect(line.learnedAt == ServiceFixture.date(13 * day + 9 * Self.hour))
        #expect(line.percentage == 100_000 && line.refundedMilliunits == 9_990)
        // Day 11 began before the server knew: access went on into a day after the refund, in the
        // one running period, for all six.
        #expect(
            line.people.map(\.text) == [
                "buyer 1: 2d 3c 16u 320000 leaked 1d 1c 1u 20000 1p",
                "ann 4: 0d 0c 0u 0 leaked 0d 0c 0u 0 1p",
                "ben 5: 0d 0c 0u 0 leaked 0d 0c 0u 0 1p",
                "joe 6: 0d 0c 0u 0 leaked 0d 0c 0u 0 1p",
                "mary 2: 10d 10c 50u 1000000 leaked 3d 3c 15u 300000 1p",
                "tom 3: 1d 1c 0u 0 leaked 0d 0c 0u 0 1p",
            ])
        #expect(line.people.allSatisfy { $0.endDay == 13.375 })
        #expect(line.people.map(\.confidence) == [.none] + .init(repeating: .declared, count: 5))
        #expect(line.people.dropFirst().allSatisfy { $0.ownership == .familyShared })
    }

    @Test func `a refund that is learnt on its day leaks nothing`() throws {
        let bench = try BillFixture(catalog: Self.catalog)
        try give(bench, "buyer", "1", days: 0..<31, household: "h", shared: false)
        try give(bench, "mary", "2", days: 0..<31, household: "h", shared: true)
        try bench.check("mary", "month", at: 10 * day + 11 * Self.hour, units: 1)
        try revoke(
            bench, "REFUND", "1", days: 0..<31, at: 10 * day + 10 * Self.hour,
            learnt: 11 * day - 1)
        let people = try #require(try bill(bench).first).people
        #expect(
            people.map(\.text) == [
                "buyer 1: 0d 0c 0u 0 leaked 0d 0c 0u 0 0p",
                "mary 2: 1d 1c 1u 20000 leaked 0d 0c 0u 0 0p",
            ])
    }

    @Test func `what had ended when it first arrived was never served and leaks nothing`() throws {
        let bench = try BillFixture(catalog: Self.catalog)
        // A history from before this server: a month that was refunded on day 10, and its copy.
        for (name, id, shared) in [("buyer", "1", false), ("mary", "2", true)] {
            try bench.fixture.link(name, .originalTransaction(id), household: "h")
            try revoke(
                bench, shared ? "REVOKE" : "REFUND", id, days: 0..<31, shared: shared,
                at: 10 * day, learnt: 60 * day)
        }
        // Tom's copy has no end of its own: it was cut when it came.
        bench.setClock(61 * day)
        try bench.fixture.link("tom", .originalTransaction("3"), household: "h")
        try bench.fixture.upload(
            "tom",
            try bench.fixture.transaction(
                "3", product: "month", from: 0, to: 31 * day, shared: true, signed: 1))
        let line = try #require(try bill(bench).first)
        #expect(line.learnedAt == ServiceFixture.date(60 * day))
        #expect(
            line.people.map(\.text) == [
                "buyer 1: 0d 0c 0u 0 leaked 0d 0c 0u 0 0p",
                "mary 2: 0d 0c 0u 0 leaked 0d 0c 0u 0 0p",
                "tom 3: 0d 0c 0u 0 leaked 0d 0c 0u 0 0p",
            ])
        #expect(line.people.allSatisfy { $0.endDay == 10 })
        // Given back and refunded once more, it was served in between.
        bench.setClock(62 * day)
        try bench.fixture.upload(
            "buyer",
            try bench.fixture.transaction(
                "1", product: "month", from: 0, to: 31 * day, signed: 62 * day))
        try revoke(
            bench, "REFUND", "1", days: 0..<31, at: 62 * day + Self.hour, learnt: 63 * day)
        let again = try #require(try bill(bench).first?.people.first)
        #expect(again.endDay == 31)
    }

    @Test func `two currencies, a share of a payment, and a refund that was reversed`() throws {
        let bench = try BillFixture(catalog: Self.catalog)
        // 33.333 % of 29.999 USD are 9.99956..., so 10.000.
        try give(bench, "zoe", "20", "year", days: 20..<385, shared: false)
        for index in 20..<25 { try bench.check("zoe", "year", at: Int64(index) * day, units: 1) }
        try revoke(
            bench, "REFUND", "20", "year", days: 20..<385, at: 50 * day, learnt: 50 * day,
            changes: [
                "price": 29_999, "currency": "USD", "revocationType": "REFUND_PRORATED",
                "revocationPercentage": 33_333,
            ])
        // Refunded on day 40, reversed on day 45: nothing went back.
        try give(bench, "rob", "30", days: 30..<61, shared: false)
        try revoke(bench, "REFUND", "30", days: 30..<61, at: 40 * day, learnt: 40 * day)
        #expect(try bench.bill().map(\.customerID) == ["rob", "zoe"])
        bench.setClock(45 * day)
        try bench.fixture.notify(
            "REFUND_REVERSED", signed: 45 * day,
            transaction: try bench.fixture.transaction(
                "30", product: "month", from: 30 * day, to: 61 * day, signed: 45 * day))
        try give(bench, "eva", "31", days: 60..<91, shared: false)
        try revoke(bench, "REFUND", "31", days: 60..<91, at: 70 * day, learnt: 70 * day)
        let lines = try bill(bench)
        #expect(lines.map(\.customerID) == ["zoe", "eva"])
        #expect(lines.map(\.transaction.currency) == ["USD", "EUR"])
        #expect(lines.map(\.percentage) == [33_333, 100_000])
        #expect(lines.map(\.refundedMilliunits) == [10_000, 9_990])
        #expect(lines[0].people.map(\.text) == ["zoe 20: 5d 5c 5u 0 leaked 0d 0c 0u 0 0p"])
    }

    @Test func `a family copy whose purchase is not known is a line of its own, without money`()
        throws
    {
        let bench = try BillFixture(catalog: Self.catalog)
        bench.setClock(50 * day)
        let copy = try bench.fixture.transaction(
            "41", product: "life", from: 50 * day, shared: true)
        try bench.fixture.link("una", .originalTransaction("41"))
        try bench.fixture.notify("ONE_TIME_CHARGE", signed: 50 * day, transaction: copy)
        for index in [55, 60, 61, 70, 90] {
            try bench.check("una", "life", at: Int64(index) * day, units: 2)
        }
        // Refunded on day 60, learnt on day 100: days 55 and 60 are use, 61, 70 and 90 are leaked,
        // in the one period without an end.
        bench.setClock(100 * day)
        try bench.fixture.notify(
            "REVOKE", signed: 60 * day,
            transaction: try bench.fixture.transaction(
                "41", product: "life", from: 50 * day, shared: true, revoked: 60 * day))
        let line = try #require(try bill(bench).first)
        #expect(line.isPurchaseUnknown && line.customerID == "una")
        #expect(line.refundedMilliunits == 0)
        #expect(line.transaction.price == nil && line.transaction.currency == nil)
        #expect(line.people.map(\.text) == ["una 41: 2d 2c 4u 0 leaked 3d 3c 6u 0 1p"])
        #expect(line.people.first?.endDay == 100)
        // When the app says whose it was, it moves to the line of the purchase.
        try give(bench, "una's mother", "40", "life", days: 50..<51, household: "h", shared: false)
        try bench.fixture.link("una", household: "h")
        #expect(try bench.bill().map(\.isPurchaseUnknown) == [true])
        try revoke(
            bench, "REFUND", "40", "life", days: 50..<51, at: 50 * day + 1, learnt: 110 * day)
        #expect(try bench.bill().map(\.customerID) == ["una's mother"])
    }

    @Test func `a family that nobody declared is on the bill as far as it is recognised`() throws {
        let bench = try BillFixture(catalog: Self.catalog)
        for (name, id, shared) in [("buyer", "1", false), ("mary", "2", true)] {
            bench.setClock(0)
            try bench.fixture.link(name, .originalTransaction(id))
            try bench.fixture.notify(
                "ONE_TIME_CHARGE", signed: 0,
                transaction: try bench.fixture.transaction(
                    id, product: "life", from: 0, shared: shared))
        }
        try bench.check("mary", "life", at: 5 * day)
        bench.setClock(10 * day)
        try bench.fixture.notify(
            "REFUND", signed: 10 * day,
            transaction: try bench.fixture.transaction(
                "1", product: "life", from: 0, revoked: 10 * day))
        // By default a recognised family is not cut: without a REVOKE her access goes on.
        for index: Int64 in [15, 16] { #expect(try bench.check("mary", "life", at: index * day)) }
        let line = try #require(try bill(bench).first)
        #expect(line.people.map(\.confidence) == [.none, .likely])
        #expect(line.people[1].text == "mary 2: 1d 1c 0u 0 leaked 2d 2c 0u 0 1p")
        #expect(line.people[1].endDay == nil)
        // Her REVOKE, signed on day 12, comes on day 20.
        bench.setClock(20 * day)
        try bench.fixture.notify(
            "REVOKE", signed: 12 * day,
            transaction: try bench.fixture.transaction(
                "2", product: "life", from: 0, shared: true, revoked: 10 * day, signed: 12 * day))
        let ended = try bill(bench)
        #expect(ended.count == 1 && ended[0].people[1].endDay == 20)
    }

    @Test func `use that another purchase pays for is not on the bill`() throws {
        let bench = try BillFixture(catalog: Self.catalog)
        try give(bench, "pat", "50", days: 100..<131, household: "h", shared: false)
        try give(bench, "sue", "51", days: 100..<131, household: "h", shared: true)
        // Day 102: the copy decides. From day 105 on her own purchase ends later, and decides.
        try bench.check("sue", "month", at: 102 * day)
        try give(bench, "sue", "52", original: "52", days: 105..<136, shared: false)
        try bench.fixture.link("sue", .originalTransaction("52"))
        try bench.check("sue", "month", at: 106 * day)
        try revoke(bench, "REFUND", "50", days: 100..<131, at: 110 * day, learnt: 110 * day)
        try bench.check("sue", "month", at: 112 * day)
        // Her copy is not suspended, because her household has a purchase that stands: the access
        // that it gives went on to its end on day 131, through the one running period, unused.
        let line = try #require(try bill(bench).first)
        #expect(
            line.people.map(\.text) == [
                "pat 50: 0d 0c 0u 0 leaked 0d 0c 0u 0 0p",
                "sue 51: 1d 1c 0u 0 leaked 0d 0c 0u 0 1p",
            ])
        #expect(line.people[1].endDay == 131)
        #expect(try bench.usage(of: "52").keys.sorted() == [106, 112])
    }

    @Test func `access that went on for periods that nobody paid for is leaked`() throws {
        let bench = try BillFixture(catalog: Self.catalog)
        try give(bench, "kim", "60", days: 120..<150, household: "h", shared: false)
        try give(bench, "leo", "61", days: 120..<150, household: "h", shared: true)
        try bench.check("leo", "month", at: 125 * day, units: 1)
        try revoke(bench, "REFUND", "60", days: 120..<150, at: 130 * day, learnt: 130 * day)
        // Suspended until day 150; then his copies go on renewing: [150, 180) and [180, 210), of
        // which the second one runs on day 200. No purchase covers either.
        #expect(try !bench.check("leo", "month", at: 140 * day, units: 1))
        try give(bench, "leo", "62", original: "61", days: 150..<180, shared: true)
        try bench.check("leo", "month", at: 155 * day, units: 1)
        try give(bench, "leo", "63", original: "61", days: 180..<210, shared: true)
        try bench.check("leo", "month", at: 185 * day, units: 1)
        let line = try #require(try bill(bench).first)
        #expect(line.people[1].text == "leo 61: 1d 1c 1u 20000 leaked 2d 2c 2u 40000 2p")
        #expect(line.people[1].endDay == nil)
        #expect(line.people[0].endDay == 130)
    }

    @Test func `a later period that was paid for is no leak of an earlier refund`() throws {
        let bench = try BillFixture(catalog: Self.catalog)
        try give(bench, "kim", "60", days: 120..<150, household: "h", shared: false)
        try give(bench, "leo", "61", days: 120..<150, household: "h", shared: true)
        try give(bench, "kim", "70", original: "60", days: 150..<180, shared: false)
        try give(bench, "leo", "71", original: "61", days: 150..<180, shared: true)
        try bench.check("leo", "month", at: 160 * day, units: 1)
        try revoke(bench, "REFUND", "60", days: 120..<150, at: 155 * day, learnt: 155 * day)
        let line = try #require(try bill(bench).first)
        #expect(line.people[1].text == "leo 61: 0d 0c 0u 0 leaked 0d 0c 0u 0 0p")
        #expect(line.people[1].endDay == 150)
        // When that is refunded as well it has a line of its own, with the use of day 160.
        try revoke(bench, "REFUND", "70", days: 150..<180, at: 165 * day, learnt: 165 * day)
        let both = try bill(bench)
        #expect(
            both.map { $0.people[1].text } == [
                "leo 61: 0d 0c 0u 0 leaked 0d 0c 0u 0 0p",
                "leo 71: 1d 1c 1u 20000 leaked 0d 0c 0u 0 0p",
            ])
    }

    @Test func `what the catalog keeps after a prorated refund is use and no leak`() throws {
        let bench = try BillFixture(catalog: Self.catalog)
        bench.setClock(0)
        try bench.fixture.upload(
            "ida", try bench.fixture.transaction("80", product: "kept", from: 0))
        try bench.check("ida", "kept", at: 5 * day)
        bench.setClock(10 * day)
        try bench.fixture.notify(
            "REFUND", signed: 10 * day,
            transaction: try bench.fixture.transaction(
                "80", product: "kept", from: 0, revoked: 10 * day,
                changes: [
                    "revocationType": "REFUND_PRORATED", "revocationPercentage": 40_000,
                ]))
        #expect(try bench.check("ida", "kept", at: 20 * day))
        let line = try #require(try bill(bench).first)
        #expect(line.refundedMilliunits == 3_996)
        #expect(line.people.map(\.text) == ["ida 80: 2d 2c 0u 0 leaked 0d 0c 0u 0 0p"])
        #expect(line.people[0].endDay == nil)
    }

    @Test func `a merge and a transfer keep the bill`() throws {
        let bench = try BillFixture(catalog: Self.catalog)
        bench.setClock(0)
        let copy = try bench.fixture.transaction("1", product: "month", from: 0, to: 31 * day)
        try bench.fixture.notify("SUBSCRIBED", transaction: copy)
        bench.setClock(day)
        let verdict = try bench.fixture.desk.check(
            .originalTransaction("1"), "month", in: bench.fixture.scope)
        bench.meter.setTime(ServiceFixture.date(day))
        bench.meter.count(
            Array(verdict.transactionID.utf8).span, in: bench.fixture.scope, units: 9)
        try bench.fixture.link("ann", .originalTransaction("1"))
        try bench.check("ann", "month", at: 2 * day, units: 1)
        try revoke(bench, "REFUND", "1", days: 0..<31, at: 3 * day, learnt: 3 * day)
        try bench.fixture.link("bob", .originalTransaction("1"), transfer: true)
        let line = try #require(try bill(bench).first)
        #expect(line.people.map(\.text) == ["bob 1: 2d 2c 10u 200000 leaked 0d 0c 0u 0 0p"])
    }
}
