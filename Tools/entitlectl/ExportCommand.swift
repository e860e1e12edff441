internal import EntitledClient
internal import ToolSupport

/// `export`: what the server knows, for spreadsheets and other programs.
enum ExportCommand {
    static let command = Command(
        words: ["export"], operands: [],
        flags: [
            .value("what", "TABLE", "customers, transactions, events or refunds"),
            .value("format", "FORM", "jsonl or csv [jsonl]"),
            .value("since", "TIME", "bought, received or refunded at this instant or later"),
            .value("until", "TIME", "bought, received or refunded before this instant"),
        ],
        summary: "what the server knows, for spreadsheets and other programs",
        details: [
            "UTF-8. CSV after RFC 4180 with a line of names, jsonl with an object a line, whose",
            "members have the same names and order; new ones come at the end. Times are RFC 3339,",
            "money is in thousandths of the currency's unit. In CSV a text that begins with = + -",
            "@ or ' has an apostrophe before it, or a spreadsheet would take it for a formula.",
            "Transactions come with what Apple signed. An event stands once for each customer whom",
            "it concerns; those that concern nobody are left out. What changes meanwhile may be in",
            "it or not, or twice: for all of one revision, and to move a server, make a backup.",
            "`entitlectl import` takes in customers and transactions. A transaction whose",
            "signed_payload is empty cannot be imported: the server has not its bytes any more.",
        ],
        examples: [
            ("entitlectl export --what transactions > transactions.jsonl", "all of them"),
            (
                "entitlectl export --what refunds --format csv --since 2026-01-01 > refunds.csv",
                "for a spreadsheet"
            ),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        guard let table = invocation.value("what").flatMap({ ExportTable(rawValue: $0) }) else {
            throw CommandFailure(
                .usage, "--what is one of customers, transactions, events and refunds")
        }
        let isCSV: Bool
        switch invocation.value("format") {
        case nil, "jsonl": isCSV = false
        case "csv": isCSV = true
        case let other?:
            throw CommandFailure(.usage, "--format: `\(other)` is not jsonl or csv")
        }
        let since = try invocation.instant("since")
        let until = try invocation.instant("until")
        if table == .customers, since != nil || until != nil {
            throw CommandFailure(.usage, "customers have no time: leave --since and --until out")
        }
        let span = (since ?? .min)..<max(since ?? .min, until ?? .max)
        let writer = ExportWriter(table: table, isCSV: isCSV, console: invocation.console)
        if isCSV { writer.write([], withNames: true) }
        try await invocation.withClient { (client) throws(ClientError) in
            if table == .refunds {
                try await refunds(client, from: since, to: until, writer)
            } else {
                try await customers(client, span, writer)
            }
        }
        return .success
    }

    private static func refunds(
        _ client: Client, from since: Int64?, to until: Int64?, _ writer: ExportWriter
    ) async throws(ClientError) {
        let filter = RefundFilter(fromMilliseconds: since, toMilliseconds: until)
        var token = ""
        repeat {
            let page = try await client.listRefunds(filter, pageToken: token)
            writer.write(page.entries.map { ExportTable.cells($0) })
            token = page.nextPageToken
        } while !token.isEmpty
    }

    private static func customers(
        _ client: Client, _ span: Range<Int64>, _ writer: ExportWriter
    ) async throws(ClientError) {
        var token = ""
        repeat {
            let page = try await client.listCustomers(pageToken: token, pageSize: 1_000)
            for summary in page.entries {
                try await customer(client, summary, span, writer)
            }
            token = page.nextPageToken
        } while !token.isEmpty
    }

    /// So often a customer is begun anew who changes while he is read.
    private static let readingCountMax = 8

    /// Writes a customer page by page: who has 50,000 transactions is never held whole. Who changes
    /// in a way that breaks the pages is begun anew, and what was written stands twice.
    private static func customer(
        _ client: Client, _ summary: CustomerSummary, _ span: Range<Int64>, _ writer: ExportWriter
    ) async throws(ClientError) {
        guard let reference = summary.customer else { return }
        for attempt in 1...readingCountMax {
            var isFirst = true
            do throws(ClientError) {
                for try await page in client.customerPages(
                    of: reference, withPayloads: writer.table == .transactions)
                {
                    writer.write(rows(of: page, summary, reference, in: span, writer.table))
                    isFirst = false
                    if writer.table != .transactions { break }
                }
                return
            } catch {
                guard case .refused(let refusal) = error else { throw error }
                // Merged into another one since the page was read, who has his own line.
                if refusal.reason == "UNKNOWN_CUSTOMER" { return }
                guard !isFirst, refusal.reason == "INVALID_FIELD", attempt < readingCountMax
                else { throw error }
            }
        }
    }

    private static func rows(
        of customer: Customer, _ summary: CustomerSummary, _ reference: CustomerReference,
        in span: Range<Int64>, _ table: ExportTable
    ) -> [[ExportCell]] {
        switch table {
        case .customers:
            [
                ExportTable.cells(
                    customer, named: reference, transactionCount: summary.transactionCount)
            ]
        case .transactions:
            customer.transactions.filter { span.contains($0.purchaseDateMilliseconds) }
                .map { ExportTable.cells($0, of: reference) }
        case .events:
            customer.notifications.filter { span.contains($0.receivedAtMilliseconds) }
                .map { ExportTable.cells($0, of: customer.customerID) }
        case .refunds: []
        }
    }
}

/// Writes the rows of one table.
private struct ExportWriter: Sendable {
    let table: ExportTable
    let isCSV: Bool
    let console: Console

    func write(_ rows: [[ExportCell]], withNames: Bool = false) {
        if isCSV {
            let text = table.csv(rows, withNames: withNames)
            if !text.isEmpty { SystemCalls.write(text, to: .output) }
        } else {
            for row in rows { console.print(table.json(row)) }
        }
    }
}
