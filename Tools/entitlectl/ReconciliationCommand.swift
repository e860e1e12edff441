internal import EntitledClient
internal import ToolSupport

/// `reconciliation`: what the server still has to ask Apple, and how far it has come.
enum ReconciliationCommand {
    static let command = Command(
        words: ["reconciliation"], operands: [],
        flags: [
            .value("limit", "N", "so many queued customers at most [20]")
        ],
        summary: "what is queued for a fetch from Apple, and what has been made up for",
        details: [
            "The queue is kept across restarts; whoever is in it is fetched without further ado.",
            "JSON: appStoreAPIConfigured, queued, refreshes (customer, trigger, queuedAt,",
            "notBefore, attempts, lastReason, lastMessage), notificationsCompleteUntil,",
            "sweepFinishedAt, succeeded, failed, lastFailure (at, reason, message).",
        ],
        examples: [("entitlectl reconciliation", "is the server level with Apple?")],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let limit = try invocation.number("limit", in: 0...1_000_000) ?? 20
        let state = try await invocation.withClient { (client) throws(ClientError) in
            var state = try await client.reconciliation(pageSize: min(1_000, max(1, limit)))
            while !state.nextPageToken.isEmpty, state.refreshes.count < limit {
                let page = try await client.reconciliation(
                    pageToken: state.nextPageToken,
                    pageSize: min(1_000, limit - state.refreshes.count))
                state.refreshes += page.refreshes
                state.nextPageToken = page.nextPageToken
            }
            state.refreshes = Array(state.refreshes.prefix(limit))
            return state
        }
        if invocation.isJSON {
            invocation.console.print(json(state))
        } else {
            invocation.console.print(lines(state))
        }
        return .success
    }

    private static func lines(_ state: Reconciliation) -> [Line] {
        var pairs: [(String, Table.Cell)] = [
            ("App Store API", .init(state.isAppStoreAPIConfigured ? "configured" : "none")),
            ("queued", .init("\(state.queuedCount)")),
            (
                "notifications complete until",
                .instant(state.notificationsCompleteUntilMilliseconds)
            ),
            ("last sweep finished", .instant(state.sweepFinishedAtMilliseconds)),
            ("fetched since the start", .init("\(state.succeededCount)")),
            ("failed since the start", .init("\(state.failedCount)")),
        ]
        if let failure = state.lastFailure {
            pairs.append(
                (
                    "last failure",
                    .init(
                        "\(Instant.text(failure.atMilliseconds))  \(failure.reason): "
                            + failure.message, .bad)
                ))
        }
        var lines = Table.pairs(pairs)
        if !state.refreshes.isEmpty {
            lines += [Line("")] + QueuedRefresh.lines(state.refreshes)
        }
        let rest = state.queuedCount - min(state.queuedCount, UInt64(state.refreshes.count))
        if rest > 0, !state.nextPageToken.isEmpty {
            lines.append(Line("... and \(rest) more; --limit N shows more of them"))
        }
        return lines
    }

    private static func json(_ state: Reconciliation) -> JSONValue {
        .object([
            ("appStoreAPIConfigured", .boolean(state.isAppStoreAPIConfigured)),
            ("queued", .natural(state.queuedCount)),
            ("refreshes", .array(state.refreshes.map(\.json))),
            (
                "notificationsCompleteUntil",
                .instant(state.notificationsCompleteUntilMilliseconds)
            ),
            ("sweepFinishedAt", .instant(state.sweepFinishedAtMilliseconds)),
            ("succeeded", .natural(state.succeededCount)),
            ("failed", .natural(state.failedCount)),
            (
                "lastFailure",
                state.lastFailure.map {
                    .object([
                        ("at", .instant($0.atMilliseconds)), ("reason", .string($0.reason)),
                        ("message", .string($0.message)),
                    ])
                } ?? .null
            ),
        ])
    }
}
