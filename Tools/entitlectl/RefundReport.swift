internal import EntitledClient
internal import ToolSupport

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
