internal import EntitledClient
internal import ToolSupport

// How the values of the client look as JSON and in tables; each in one place.

extension AccessChange {
    var json: JSONValue {
        .object([
            ("customer", .string(customerID)), ("product", .string(productID)),
            ("grantedBefore", .boolean(wasGranted)), ("grantedAfter", .boolean(isGranted)),
            ("reason", .string(reason.name)),
        ])
    }

    /// A change for people; nothing where there is none.
    static func lines(_ changes: [AccessChange]) -> [Line] {
        guard !changes.isEmpty else { return [] }
        var table = Table([
            .text("CUSTOMER"), .text("PRODUCT"), .text("BEFORE"), .text("AFTER"), .text("REASON"),
        ])
        for change in changes {
            table.add([
                .init(change.customerID), .init(change.productID), .verdict(change.wasGranted),
                .verdict(change.isGranted), .init(change.reason.name),
            ])
        }
        return table.lines()
    }
}

extension Table.Cell {
    /// Granted or denied, in its colour.
    static func verdict(_ isGranted: Bool) -> Table.Cell {
        isGranted ? .init("granted", .good) : .init("denied", .bad)
    }

    /// An instant, or "-".
    static func instant(_ milliseconds: Int64?) -> Table.Cell {
        .init(milliseconds.map { Instant.text($0) } ?? "")
    }
}

extension Entitlement {
    var json: JSONValue {
        .object([
            ("product", .string(productID)), ("names", .array(names.map { .string($0) })),
            ("granted", .boolean(isGranted)), ("reason", .string(reason.name)),
            ("ownership", .string(ownership.name)),
            ("validUntil", .instant(validUntilMilliseconds)),
            ("transactionId", .optional(transactionID)),
            ("originalTransactionId", .optional(originalTransactionID)),
            ("revokedAt", .instant(revokedAtMilliseconds)),
            ("paymentReversed", .boolean(isPaymentReversed)),
            ("causeCertain", .boolean(isCauseCertain)),
            ("familyConfidence", .string(familyConfidence.name)),
            ("familyTransactionId", .optional(familyTransactionID)),
        ])
    }

    static func lines(_ entitlements: [Entitlement]) -> [Line] {
        guard !entitlements.isEmpty else { return [Line("no product")] }
        var table = Table([
            .text("PRODUCT"), .text("ACCESS"), .text("REASON"), .text("OWNERSHIP"), .text("UNTIL"),
            .text("REVOKED"), .text("PAYMENT"), .text("TRANSACTION"),
        ])
        for entitlement in entitlements {
            let payment =
                entitlement.isPaymentReversed
                ? (entitlement.isCauseCertain ? "reversed" : "reversed?") : ""
            table.add([
                .init(entitlement.productID), .verdict(entitlement.isGranted),
                .init(entitlement.reason.name), .init(entitlement.ownership.name),
                .instant(entitlement.validUntilMilliseconds),
                .instant(entitlement.revokedAtMilliseconds), .init(payment),
                .init(entitlement.transactionID),
            ])
        }
        return table.lines()
    }
}

extension TransactionRecord {
    /// The record; with the signed JWS only where somebody asked for it.
    func json(withPayload: Bool) -> JSONValue {
        var members: [(name: String, value: JSONValue)] = [
            ("transactionId", .string(transactionID)),
            ("originalTransactionId", .string(originalTransactionID)),
            ("productId", .string(productID)), ("type", .string(type)),
            ("ownership", .string(ownership.name)), ("inAppOwnershipType", .optional(rawOwnership)),
            ("purchaseDate", .instant(purchaseDateMilliseconds)),
            ("expiresDate", .instant(expiresDateMilliseconds)),
            ("revocationDate", .instant(revocationDateMilliseconds)),
            (
                "revocationReason",
                revocationDateMilliseconds == nil ? .null : .integer(Int64(revocationReason))
            ),
            ("revocationType", .optional(revocationType)),
            ("revocationPercentage", .integer(Int64(revocationPercentage))),
            ("isUpgraded", .boolean(isUpgraded)), ("signedDate", .instant(signedDateMilliseconds)),
            ("appAccountToken", .optional(appAccountToken)),
            ("appTransactionId", .optional(appTransactionID)),
            ("webOrderLineItemId", .optional(webOrderLineItemID)),
            ("priceMilliunits", .integer(priceMilliunits)), ("currency", .optional(currency)),
            ("overridden", .boolean(isOverridden)), ("suspended", .boolean(isSuspended)),
        ]
        if withPayload { members.append(("signedPayload", .optional(signedPayload))) }
        return .object(members)
    }

    static func lines(_ transactions: [TransactionRecord]) -> [Line] {
        guard !transactions.isEmpty else { return [Line("no transaction")] }
        var table = Table([
            .text("TRANSACTION"), .text("ORIGINAL"), .text("PRODUCT"), .text("OWNERSHIP"),
            .text("BOUGHT"), .text("EXPIRES"), .text("REVOKED"), .text("STATE"), .number("PRICE"),
        ])
        for record in transactions {
            let states = [
                record.isOverridden ? "overridden" : "", record.isSuspended ? "suspended" : "",
                record.isUpgraded ? "upgraded" : "", record.revocationType,
            ].filter { !$0.isEmpty }
            table.add([
                .init(record.transactionID), .init(record.originalTransactionID),
                .init(record.productID), .init(record.rawOwnership),
                .instant(record.purchaseDateMilliseconds), .instant(record.expiresDateMilliseconds),
                .instant(record.revocationDateMilliseconds),
                .init(states.joined(separator: ",")), .init(record.priceText),
            ])
        }
        return table.lines()
    }

    /// `9.99 EUR`; empty without a currency.
    private var priceText: String {
        guard !currency.isEmpty else { return "" }
        let magnitude = priceMilliunits.magnitude
        let thousandths = "\(magnitude % 1_000)"
        var fraction = String(repeating: "0", count: 3 - thousandths.count) + thousandths
        if fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(priceMilliunits < 0 ? "-" : "")\(magnitude / 1_000).\(fraction) \(currency)"
    }
}

extension NotificationRecord {
    var json: JSONValue {
        .object([
            ("notificationUUID", .string(notificationUUID)),
            ("notificationType", .string(notificationType)), ("subtype", .optional(subtype)),
            ("signedDate", .instant(signedDateMilliseconds)),
            ("receivedAt", .instant(receivedAtMilliseconds)),
            ("disposition", .string(disposition.name)), ("transactionId", .optional(transactionID)),
            ("revision", .natural(revision)),
        ])
    }

    static func lines(_ notifications: [NotificationRecord]) -> [Line] {
        guard !notifications.isEmpty else { return [Line("no notification")] }
        var table = Table([
            .number("REVISION"), .text("TYPE"), .text("SUBTYPE"), .text("SIGNED"),
            .text("RECEIVED"), .text("DISPOSITION"), .text("TRANSACTION"), .text("UUID"),
        ])
        for record in notifications {
            table.add([
                .init("\(record.revision)"), .init(record.notificationType), .init(record.subtype),
                .instant(record.signedDateMilliseconds), .instant(record.receivedAtMilliseconds),
                .init(record.disposition.name), .init(record.transactionID),
                .init(record.notificationUUID),
            ])
        }
        return table.lines()
    }
}

extension AuditEntry {
    var json: JSONValue {
        .object([
            ("at", .instant(atMilliseconds)), ("action", .string(action)),
            ("customer", .optional(customerID)), ("detail", .optional(detail)),
        ])
    }

    static func lines(_ records: [AuditEntry]) -> [Line] {
        guard !records.isEmpty else { return [Line("nothing")] }
        var table = Table([.text("AT"), .text("ACTION"), .text("CUSTOMER"), .text("DETAIL")])
        for record in records {
            table.add([
                .instant(record.atMilliseconds), .init(record.action), .init(record.customerID),
                .init(record.detail),
            ])
        }
        return table.lines()
    }
}
