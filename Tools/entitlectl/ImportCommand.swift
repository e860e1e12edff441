internal import EntitledClient
internal import ToolSupport

/// `import`: takes in what `export` wrote.
enum ImportCommand {
    static let command = Command(
        words: ["import"], operands: ["FILE"],
        flags: [
            .value("what", "TABLE", "customers or transactions, where FILE may hold only one"),
            .value("format", "FORM", "jsonl or csv [by the first byte: { is jsonl]"),
            .value("rate", "N/s", "so many lines a second at most [no limit]"),
            .toggle("dry-run", "only tell what would change"),
        ],
        summary: "take in what `export` wrote",
        details: [
            "FILE is what `entitlectl export` wrote of customers or transactions; - is stdin.",
            "Import the customers first: they say what is whose. Every signature is verified, and",
            "what the server knows already gets no older: a repeat does no harm, so after an",
            "interruption start again. A line that is not taken in is told with its reason, the",
            "others are taken all the same, and the exit code is 1.",
            "JSON, one object a line: line and refusal (status, reason, message) of what was not",
            "taken in; at the end total (lines, taken, refused, learnt, changes, links, dryRun,",
            "done). learnt counts transactions and renewal infos that said something new.",
            "What an import does not bring: `events`, `refunds` with the dates when this server",
            "learnt of them, use, the queue. To move a server, restore a backup.",
        ],
        examples: [
            ("entitlectl import customers.jsonl && entitlectl import transactions.jsonl", "all"),
            (
                "entitlectl import - --format csv --dry-run < transactions.csv",
                "what would change?"
            ),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let table: ExportTable?
        switch invocation.value("what") {
        case nil: table = nil
        case "customers": table = .customers
        case "transactions": table = .transactions
        case let other?:
            throw CommandFailure(.usage, "--what: `\(other)` is not customers or transactions")
        }
        let format = invocation.value("format")
        if let format, format != "jsonl", format != "csv" {
            throw CommandFailure(.usage, "--format: `\(format)` is not jsonl or csv")
        }
        let rate = try LongWork.rate(invocation)
        let descriptor = try SystemCalls.open(invocation.operands[0])
        defer { SystemCalls.close(descriptor) }
        let first = try SystemCalls.read(descriptor, byteCountMax: 1 << 16)
        let isCSV = format.map { $0 == "csv" } ?? !isJSON(first)
        let reader = RecordReader(
            isCSV: isCSV, source: ImportSource(pieces: [first], descriptor: descriptor))
        return try await ImportRun(
            invocation: invocation, table: table, isDryRun: invocation.has("dry-run"),
            ratePerSecond: rate
        ).run(reader)
    }

    /// Whether the first character that is no white space and no mark opens an object.
    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        let passed: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
        return bytes.first { !passed.contains($0) } == UInt8(ascii: "{")
    }
}
