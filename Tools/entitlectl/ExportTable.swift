internal import EntitledClient
internal import ToolSupport

/// A value of an export; empty text and no instant are nothing.
enum ExportCell: Equatable, Sendable {
    case text(String)
    case integer(Int64)
    case flag(Bool)
    /// Milliseconds since 1970.
    case instant(Int64?)

    /// In a line of JSON.
    var json: JSONValue {
        switch self {
        case .text(let text): .optional(text)
        case .integer(let number): .integer(number)
        case .flag(let flag): .boolean(flag)
        case .instant(let milliseconds): .instant(milliseconds)
        }
    }

    /// In a line of comma-separated values. A text that a spreadsheet would take for a formula has
    /// an apostrophe before it, which spreadsheets leave out; so has one that begins with an
    /// apostrophe, or nobody could tell the two apart.
    var csv: String {
        switch self {
        case .text(let text):
            if let first = text.unicodeScalars.first, "=+-@\t\r'".unicodeScalars.contains(first) {
                "'" + text
            } else {
                text
            }
        case .integer(let number): "\(number)"
        case .flag(let flag): "\(flag)"
        case .instant(let milliseconds): milliseconds.map { Instant.text($0) } ?? ""
        }
    }
}

extension ExportCell {
    /// The text of a cell without the apostrophe that stands before formulas.
    static func unguarded(_ text: String) -> String {
        guard text.unicodeScalars.first == "'" else { return text }
        return String(text.unicodeScalars.dropFirst())
    }
}

/// What is exported: the names of its columns never change, new ones come at the end.
enum ExportTable: String, CaseIterable, Sendable {
    case customers, transactions, events, refunds

    /// From left to right; the same names in JSON.
    var columns: [String] {
        switch self {
        case .customers:
            [
                "customer_id", "household_id", "identities", "transactions", "revision",
                "customer_kind", "links",
            ]
        case .transactions:
            [
                "customer_id", "transaction_id", "original_transaction_id", "product_id", "type",
                "ownership", "purchase_date", "expires_date", "revocation_date",
                "revocation_reason", "revocation_type", "revocation_percentage_milliunits",
                "is_upgraded", "signed_date", "app_account_token", "app_transaction_id",
                "web_order_line_item_id", "price_milliunits", "currency", "overridden",
                "suspended", "signed_payload", "customer_kind", "signed_renewal",
                "dateless_revoke_at", "grant_notification_at", "active_status_at",
                "dated_copy_at", "chain_linked",
            ]
        case .events:
            [
                "customer_id", "notification_uuid", "notification_type", "subtype", "signed_date",
                "received_at", "disposition", "transaction_id", "revision",
            ]
        case .refunds:
            [
                "customer_id", "transaction_id", "original_transaction_id", "product_id",
                "purchase_date", "refunded_at", "learned_at", "price_milliunits", "currency",
                "percentage_milliunits", "refunded_milliunits", "people", "purchase_unknown",
            ]
        }
    }

    /// The cells of a customer, of whom the first page is enough.
    static func cells(
        _ customer: Customer, named reference: CustomerReference, transactionCount: Int
    ) -> [ExportCell] {
        let (kind, name) = reference.exported
        return [
            .text(name), .text(customer.householdID ?? ""),
            .text(customer.identities.joined(separator: " ")),
            .integer(Int64(transactionCount)), .integer(Int64(clamping: customer.revision)),
            .text(kind), .text(customer.links.map(\.exported).joined(separator: " ")),
        ]
    }

    /// The cells of a transaction of a customer.
    static func cells(
        _ record: TransactionRecord, of reference: CustomerReference
    ) -> [ExportCell] {
        let (kind, name) = reference.exported
        let evidence = record.evidence
        return [
            .text(name), .text(record.transactionID), .text(record.originalTransactionID),
            .text(record.productID), .text(record.type), .text(record.rawOwnership),
            .instant(record.purchaseDateMilliseconds), .instant(record.expiresDateMilliseconds),
            .instant(record.revocationDateMilliseconds),
            .integer(Int64(record.revocationReason)), .text(record.revocationType),
            .integer(Int64(record.revocationPercentage)), .flag(record.isUpgraded),
            .instant(record.signedDateMilliseconds), .text(record.appAccountToken),
            .text(record.appTransactionID), .text(record.webOrderLineItemID),
            .integer(record.priceMilliunits), .text(record.currency), .flag(record.isOverridden),
            .flag(record.isSuspended), .text(record.signedPayload), .text(kind),
            .text(record.signedRenewal), .instant(evidence.datelessRevokeMilliseconds),
            .instant(evidence.grantNotificationMilliseconds),
            .instant(evidence.activeStatusMilliseconds),
            .instant(evidence.datedCopyMilliseconds), .flag(record.isChainLinked),
        ]
    }

    /// The cells of a notification in a customer's history.
    static func cells(_ record: NotificationRecord, of customerID: String) -> [ExportCell] {
        [
            .text(customerID), .text(record.notificationUUID), .text(record.notificationType),
            .text(record.subtype), .instant(record.signedDateMilliseconds),
            .instant(record.receivedAtMilliseconds), .text(record.disposition.name),
            .text(record.transactionID), .integer(Int64(clamping: record.revision)),
        ]
    }

    /// The cells of a refund.
    static func cells(_ record: RefundRecord) -> [ExportCell] {
        [
            .text(record.customerID), .text(record.transactionID),
            .text(record.originalTransactionID), .text(record.productID),
            .instant(record.purchaseDateMilliseconds), .instant(record.refundedAtMilliseconds),
            .instant(record.learnedAtMilliseconds), .integer(record.priceMilliunits),
            .text(record.currency), .integer(Int64(record.percentageMilliunits)),
            .integer(record.refundedMilliunits), .integer(Int64(record.people.count)),
            .flag(record.isPurchaseUnknown),
        ]
    }

    /// The lines of rows as comma-separated values, the names of the columns first where they are
    /// asked for.
    func csv(_ rows: [[ExportCell]], withNames: Bool) -> String {
        let text = CSV.text(columns, rows.map { $0.map(\.csv) })
        guard !withNames, let end = text.utf8.firstIndex(of: 0x0A) else { return text }
        return String(text[text.utf8.index(after: end)...])
    }

    /// A row as an object, in the order of the columns.
    func json(_ row: [ExportCell]) -> JSONValue {
        .object(zip(columns, row).map { ($0, $1.json) })
    }
}
