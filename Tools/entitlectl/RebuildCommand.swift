internal import EntitledClient
internal import ToolSupport

/// `rebuild`: computes one customer, or all of them, anew from the whole history.
enum RebuildCommand {
    static let command = Command(
        words: ["rebuild"], operands: ["CUSTOMER?"],
        flags: [
            .toggle("all", "every customer of the app and environment, one after the other"),
            .toggle("dry-run", "show what would change, change nothing"),
            .value("source", "SOURCE", "stored or app-store [app-store where it is configured]"),
            .value("rate", "N/s", "with --all: so many customers a second at most [no limit]"),
            .value("resume", "TOKEN", "with --all: go on where it was interrupted"),
        ],
        summary: "compute customers anew from the whole history",
        details: [
            CommandTable.customerHelp,
            "Safe at any time: the result depends on the signed facts only. What Apple sends and",
            "the server does not believe is told and left out; the rest is taken.",
            "JSON: customer, dryRun, source, transactionsRead, changes, entitlements, revision,",
            "problems (reason, message).",
            "With --all, one object a line for each customer with something to tell: customer,",
            "changes, problems, refusal (status, reason, message) or null; at the end total with",
            "customers, rebuilt, gone, failed, changes, problems, dryRun, done. Exit code 1 when",
            "some failed. Ctrl-C says with which TOKEN it goes on.",
        ],
        examples: [
            ("entitlectl rebuild u-1001 --dry-run", "what would change?"),
            ("entitlectl rebuild u-1001", "do it"),
            ("entitlectl rebuild --all --rate 5/s", "everybody, without hurry"),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let source = try source(invocation)
        let isDryRun = invocation.has("dry-run")
        guard !invocation.has("all") else {
            guard invocation.operands.isEmpty else {
                throw CommandFailure(.usage, "name a CUSTOMER or --all, not both")
            }
            return try await RebuildAll(
                invocation: invocation, source: source, isDryRun: isDryRun,
                ratePerSecond: try LongWork.rate(invocation)
            ).run()
        }
        guard let operand = invocation.operands.first else {
            throw CommandFailure(.usage, "whom? name a CUSTOMER, or --all for everybody")
        }
        guard invocation.value("rate") == nil, invocation.value("resume") == nil else {
            throw CommandFailure(.usage, "--rate and --resume go with --all")
        }
        let reference = try invocation.customer(operand)
        let result = try await invocation.withClient { (client) throws(ClientError) in
            try await client.rebuildCustomer(reference, source: source, isDryRun: isDryRun)
        }
        if invocation.isJSON {
            invocation.console.print(json(result, isDryRun: isDryRun, of: operand))
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
        lines += ItemProblem.lines(result.problems)
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
            ("problems", .array(result.problems.map(\.json))),
        ])
    }
}
