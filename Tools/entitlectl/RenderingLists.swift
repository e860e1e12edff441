internal import EntitledClient
internal import ToolSupport

// How lists, and what was asked of Apple, look as JSON and in tables.

extension CustomerReference {
    /// As an operand of this tool, such as `token:...`; it names the same customer.
    var operand: String {
        switch self {
        case .customer(let name):
            // A name that looks like one of the other kinds.
            name.contains(":") || name.hasPrefix("-") ? "customer:\(name)" : name
        case .appAccountToken(let token): "token:\(token)"
        case .appTransaction(let id): "app-transaction:\(id)"
        case .originalTransaction(let id): "original-transaction:\(id)"
        }
    }
}

extension CustomerSummary {
    /// Whom to name; "?" where this release does not know how.
    var operand: String { customer?.operand ?? "?" }

    var json: JSONValue {
        .object([
            ("customer", customer.map { .string($0.operand) } ?? .null),
            ("transactions", .integer(Int64(transactionCount))), ("revision", .natural(revision)),
        ])
    }
}

extension ItemProblem {
    var json: JSONValue {
        .object([("reason", .string(reason)), ("message", .string(message))])
    }

    /// Problems for people; nothing where there is none.
    static func lines(_ problems: [ItemProblem]) -> [Line] {
        problems.map { Line("not taken: ", .bad).adding("\($0.message) (\($0.reason))") }
    }
}

extension Refusal {
    var json: JSONValue {
        .object([
            ("status", .string(status.name)), ("reason", .string(reason)),
            ("message", .string(message)),
        ])
    }
}

extension FamilyCopy {
    var json: JSONValue {
        .object([
            ("customer", .string(customerID)), ("transactionId", .string(transactionID)),
            ("originalTransactionId", .string(originalTransactionID)),
            ("product", .string(productID)), ("ownership", .string(ownership.name)),
            ("granted", .boolean(isGranted)), ("reason", .string(reason.name)),
            ("revokedAt", .instant(revokedAtMilliseconds)),
        ])
    }

    static func lines(_ copies: [FamilyCopy], indent: Int = 0) -> [Line] {
        var table = Table([
            .text("CUSTOMER"), .text("PRODUCT"), .text("OWNERSHIP"), .text("ACCESS"),
            .text("REASON"), .text("REVOKED"), .text("TRANSACTION"),
        ])
        for copy in copies {
            table.add([
                .init(copy.customerID), .init(copy.productID), .init(copy.ownership.name),
                .verdict(copy.isGranted), .init(copy.reason.name),
                .instant(copy.revokedAtMilliseconds), .init(copy.transactionID),
            ])
        }
        return table.lines(indent: indent)
    }
}

extension FamilyConfidence {
    /// For sentences: how the purchase behind a family copy is known.
    var sentence: String {
        switch self {
        case .declared: "the app declared the household"
        case .strong: "product, dates and line item are the same to the last digit"
        case .likely: "product and dates are the same to the millisecond"
        case .ambiguous: "more than one family fits, so none is assumed"
        default: "nothing says so"
        }
    }
}

extension AccessFinding {
    var json: JSONValue {
        .object([
            ("copy", copy.json), ("purchase", purchase.json),
            ("confidence", .string(confidence.name)),
            ("grantedUntil", .instant(grantedUntilMilliseconds)),
            ("refreshedAt", .instant(refreshedAtMilliseconds)),
            ("refreshQueued", .boolean(isRefreshQueued)), ("explanation", .string(explanation)),
        ])
    }
}

extension QueuedRefresh {
    var json: JSONValue {
        .object([
            ("customer", .string(customerID)), ("trigger", .string(trigger)),
            ("queuedAt", .instant(queuedAtMilliseconds)),
            ("notBefore", .instant(notBeforeMilliseconds)),
            ("attempts", .integer(Int64(attemptCount))), ("lastReason", .optional(lastReason)),
            ("lastMessage", .optional(lastMessage)),
        ])
    }

    /// For people, in one line.
    var sentence: String {
        var text = "a fetch from Apple is queued since \(Instant.text(queuedAtMilliseconds))"
        text += " (\(trigger))"
        guard attemptCount > 0 else { return text }
        let times = attemptCount == 1 ? "once" : "\(attemptCount) times"
        return text + "; it failed \(times), last with \(lastReason): \(lastMessage)"
            + "; next attempt not before \(Instant.text(notBeforeMilliseconds))"
    }

    static func lines(_ refreshes: [QueuedRefresh]) -> [Line] {
        guard !refreshes.isEmpty else { return [] }
        var table = Table([
            .text("CUSTOMER"), .text("TRIGGER"), .text("QUEUED"), .text("NOT BEFORE"),
            .number("FAILED"), .text("LAST FAILURE"),
        ])
        for refresh in refreshes {
            table.add([
                .init(refresh.customerID), .init(refresh.trigger),
                .instant(refresh.queuedAtMilliseconds), .instant(refresh.notBeforeMilliseconds),
                .init("\(refresh.attemptCount)"), .init(refresh.lastReason),
            ])
        }
        return table.lines()
    }
}
