internal import EntitledClient

/// What was granted, summed over people: days are person-days.
struct UseFigures: Equatable, Sendable {
    var days: Int64 = 0
    var checks: UInt64 = 0
    var units: UInt64 = 0
    /// In millionths of the operator's currency.
    var costMicros: Int64 = 0

    mutating func add(_ other: UseFigures) {
        days.add(clamping: other.days)
        checks.add(clamping: other.checks)
        units.add(clamping: other.units)
        costMicros.add(clamping: other.costMicros)
    }
}

/// The figures of one refund, or of several in one currency.
struct RefundFigures: Equatable, Sendable {
    var refundCount: Int64 = 0
    /// In thousandths of the currency's unit.
    var refundedMilliunits: Int64 = 0
    /// Who could use it, the buyer among them; of several refunds each counts.
    var peopleWithAccess: Int64 = 0
    /// Who did.
    var peopleServed: Int64 = 0
    /// The buyer's use, up to the day of the refund.
    var buyer = UseFigures()
    /// The use of those who never paid, up to that day.
    var unpaid = UseFigures()
    /// Everybody's use after that day.
    var leaked = UseFigures()
    /// The person-days of it that those who never paid used.
    var unpaidLeakedDays: Int64 = 0
    /// Whose access went on after that day, used or not.
    var leakedPeople: Int64 = 0
    /// Through how many of their billing periods, summed over people.
    var leakedPeriods: Int64 = 0
    /// Whose access goes on now.
    var peopleStillGranted: Int64 = 0

    /// No refunds.
    init() {}

    /// The figures of one refund.
    init(_ refund: RefundRecord) {
        refundCount = 1
        refundedMilliunits = refund.isPurchaseUnknown ? 0 : refund.refundedMilliunits
        for person in refund.people { add(person) }
    }

    private mutating func add(_ person: PersonUse) {
        let hasPaid = person.ownership == .purchased
        let use = UseFigures(
            days: Int64(person.dayCount), checks: person.checkCount, units: person.units,
            costMicros: person.costMicros)
        if hasPaid { buyer.add(use) } else { unpaid.add(use) }
        let leak = UseFigures(
            days: Int64(person.leakedDayCount), checks: person.leakedCheckCount,
            units: person.leakedUnits, costMicros: person.leakedCostMicros)
        leaked.add(leak)
        if !hasPaid { unpaidLeakedDays.add(clamping: leak.days) }
        peopleWithAccess += 1
        if use.checks > 0 || leak.checks > 0 { peopleServed += 1 }
        if leak.checks > 0 || person.leakedPeriodCount > 0 { leakedPeople += 1 }
        leakedPeriods.add(clamping: Int64(person.leakedPeriodCount))
        if person.accessEndedAtMilliseconds == nil { peopleStillGranted += 1 }
    }

    /// Adds other refunds of the same currency.
    mutating func add(_ other: RefundFigures) {
        refundCount.add(clamping: other.refundCount)
        refundedMilliunits.add(clamping: other.refundedMilliunits)
        peopleWithAccess.add(clamping: other.peopleWithAccess)
        peopleServed.add(clamping: other.peopleServed)
        buyer.add(other.buyer)
        unpaid.add(other.unpaid)
        leaked.add(other.leaked)
        unpaidLeakedDays.add(clamping: other.unpaidLeakedDays)
        leakedPeople.add(clamping: other.leakedPeople)
        leakedPeriods.add(clamping: other.leakedPeriods)
        peopleStillGranted.add(clamping: other.peopleStillGranted)
    }

    /// Everybody's use up to the day of the refund.
    var served: UseFigures {
        var sum = buyer
        sum.add(unpaid)
        return sum
    }

    /// What all of it cost to serve, the leak included, in millionths of the operator's currency.
    var costMicros: Int64 {
        var sum = served
        sum.add(leaked)
        return sum.costMicros
    }
}

extension FixedWidthInteger {
    /// Adds; what does not fit is the largest or the smallest number.
    fileprivate mutating func add(clamping other: Self) {
        let (sum, overflow) = addingReportingOverflow(other)
        self = overflow ? (other < 0 ? .min : .max) : sum
    }
}
