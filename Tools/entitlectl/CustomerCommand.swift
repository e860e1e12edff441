internal import EntitledClient
internal import ToolSupport

/// `customer show`: all that the server knows of one customer.
enum CustomerCommand {
    static let command = Command(
        words: ["customer", "show"], operands: ["CUSTOMER"],
        flags: [.toggle("payloads", "with --output json: the signed JWS of every transaction too")],
        summary: "all that is known of one customer",
        details: [
            CommandTable.customerHelp,
            "JSON: customer, household, identities, entitlements, transactions, notifications,",
            "audit, revision, refreshedAt, queuedRefresh; the members of transactions have Apple's",
            "names.",
        ],
        examples: [
            ("entitlectl customer show u-1001", "access, transactions, notifications, names"),
            ("entitlectl customer show app-transaction:704512 --output json", "for a program"),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let reference = try invocation.customer(invocation.operands[0])
        let includesPayloads = invocation.has("payloads")
        let customer = try await invocation.withClient { (client) throws(ClientError) in
            try await client.customer(reference, withPayloads: includesPayloads)
        }
        if invocation.isJSON {
            invocation.console.print(
                json(customer, withPayloads: includesPayloads))
        } else {
            invocation.console.print(lines(customer))
        }
        return .success
    }

    private static func lines(_ customer: Customer) -> [Line] {
        var lines = Table.pairs([
            ("customer", .init(customer.customerID, .bold)),
            ("known as", .init(customer.identities.joined(separator: " "))),
            ("household", .init(customer.householdID ?? "")),
            ("last fetched", .instant(customer.refreshedAtMilliseconds)),
            ("queue", .init(customer.queuedRefresh?.sentence ?? "")),
            ("revision", .init("\(customer.revision)")),
        ])
        lines += [Line(""), Line("Access", .bold)] + Entitlement.lines(customer.entitlements)
        lines +=
            [Line(""), Line("Transactions", .bold)]
            + TransactionRecord.lines(customer.transactions)
        lines +=
            [Line(""), Line("Notifications", .bold)]
            + NotificationRecord.lines(customer.notifications)
        lines +=
            [Line(""), Line("Said of the customer", .bold)] + AuditEntry.lines(customer.audit)
        return lines
    }

    private static func json(_ customer: Customer, withPayloads: Bool) -> JSONValue {
        .object([
            ("customer", .string(customer.customerID)),
            ("household", .optional(customer.householdID ?? "")),
            ("identities", .array(customer.identities.map { .string($0) })),
            ("entitlements", .array(customer.entitlements.map(\.json))),
            (
                "transactions",
                .array(customer.transactions.map { $0.json(withPayload: withPayloads) })
            ),
            ("notifications", .array(customer.notifications.map(\.json))),
            ("audit", .array(customer.audit.map(\.json))),
            ("revision", .natural(customer.revision)),
            ("refreshedAt", .instant(customer.refreshedAtMilliseconds)),
            ("queuedRefresh", customer.queuedRefresh?.json ?? .null),
        ])
    }
}
