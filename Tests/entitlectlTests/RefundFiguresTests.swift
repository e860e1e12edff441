import Testing

@testable import EntitledClient
@testable import entitlectl

@Suite struct RefundFiguresTests {
    @Test func `who paid and who did not are told apart`() {
        let figures = RefundFigures(Bill.year[0])
        #expect(figures.refundCount == 1 && figures.refundedMilliunits == 9_990)
        // Six had access; the buyer, Mary and Tom used it.
        #expect(figures.peopleWithAccess == 6 && figures.peopleServed == 3)
        #expect(
            figures.buyer == UseFigures(days: 2, checks: 3, units: 16, costMicros: 320_000))
        #expect(
            figures.unpaid == UseFigures(days: 11, checks: 11, units: 50, costMicros: 1_000_000))
        // Mary's three checks after it: 2 units and 30 millionths each.
        #expect(figures.leaked == UseFigures(days: 3, checks: 3, units: 6, costMicros: 90))
        #expect(figures.unpaidLeakedDays == 3)
        // Mary, Tom and Joe kept access: 1 + 1 + 2 periods; Joe's goes on.
        #expect(figures.leakedPeople == 3 && figures.leakedPeriods == 4)
        #expect(figures.peopleStillGranted == 1)
        #expect(figures.costMicros == 320_000 + 1_000_000 + 90)
        #expect(figures.served.days == 13)
    }

    @Test func `a payment that is not known is none`() {
        var refund = Bill.year[3]
        refund.refundedMilliunits = 5
        #expect(RefundFigures(refund).refundedMilliunits == 0)
        #expect(RefundFigures(refund).unpaid.days == 2)
    }

    @Test func `sums that do not fit stay at the largest number`() {
        var figures = RefundFigures()
        figures.refundedMilliunits = .max
        figures.unpaid.units = .max - 1
        figures.unpaid.costMicros = .max
        var other = figures
        other.refundedMilliunits = 1
        other.unpaid.units = 2
        figures.add(other)
        #expect(figures.refundedMilliunits == .max && figures.unpaid.units == .max)
        #expect(figures.costMicros == .max)
        var negative = RefundFigures()
        negative.refundedMilliunits = .min
        negative.add(negative)
        #expect(negative.refundedMilliunits == .min)
    }
}
