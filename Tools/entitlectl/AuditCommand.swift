internal import EntitledClient
internal import ToolSupport

/// `audit`: who still has access on a refunded purchase.
enum AuditCommand {
    static let command = Command(
        words: ["audit"], operands: [],
        flags: [.toggle("exit-code", "exit 0 when there is nobody, 3 when there is somebody")],
        summary: "who still has access on a refunded purchase, and how sure is that?",
        details: [
            "One refund gives back one payment; until each member's own REVOKE has arrived, or his",
            "household is cut, up to five people go on using the app.",
            "JSON, one object a line: copy and purchase (customer, transactionId,",
            "originalTransactionId, product, ownership, granted, reason, revokedAt), confidence,",
            "grantedUntil, refreshedAt, refreshQueued, explanation.",
        ],
        examples: [
            ("entitlectl audit", "everybody, and why"),
            ("entitlectl audit --exit-code --quiet || page-somebody", "in a script"),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let progress = Progress(console: invocation.console, noun: "findings")
        let count = try await invocation.withClient { (client) throws(ClientError) in
            var count = 0
            for try await page in client.auditPages(pageSize: 1_000) {
                progress.erase()
                for finding in page.entries { print(finding, invocation) }
                count += page.entries.count
                progress.update(done: count, total: nil)
            }
            return count
        }
        progress.erase()
        if !invocation.isJSON {
            invocation.console.print(
                count == 0
                    ? Line("nobody has access on a refunded purchase", .good)
                    : Line("\(count) finding\(count == 1 ? "" : "s")", .bad))
        }
        return invocation.has("exit-code") && count > 0 ? .denied : .success
    }

    private static func print(_ finding: AccessFinding, _ invocation: Invocation) {
        guard !invocation.isJSON else { return invocation.console.print(finding.json) }
        let (copy, purchase) = (finding.copy, finding.purchase)
        let until = finding.grantedUntilMilliseconds.map { " until \(Instant.text($0))" } ?? ""
        let refunded = purchase.revokedAtMilliseconds.map { " on \(Instant.text($0))" } ?? ""
        var lines = [
            Line(copy.customerID, .bold).adding(" has \(copy.productID)\(until) by ")
                .adding(copy.transactionID),
            Line("  \(purchase.customerID)'s \(purchase.transactionID) was refunded\(refunded)"),
            Line("  \(finding.confidence.name.lowercased()): \(finding.confidence.sentence)"),
        ]
        if !finding.explanation.isEmpty { lines.append(Line("  \(finding.explanation)")) }
        let fetched =
            finding.refreshedAtMilliseconds.map { "last fetched \(Instant.text($0))" }
            ?? "never fetched"
        lines += [
            Line(
                "  Apple's history of \(copy.customerID): \(fetched)"
                    + (finding.isRefreshQueued ? ", a fetch is queued" : "")),
            Line(""),
        ]
        invocation.console.print(lines)
    }
}
