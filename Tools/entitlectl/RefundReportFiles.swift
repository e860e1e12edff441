internal import EntitledClient
internal import ToolSupport

// The report for programs: comma-separated values and JSON. The order and the names of columns and
// members are kept; new ones come at the end.

extension RefundReport {
    /// One line for each refund.
    var refundsCSV: String {
        let columns =
            [
                "refunded_at", "learned_at", "transaction_id", "original_transaction_id",
                "product_id", "customer_id", "purchase_date", "purchase_unknown",
                "price_milliunits", "percentage_milliunits", "currency",
            ] + RefundFigures.columns
        return CSV.text(columns, refunds.map(Self.cells))
    }

    private static func cells(_ refund: RefundRecord) -> [String] {
        let isUnknown = refund.isPurchaseUnknown
        return [
            Instant.text(refund.refundedAtMilliseconds), Instant.text(refund.learnedAtMilliseconds),
            refund.transactionID, refund.originalTransactionID, refund.productID,
            refund.customerID, Instant.text(refund.purchaseDateMilliseconds),
            isUnknown ? "true" : "false", isUnknown ? "" : "\(refund.priceMilliunits)",
            "\(refund.percentageMilliunits)", currency(of: refund),
        ] + RefundFigures(refund).cells
    }

    /// One line for each month or product and currency.
    var totalsCSV: String {
        CSV.text(
            [grouping == .month ? "month" : "product_id", "currency"] + RefundFigures.columns,
            totals.map { [$0.name, $0.currency] + $0.figures.cells })
    }

    /// Everything, as one object.
    var json: JSONValue {
        .object([
            ("refunds", .array(refunds.map(\.reportJSON))),
            ("by", .string(grouping.rawValue)),
            ("totals", .array(totals.map { $0.json(named: grouping.rawValue) })),
            ("sums", .array(sums.map { $0.json(named: nil) })),
        ])
    }
}

extension RefundFigures {
    fileprivate static let columns = [
        "refunds", "refunded_milliunits", "people_with_access", "people_served", "buyer_days",
        "buyer_checks", "buyer_units", "buyer_cost_micros", "unpaid_days", "unpaid_checks",
        "unpaid_units", "unpaid_cost_micros", "leaked_people", "leaked_days", "leaked_checks",
        "leaked_units", "leaked_cost_micros", "leaked_periods", "people_still_granted",
        "cost_micros",
    ]

    fileprivate var cells: [String] {
        ["\(refundCount)", "\(refundedMilliunits)", "\(peopleWithAccess)", "\(peopleServed)"]
            + buyer.cells + unpaid.cells + ["\(leakedPeople)"] + leaked.cells
            + ["\(leakedPeriods)", "\(peopleStillGranted)", "\(costMicros)"]
    }

    fileprivate var members: [(name: String, value: JSONValue)] {
        [
            ("refundedMilliunits", .integer(refundedMilliunits)),
            ("peopleWithAccess", .integer(peopleWithAccess)),
            ("peopleServed", .integer(peopleServed)), ("buyer", .object(buyer.members)),
            ("unpaid", .object(unpaid.members)),
            (
                "leaked",
                .object(
                    [("people", .integer(leakedPeople))] + leaked.members
                        + [("periods", .integer(leakedPeriods))])
            ),
            ("peopleStillGranted", .integer(peopleStillGranted)),
            ("costMicros", .integer(costMicros)),
        ]
    }
}

extension UseFigures {
    fileprivate var cells: [String] { ["\(days)", "\(checks)", "\(units)", "\(costMicros)"] }

    fileprivate var members: [(name: String, value: JSONValue)] {
        [
            ("days", .integer(days)), ("checks", .natural(checks)), ("units", .natural(units)),
            ("costMicros", .integer(costMicros)),
        ]
    }
}

extension RefundReport.Total {
    fileprivate func json(named member: String?) -> JSONValue {
        var members: [(name: String, value: JSONValue)] = []
        if let member { members.append((member, .string(name))) }
        members += [
            ("currency", .optional(currency)), ("refunds", .integer(figures.refundCount)),
        ]
        return .object(members + figures.members)
    }
}

extension RefundRecord {
    fileprivate var reportJSON: JSONValue {
        .object(
            [
                ("transactionId", .string(transactionID)),
                ("originalTransactionId", .string(originalTransactionID)),
                ("productId", .string(productID)), ("customer", .string(customerID)),
                ("purchaseDate", .instant(purchaseDateMilliseconds)),
                ("refundedAt", .instant(refundedAtMilliseconds)),
                ("learnedAt", .instant(learnedAtMilliseconds)),
                ("purchaseUnknown", .boolean(isPurchaseUnknown)),
                ("priceMilliunits", isPurchaseUnknown ? .null : .integer(priceMilliunits)),
                ("percentageMilliunits", .integer(Int64(percentageMilliunits))),
                ("currency", .optional(RefundReport.currency(of: self))),
            ] + RefundFigures(self).members + [("people", .array(people.map(\.reportJSON)))])
    }
}

extension PersonUse {
    fileprivate var reportJSON: JSONValue {
        .object([
            ("customer", .string(customerID)), ("transactionId", .string(transactionID)),
            ("originalTransactionId", .string(originalTransactionID)),
            ("ownership", .string(ownership.name)), ("confidence", .string(confidence.name)),
            ("days", .integer(Int64(dayCount))), ("checks", .natural(checkCount)),
            ("units", .natural(units)), ("costMicros", .integer(costMicros)),
            ("leakedDays", .integer(Int64(leakedDayCount))),
            ("leakedChecks", .natural(leakedCheckCount)), ("leakedUnits", .natural(leakedUnits)),
            ("leakedCostMicros", .integer(leakedCostMicros)),
            ("leakedPeriods", .integer(Int64(leakedPeriodCount))),
            ("accessEndedAt", .instant(accessEndedAtMilliseconds)),
        ])
    }
}

/// Comma-separated values. See: RFC 4180
enum CSV {
    /// The names of the columns and the lines, each ended as the RFC says.
    static func text(_ columns: [String], _ lines: [[String]]) -> String {
        ([columns] + lines).map { line in
            precondition(line.count == columns.count, "a line has a value for every column")
            return line.map(field).joined(separator: ",") + "\r\n"
        }.joined()
    }

    /// Quoted where it has to be.
    private static func field(_ text: String) -> String {
        let needsQuotes = text.utf8.contains { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 0x0D || byte == 0x0A
        }
        guard needsQuotes else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
