import Testing

@testable import EntitledClient
@testable import entitlectl

/// The bill that the drill knows by itself, and what it finds wrong with the server's.
@Suite struct RehearsalTallyTests {
    private let cast = Cast()
    private let purchase: Purchase
    private let expected: ExpectedBill
    private var tally = RehearsalTally()

    /// Anna and Ben use the atlas on two days; the refund is of the first one's evening.
    init() {
        purchase = Purchase(
            owner: cast.anna, product: .atlas, isShared: false, transactionID: "70",
            purchasedMilliseconds: Bill.instant(0))
        expected = ExpectedBill(
            purchase: purchase, refundedMilliseconds: Bill.instant(9, hour: 20),
            learnedMilliseconds: Bill.instant(10), people: [cast.anna, cast.ben])
        tally.count(.atlas, cast.anna, at: Bill.instant(9))
        tally.count(.atlas, cast.ben, at: Bill.instant(9, hour: 23))
        tally.count(.atlas, cast.ben, at: Bill.instant(10, hour: 0))
        tally.count(.atlas, cast.ben, at: Bill.instant(10))
        tally.count(.studio, cast.ben, at: Bill.instant(10))
        tally.count(.atlas, cast.gita, at: Bill.instant(10))
    }

    private func use(of person: Person, leaks: Bool) -> PersonUse {
        var use = Bill.person(
            person.userID, paid: !leaks, days: 1, checks: 1, units: 3, cost: 60_000,
            leakedDays: leaks ? 1 : 0, leakedChecks: leaks ? 2 : 0, leakedPeriods: 1)
        use.leakedUnits = leaks ? 6 : 0
        use.leakedCostMicros = leaks ? 120_000 : 0
        return use
    }

    private var rightBill: RefundRecord {
        var refund = Bill.refund(
            "70", day: 9, product: "meadow.atlas", back: 39_990,
            [use(of: cast.anna, leaks: false), use(of: cast.ben, leaks: true)])
        refund.refundedAtMilliseconds = Bill.instant(9, hour: 20)
        return refund
    }

    private func complaints(_ change: (inout RefundRecord) -> Void) -> [String] {
        var refund = rightBill
        change(&refund)
        return ExpectedBill.complaints([refund], [expected], tally)
    }

    @Test func `the day of the refund is served, the next one has leaked`() {
        let (served, leaked) = tally.use(
            .atlas, cast.ben, refundedAt: expected.refundedMilliseconds)
        #expect(served == RehearsalTally.Use(dayCount: 1, checkCount: 1))
        #expect(leaked == RehearsalTally.Use(dayCount: 1, checkCount: 2) && leaked.units == 6)
        let none = tally.use(.atlas, cast.cleo, refundedAt: expected.refundedMilliseconds)
        #expect(none.served == RehearsalTally.Use() && none.leaked == RehearsalTally.Use())
    }

    @Test func `a right bill is found right`() {
        #expect(complaints { _ in } == [])
    }

    @Test func `every figure that is off by one is found`() {
        #expect(complaints { $0.refundedMilliunits -= 1 }.count == 1)
        #expect(complaints { $0.refundedAtMilliseconds += 1 }.count == 1)
        #expect(complaints { $0.isPurchaseUnknown = true }.count == 1)
        #expect(complaints { $0.people[1].dayCount += 1 }.count == 1)
        #expect(complaints { $0.people[1].checkCount += 1 }.count == 1)
        #expect(complaints { $0.people[1].units += 1 }.count == 1)
        #expect(complaints { $0.people[1].costMicros += 1 }.count == 1)
        #expect(complaints { $0.people[1].leakedDayCount -= 1 }.count == 1)
        #expect(complaints { $0.people[1].leakedCheckCount -= 1 }.count == 1)
        #expect(complaints { $0.people[1].leakedUnits -= 1 }.count == 1)
        #expect(complaints { $0.people[1].leakedCostMicros -= 1 }.count == 1)
        #expect(complaints { $0.people[1].leakedPeriodCount -= 1 }.count == 1)
        #expect(complaints { $0.people[1].accessEndedAtMilliseconds = nil }.count == 1)
    }

    @Test func `a person or a line too many or too few is found`() {
        #expect(complaints { $0.people.removeLast() }.count == 2)
        #expect(complaints { $0.people.append(use(of: cast.gita, leaks: true)) }.count == 1)
        #expect(complaints { $0.transactionID = "71" }.count == 1)
        #expect(ExpectedBill.complaints([], [expected], tally).count == 2)
        let other = Bill.refund("72", day: 9, [use(of: cast.gita, leaks: false)])
        #expect(ExpectedBill.complaints([rightBill, other], [expected], tally).count == 1)
    }
}
