import Entitlements
import Testing

@testable import Service

@Suite struct RefundMoneyTests {
    private func transaction(_ type: String?, _ percentage: Int32?) -> Transaction {
        var transaction = Transaction(
            transactionID: "1", originalTransactionID: "1", productID: "p", rawType: "",
            rawOwnership: "PURCHASED", purchaseDate: nil, signedDate: .distantPast)
        transaction.revocationType = type
        transaction.revocationPercentage = percentage
        return transaction
    }

    @Test(
        arguments: [
            ("REFUND_PRORATED", 40_000, 40_000), ("REFUND_PRORATED", nil, 100_000),
            ("REFUND_FULL", 40_000, 100_000), (nil, nil, 100_000), (nil, 40_000, 40_000),
            ("REFUND_PRORATED", 0, 0), ("REFUND_PRORATED", -1, 0),
            ("REFUND_PRORATED", 100_001, 100_000),
        ] as [(String?, Int32?, Int32)])
    func `a refund without a percentage is a whole one`(
        type: String?, percentage: Int32?, expected: Int32
    ) {
        #expect(RefundMoney.percentage(of: transaction(type, percentage)) == expected)
    }

    @Test(
        arguments: [
            (9_990, 100_000, 9_990), (9_990, 40_000, 3_996), (1, 49_999, 0), (1, 50_000, 1),
            (3, 50_000, 2), (-3, 50_000, -2), (-1, 49_999, 0), (nil, 100_000, 0), (0, 100_000, 0),
            (.max, 100_000, .max), (.max, 50_000, 4_611_686_018_427_387_904),
            (.min, 100_000, .min),
        ] as [(Int64?, Int32, Int64)])
    func `half a thousandth is rounded away from zero, and nothing overflows`(
        price: Int64?, percentage: Int32, expected: Int64
    ) {
        #expect(RefundMoney.refunded(price: price, percentage: percentage) == expected)
    }

    @Test(
        arguments: [
            (50, 20_000, 1_000_000), (0, 20_000, 0), (.max, 1, .max), (.max, 0, 0),
            (UInt64(Int64.max), 1, .max), (UInt64(Int64.max), 2, .max),
        ] as [(UInt64, Int64, Int64)])
    func `a cost that is too large is the largest`(
        units: UInt64, micros: Int64, expected: Int64
    ) {
        #expect(RefundMoney.cost(units: units, unitCostMicros: micros) == expected)
    }
}
