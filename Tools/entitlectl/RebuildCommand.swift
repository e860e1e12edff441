internal import EntitledClient

/// `rebuild`: computes one customer anew from the whole history.
enum RebuildCommand {
    static let command = Command(
        words: ["rebuild"], operands: ["CUSTOMER"],
        flags: [
            .toggle("dry-run", "show what would change, change nothing"),
            .value("source", "SOURCE", "stored or app-store [app-store where it is configured]"),
        ],
        summary: "compute one customer anew from the whole history",
        details: [
            CommandTable.customerHelp,
            "Safe at any time: the result depends on the signed facts only.",
            "JSON: customer, dryRun, source, transactionsRead, changes, entitlements, revision.",
        ],
        examples: [
            ("entitlectl rebuild u-1001 --dry-run", "what would change?"),
            ("entitlectl rebuild u-1001", "do it"),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let reference = try invocation.customer(invocation.operands[0])
        let source = try source(invocation)
        let isDryRun = invocation.has("dry-run")
        let result = try await invocation.withClient { (client) throws(ClientError) in
            try await client.rebuildCustomer(reference, source: source, isDryRun: isDryRun)
        }
        if invocation.isJSON {
            invocation.console.print(json(result, isDryRun: isDryRun, of: invocation.operands[0]))
        } else {
            invocation.console.print(lines(result, isDryRun: isDryRun))
        }
        return .success
    }

    private static func source(_ invocation: Invocation) throws(CommandFailure) -> RebuildSource {
        switch invocation.value("source") {
        case nil: return .automatic
        case "stored": return .storedFacts
        case "app-store": return .appStore
        case let other?:
            throw CommandFailure(.usage, "--source: `\(other)` is not stored or app-store")
        }
    }

    private static func lines(_ result: RebuildResult, isDryRun: Bool) -> [Line] {
        let origin = result.source == .appStore ? "Apple's history" : "the stored facts"
        let count = result.transactionCount
        var lines = [
            Line("read \(count) transaction\(count == 1 ? "" : "s") from \(origin)")
        ]
        if result.changes.isEmpty {
            lines.append(Line(isDryRun ? "nothing would change" : "nothing changed"))
        } else {
            lines.append(Line(isDryRun ? "would change:" : "changed:", .bold))
            lines += AccessChange.lines(result.changes)
        }
        lines += [Line(""), Line(isDryRun ? "Access then" : "Access now", .bold)]
        return lines + Entitlement.lines(result.entitlements)
            + [Line(""), Line("revision \(result.revision)")]
    }

    private static func json(
        _ result: RebuildResult, isDryRun: Bool, of customer: String
    ) -> JSONValue {
        .object([
            ("customer", .string(customer)), ("dryRun", .boolean(isDryRun)),
            ("source", .string(result.source.name)),
            ("transactionsRead", .integer(Int64(result.transactionCount))),
            ("changes", .array(result.changes.map(\.json))),
            ("entitlements", .array(result.entitlements.map(\.json))),
            ("revision", .natural(result.revision)),
        ])
    }
}
