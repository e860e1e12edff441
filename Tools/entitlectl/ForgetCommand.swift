internal import EntitledClient
internal import ToolSupport

/// `customer forget`: for privacy requests. Names go, what counts stays.
enum ForgetCommand {
    /// Between two questions how it goes on.
    private static let interval = Duration.milliseconds(100)

    static let command = Command(
        words: ["customer", "forget"], operands: ["CUSTOMER"],
        flags: [
            .toggle("dry-run", "say what would go and what stays, change nothing"),
            .toggle("yes", "do not ask"),
            .toggle("no-wait", "return before the bytes have left the disk"),
        ],
        summary: "remove a customer's names and what Apple signed of him",
        details: [
            CommandTable.customerHelp,
            "His ids, tokens, accounts and links lead to nobody afterwards, and are free. His",
            "transactions, refunds and use stay and are counted, without names; they are found",
            "by their original transaction ids. It cannot be taken back. It waits until the",
            "bytes have left the server's data directory. Backups keep them until they are",
            "pruned, and audit.jsonl keeps what it has. Have the app send his token no more.",
            "JSON: customer, dryRun, number, names, namesTotal, transactions, payloads,",
            "auditEntries, inHousehold, wasQueued, erased, revision.",
        ],
        examples: [
            ("entitlectl customer forget u-1001 --dry-run", "what would go?"),
            ("entitlectl customer forget u-1001 --yes", "from a script"),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let operand = invocation.operands[0]
        let reference = try invocation.customer(operand)
        let isDryRun = invocation.has("dry-run")
        if !isDryRun { try confirm(operand, invocation) }
        let told = try await invocation.withClient { (client) throws(ClientError) in
            try await client.forgetCustomer(reference, isDryRun: isDryRun)
        }
        var result = told
        while !isDryRun, !result.isErased, !invocation.has("no-wait") {
            // A sleep that is cut short asks the sooner.
            try? await Task.sleep(for: interval)
            result.isErased = try await invocation.withClient { (client) throws(ClientError) in
                try await client.forgottenCustomer(number: told.number)
            }.isErased
        }
        if invocation.isJSON {
            invocation.console.print(json(result, isDryRun: isDryRun, of: operand))
        } else {
            invocation.console.print(lines(result, isDryRun: isDryRun))
        }
        if !isDryRun {
            invocation.console.note(
                "backups that were made before keep the names until they are pruned, and "
                    + "audit.jsonl keeps what it has; have the app send the token no more")
        }
        return .success
    }

    private static func confirm(
        _ operand: String, _ invocation: Invocation
    ) throws(CommandFailure) {
        if invocation.has("yes") { return }
        guard SystemCalls.canAsk else {
            throw CommandFailure(.usage, "nobody can be asked here: say --yes, or --dry-run")
        }
        invocation.console.alwaysNote([
            "The names of \(operand) and what Apple signed of him will be gone for good.",
            "Forget this customer? [y/N]",
        ])
        let answer = readLine() ?? ""
        guard answer == "y" || answer == "yes" else {
            throw CommandFailure(.failed, "nothing was changed")
        }
    }

    private static func lines(_ result: ForgottenCustomer, isDryRun: Bool) -> [Line] {
        let verb = isDryRun ? "would go" : "gone"
        var pairs: [(String, Table.Cell)] = [
            ("customer", .init("#\(result.number)", .bold)),
            ("names \(verb)", .init("\(result.nameCount)")),
            ("signed payloads \(verb)", .init("\(result.payloadCount)")),
            ("audit entries without names", .init("\(result.auditEntryCount)")),
            ("transactions that stay", .init("\(result.transactionCount)")),
        ]
        if result.isInHousehold {
            pairs.append(("household", .init("stays in it as a number: others share it")))
        }
        if result.wasQueued { pairs.append(("fetch from Apple", .init("dropped"))) }
        if !isDryRun {
            pairs.append(
                ("bytes on the disk", .init(result.isErased ? "gone" : "being removed")))
        }
        pairs.append(("revision", .init("\(result.revision)")))
        return Table.pairs(pairs) + result.names.map { Line("  \($0)") }
    }

    private static func json(
        _ result: ForgottenCustomer, isDryRun: Bool, of customer: String
    ) -> JSONValue {
        .object([
            ("customer", .string(customer)), ("dryRun", .boolean(isDryRun)),
            ("number", .natural(result.number)),
            ("names", .array(result.names.map { .string($0) })),
            ("namesTotal", .natural(result.nameCount)),
            ("transactions", .natural(result.transactionCount)),
            ("payloads", .natural(result.payloadCount)),
            ("auditEntries", .natural(result.auditEntryCount)),
            ("inHousehold", .boolean(result.isInHousehold)),
            ("wasQueued", .boolean(result.wasQueued)), ("erased", .boolean(result.isErased)),
            ("revision", .natural(result.revision)),
        ])
    }
}
