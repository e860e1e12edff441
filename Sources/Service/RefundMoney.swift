import Entitlements

/// How much money went back, and what serving cost.
enum RefundMoney {
    /// All of it, in thousandths of a percent.
    static let wholePercentage: Int32 = 100_000

    /// What part of the payment went back, in thousandths of a percent.
    ///
    /// Apple gives one with a prorated refund; without one all of it went back.
    /// See: https://developer.apple.com/documentation/appstoreserverapi/revocationpercentage
    static func percentage(of transaction: Transaction) -> Int32 {
        guard transaction.revocationType != "REFUND_FULL",
            let percentage = transaction.revocationPercentage
        else { return wholePercentage }
        return min(max(percentage, 0), wholePercentage)
    }

    /// Price times percentage, in thousandths of the currency's unit, half a thousandth rounded
    /// away from zero; 0 without a price.
    static func refunded(price: Int64?, percentage: Int32) -> Int64 {
        guard let price else { return 0 }
        let whole = Int128(wholePercentage)
        let product = Int128(price) * Int128(percentage)
        let half = product < 0 ? -whole / 2 : whole / 2
        return Int64(clamping: (product + half) / whole)
    }

    /// Units times what one costs, in millionths of the operator's currency.
    static func cost(units: UInt64, unitCostMicros: Int64) -> Int64 {
        Int64(clamping: Int128(units) * Int128(unitCostMicros))
    }
}
