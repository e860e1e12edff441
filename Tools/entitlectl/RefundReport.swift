internal import EntitledClient

/// The bill of shared refunds: line by line, and summed up by month or product.
///
/// Sums are kept apart by currency: what was paid in one is never added to what was paid in
/// another.
struct RefundReport: Sendable {
    /// What is summed up together.
    enum Grouping: String, CaseIterable, Sendable {
        case month
        case product
    }

    /// Refunds of one month or product, in one currency.
    struct Total: Equatable, Sendable {
        /// `2026-03`, or the product.
        var name: String
        /// ISO 4217; empty: no payment is known.
        var currency: String
        var figures: RefundFigures
    }

    let refunds: [RefundRecord]
    let grouping: Grouping
    /// In the order of names, then of currencies.
    let totals: [Total]
    /// Over everything, one for each currency.
    let sums: [Total]

    init(_ refunds: [RefundRecord], by grouping: Grouping) {
        self.refunds = refunds
        self.grouping = grouping
        totals = Self.totals(of: refunds) { refund in
            switch grouping {
            case .month: Self.month(of: refund)
            case .product: refund.productID
            }
        }
        sums = Self.totals(of: refunds) { _ in "" }
    }

    /// The totals by month, whatever the grouping.
    var months: [Total] { Self.totals(of: refunds, Self.month) }

    /// The month of the refund in UTC: `2026-03`.
    static func month(of refund: RefundRecord) -> String {
        String(Instant.text(refund.refundedAtMilliseconds).prefix(7))
    }

    /// The currency of the payment; empty where none is known.
    static func currency(of refund: RefundRecord) -> String {
        refund.isPurchaseUnknown ? "" : refund.currency
    }

    private static func totals(
        of refunds: [RefundRecord], _ name: (RefundRecord) -> String
    ) -> [Total] {
        var positions: [[String.UTF8View.Element]: Int] = [:]
        var totals: [Total] = []
        for refund in refunds {
            let (name, currency) = (name(refund), currency(of: refund))
            // Names are compared byte by byte; a zero stands in no name of the wire's currencies.
            let key = Array(currency.utf8) + [0] + Array(name.utf8)
            if let position = positions[key] {
                totals[position].figures.add(RefundFigures(refund))
            } else {
                positions[key] = totals.count
                totals.append(
                    Total(name: name, currency: currency, figures: RefundFigures(refund)))
            }
        }
        return totals.sorted {
            $0.name.utf8.elementsEqual($1.name.utf8)
                ? $0.currency.utf8.lexicographicallyPrecedes($1.currency.utf8)
                : $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
    }
}

/// Amounts as people write them.
enum Amount {
    /// Thousandths: `9.99`, `-0.005`; two decimals at least.
    static func thousandths(_ value: Int64) -> String { decimal(value, digitCount: 3) }

    /// Millionths: `0.32`, `0.000001`; two decimals at least.
    static func millionths(_ value: Int64) -> String { decimal(value, digitCount: 6) }

    /// Thousandths of a percent: `100`, `33.333`.
    static func percent(_ value: Int32) -> String {
        var text = decimal(Int64(value), digitCount: 3)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    private static func decimal(_ value: Int64, digitCount: Int) -> String {
        let magnitude = String(value.magnitude)
        let padding = String(repeating: "0", count: max(0, digitCount + 1 - magnitude.count))
        let digits = padding + magnitude
        var fraction = digits.suffix(digitCount)
        while fraction.count > 2, fraction.hasSuffix("0") { fraction.removeLast() }
        return (value < 0 ? "-" : "") + digits.dropLast(digitCount) + "." + fraction
    }
}
