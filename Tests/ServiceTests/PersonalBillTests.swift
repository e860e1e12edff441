import Entitlements
import Storage
import Testing

@testable import Service

@Suite struct PersonalBillTests {
    private static let transaction = Transaction(
        transactionID: "2", originalTransactionID: "1", productID: "p", rawType: "",
        rawOwnership: "FAMILY_SHARED", purchaseDate: nil, signedDate: .distantPast)

    private func instant(_ day: Int64) -> Timestamp { Timestamp(milliseconds: day * 86_400_000) }

    private func use(
        boundary: UInt32 = 10, now: Int64 = 100, days: [UInt32] = [], period: Range<Int64>,
        end: Int64?, isCovered: Bool = true
    ) -> PersonUse {
        var bill = PersonalBill(
            boundaryDay: boundary, now: instant(now), unitCostMicros: 3)
        bill.add(
            days.map { ($0, UsageRecord(checks: 1, units: 2)) },
            period: instant(period.lowerBound)..<instant(period.upperBound),
            end: end.map(instant), isCovered: isCovered)
        return bill.personUse(of: Self.transaction, customerID: "mary", .likely)
    }

    @Test func `the day of the refund is use, the next one is leaked`() {
        let use = use(days: [9, 10, 11], period: 0..<30, end: 30)
        #expect((use.days, use.checks, use.units, use.costMicros) == (2, 2, 4, 12))
        #expect((use.leakedDays, use.leakedChecks, use.leakedUnits) == (1, 1, 2))
        #expect(use.leakedCostMicros == 6)
        #expect(use.customerID == "mary" && use.confidence == .likely)
        #expect(use.transactionID == "2" && use.originalTransactionID == "1")
    }

    @Test(
        arguments: [
            // The access ended with the day of the refund, a moment later, with its period, never.
            (0..<30, 11, 0), (0..<30, 12, 1), (0..<30, 30, 1), (0..<400, nil, 1),
            // Of a period that begins after now nothing was served.
            (99..<130, 130, 1), (100..<130, 130, 0),
            // Of one that ended before the refund neither.
            (0..<11, 11, 0),
        ] as [(Range<Int64>, Int64?, Int)])
    func `a period counts when access went on in it after the day of the refund`(
        period: Range<Int64>, end: Int64?, count: Int
    ) {
        #expect(use(period: period, end: end).leakedPeriods == count)
    }

    @Test func `access goes on while one end is missing or still to come`() {
        #expect(use(period: 0..<30, end: 100).accessEndedAt == 100 * 86_400_000)
        #expect(use(period: 0..<130, end: 101).accessEndedAt == 0)
        #expect(use(period: 0..<130, end: nil).accessEndedAt == 0)
        var bill = PersonalBill(boundaryDay: 10, now: instant(100), unitCostMicros: 0)
        for end in [nil, 20] as [Int64?] {
            bill.add([], period: nil, end: end.map(instant), isCovered: true)
        }
        #expect(bill.personUse(of: Self.transaction, customerID: "", .none).accessEndedAt == 0)
        bill.clear()
        for end in [30, 20] as [Int64?] {
            bill.add([], period: nil, end: end.map(instant), isCovered: true)
        }
        let use = bill.personUse(of: Self.transaction, customerID: "", .none)
        #expect(use.accessEndedAt == 30 * 86_400_000)
    }

    @Test func `of a period that the purchase does not cover only the leak counts`() {
        let use = use(days: [9, 11], period: 9..<30, end: 30, isCovered: false)
        #expect(use.days == 0 && use.leakedDays == 1)
    }

    @Test func `without a boundary nothing is leaked`() {
        let use = use(boundary: .max, days: [9, 11, 90], period: 0..<400, end: nil)
        #expect(use.days == 3 && use.leakedDays == 0 && use.leakedPeriods == 0)
    }
}
