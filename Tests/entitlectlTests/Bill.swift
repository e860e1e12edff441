@testable import EntitledClient
@testable import entitlectl

/// Refunds as a server tells of them.
enum Bill {
    /// An instant of a day of 2026, counted from 0 = 1 January.
    static func instant(_ day: Int64, hour: Int64 = 10) -> Int64 {
        1_767_225_600_000 + day * 86_400_000 + hour * 3_600_000
    }

    static func person(
        _ customer: String, paid: Bool = false, days: Int = 0, checks: UInt64 = 0,
        units: UInt64 = 0, cost: Int64 = 0, leakedDays: Int = 0, leakedChecks: UInt64 = 0,
        leakedPeriods: Int = 0, endedAt: Int64? = 1
    ) -> PersonUse {
        PersonUse(
            customerID: customer, transactionID: "t-\(customer)",
            originalTransactionID: "o-\(customer)",
            ownership: paid ? .purchased : .familyShared,
            confidence: paid ? .unspecified : .declared, dayCount: days, checkCount: checks,
            units: units, costMicros: cost, leakedDayCount: leakedDays,
            leakedCheckCount: leakedChecks, leakedUnits: 2 * leakedChecks,
            leakedCostMicros: 30 * Int64(leakedChecks), leakedPeriodCount: leakedPeriods,
            accessEndedAtMilliseconds: endedAt)
    }

    static func refund(
        _ id: String, day: Int64, product: String = "month", currency: String = "EUR",
        back: Int64 = 9_990, percentage: Int32 = 100_000, isUnknown: Bool = false,
        _ people: [PersonUse]
    ) -> RefundRecord {
        RefundRecord(
            transactionID: id, originalTransactionID: id, productID: product,
            customerID: people[0].customerID, purchaseDateMilliseconds: instant(0),
            refundedAtMilliseconds: instant(day), learnedAtMilliseconds: instant(day + 1),
            priceMilliunits: 9_990, currency: isUnknown ? "" : currency,
            percentageMilliunits: percentage, refundedMilliunits: back, people: people,
            isPurchaseUnknown: isUnknown)
    }

    /// A family of six with a leak, a payment of another currency in the same month, one of the
    /// month after next, and a family copy whose purchase is not known.
    static let year: [RefundRecord] = [
        refund(
            "1", day: 10,
            [
                person("buyer", paid: true, days: 2, checks: 3, units: 16, cost: 320_000),
                person(
                    "mary", days: 10, checks: 10, units: 50, cost: 1_000_000, leakedDays: 3,
                    leakedChecks: 3, leakedPeriods: 1),
                person("tom", days: 1, checks: 1, leakedPeriods: 1),
                person("ann"), person("ben"), person("joe", leakedPeriods: 2, endedAt: nil),
            ]),
        refund(
            "2", day: 20, product: "year, \"plus\"", currency: "USD", back: 3_996,
            percentage: 40_000, [person("zoe", paid: true, days: 5, checks: 5, units: 5)]),
        refund("3", day: 70, [person("eva", paid: true, leakedDays: 1, leakedChecks: 1)]),
        refund(
            "4", day: 71, product: "life", back: 0, isUnknown: true,
            [person("una", days: 2, checks: 2)]),
    ]
}
