internal import EntitledClient
internal import ToolSupport

/// `customers list`: whom the server knows.
enum CustomersCommand {
    static let command = Command(
        words: ["customers", "list"], operands: [],
        flags: [
            .value("changed-since", "REVISION", "only those whom this revision or a later changed"),
            .value("limit", "N", "so many at most [1000]"),
            .value("resume", "TOKEN", "go on where a list before was cut"),
        ],
        summary: "the customers of an app and environment",
        details: [
            "In the order of the server's store. The first column is fit to be an operand.",
            "JSON, one object a line: customer, transactions, revision.",
            "A list that is cut says on stderr with which TOKEN it goes on.",
        ],
        examples: [
            ("entitlectl customers list", "the first thousand"),
            (
                "entitlectl customers list --changed-since 4711 --limit 1000000 --output json",
                "whatever has changed, for a program"
            ),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let limit = try invocation.number("limit", in: 1...1_000_000_000) ?? 1_000
        let revision = try invocation.number("changed-since", in: 0...Int.max) ?? 0
        let token = try await invocation.withClient { (client) throws(ClientError) in
            try await list(client, invocation, changedSince: UInt64(revision), limit: limit)
        }
        if !token.isEmpty {
            invocation.console.note(
                "there are more; " + LongWork.resumption("customers list", token, []))
        }
        return .success
    }

    /// Prints page by page; gives the token to go on with, empty at the end.
    private static func list(
        _ client: Client, _ invocation: Invocation, changedSince revision: UInt64, limit: Int
    ) async throws(ClientError) -> String {
        var token = invocation.value("resume") ?? ""
        var count = 0
        repeat {
            let page = try await client.listCustomers(
                changedSince: revision, pageToken: token, pageSize: min(1_000, limit - count))
            print(page.entries, isFirst: count == 0, invocation)
            count += page.entries.count
            token = page.nextPageToken
        } while !token.isEmpty && count < limit
        return token
    }

    private static func print(
        _ customers: [CustomerSummary], isFirst: Bool, _ invocation: Invocation
    ) {
        guard !invocation.isJSON else {
            for customer in customers { invocation.console.print(customer.json) }
            return
        }
        guard !customers.isEmpty || !isFirst else {
            return invocation.console.print(Line("no customer"))
        }
        var table = Table([.text("CUSTOMER"), .number("TRANSACTIONS"), .number("REVISION")])
        for customer in customers {
            table.add([
                .init(customer.operand), .init("\(customer.transactionCount)"),
                .init("\(customer.revision)"),
            ])
        }
        let lines = table.lines()
        invocation.console.print(isFirst ? lines : Array(lines.dropFirst()))
    }
}
