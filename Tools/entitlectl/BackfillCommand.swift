internal import EntitledClient
internal import ToolSupport

/// `backfill`: replays Apple's notification history and closes its gaps.
enum BackfillCommand {
    static let command = Command(
        words: ["backfill"], operands: [],
        flags: [
            .value("from", "TIME", "from this instant on; Apple keeps 180 days, 30 of Sandbox"),
            .value("to", "TIME", "to before this instant [now]"),
            .toggle("only-failures", "only what Apple could not deliver"),
            .toggle("dry-run", "say what was missed, store nothing"),
            .value("resume", "TOKEN", "go on where it was interrupted; instead of --from, --to"),
        ],
        summary: "take in what was missed of Apple's notifications",
        details: [
            "Safe at any time, and as often as one likes: what the server has already changes",
            "nothing. Ctrl-C says with which TOKEN it goes on.",
            "Exit code 0 when all was taken in, 1 when something of Apple's was not believed.",
            "JSON, one object a line: per page notificationsRead, recovered, changes, problems,",
            "resume (the token of the next page or null); at the end total with pages,",
            "notificationsRead, recovered, changes, problems, dryRun, done.",
        ],
        examples: [
            ("entitlectl backfill --from 2026-03-01 --dry-run", "what has been missed since?"),
            ("entitlectl backfill --from 2026-03-01 --to 2026-03-08", "close the gaps of a week"),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let start = try start(invocation)
        let result = await LongWork.cancellable {
            await replayed(from: start, invocation)
        }
        let end = try result.get()
        let totals = end.totals
        if invocation.isJSON {
            invocation.console.print(totals.json(isDone: end.error == nil, start.backfill.isDryRun))
        } else if end.error == nil || totals.readCount > 0 {
            invocation.console.print(totals.line(start.backfill.isDryRun))
        }
        guard let error = end.error else {
            return totals.problemCount == 0 ? .success : .failed
        }
        var position = start
        position.pageToken = totals.nextToken
        throw LongWork.stopped(
            error, invocation,
            goOn: LongWork.resumption(
                "backfill", position.text, start.backfill.isDryRun ? ["--dry-run"] : []))
    }

    /// Where to begin: at an instant, or where it was interrupted.
    private static func start(_ invocation: Invocation) throws(CommandFailure) -> BackfillPosition {
        let from = try invocation.instant("from")
        let to = try invocation.instant("to")
        if let text = invocation.value("resume") {
            guard from == nil, to == nil, !invocation.has("only-failures") else {
                throw CommandFailure(
                    .usage, "--resume knows from when to when; leave the other flags out")
            }
            guard var position = BackfillPosition(text) else {
                throw CommandFailure(.usage, "--resume: this is no token of `backfill`")
            }
            position.backfill.isDryRun = invocation.has("dry-run")
            return position
        }
        guard let from else {
            throw CommandFailure(
                .usage, "from when? name the instant with --from TIME",
                hint: "such as --from 2026-03-01, or --from 2026-03-08T10:00:05Z")
        }
        // Said once: with another end the token of a page would mean nothing to Apple.
        let end = to ?? SystemCalls.nowMilliseconds
        guard from < end else {
            throw CommandFailure(.usage, "--from is not before --to")
        }
        return BackfillPosition(
            backfill: Backfill(
                fromMilliseconds: from, toMilliseconds: end,
                isOnlyFailures: invocation.has("only-failures"),
                isDryRun: invocation.has("dry-run")), pageToken: "")
    }

    /// What was done before the end, and why it ended; nil = all is done.
    private typealias Replay = (totals: BackfillTotals, error: ClientError?)

    private static func replayed(
        from start: BackfillPosition, _ invocation: Invocation
    ) async -> Result<Replay, CommandFailure> {
        do throws(CommandFailure) {
            return .success(
                try await invocation.withClient { (client) throws(ClientError) in
                    await replay(from: start, client, invocation)
                })
        } catch {
            return .failure(error)
        }
    }

    private static func replay(
        from start: BackfillPosition, _ client: Client, _ invocation: Invocation
    ) async -> Replay {
        let progress = Progress(console: invocation.console, noun: "notifications")
        defer { progress.erase() }
        var totals = BackfillTotals(nextToken: start.pageToken)
        // Tokens are bytes to be given back as they came.
        var followed: Set<[UInt8]> = [Array(start.pageToken.utf8)]
        do throws(ClientError) {
            repeat {
                let token = totals.nextToken
                let page = try await LongWork.retrying("a page", invocation.console) {
                    () throws(ClientError) in
                    try await client.backfillNotifications(start.backfill, pageToken: token)
                }
                let next = page.nextPageToken
                guard next.isEmpty || followed.insert(Array(next.utf8)).inserted else {
                    throw .protocolViolation("pages that go round in a ring")
                }
                totals.add(page)
                progress.erase()
                print(page, start, invocation)
                progress.update(done: totals.readCount, total: nil)
            } while !totals.nextToken.isEmpty
            return (totals, nil)
        } catch {
            return (totals, error)
        }
    }

    private static func print(
        _ page: BackfilledPage, _ start: BackfillPosition, _ invocation: Invocation
    ) {
        if invocation.isJSON {
            var next = start
            next.pageToken = page.nextPageToken
            return invocation.console.print(
                JSONValue.object([
                    ("notificationsRead", .integer(Int64(page.notificationCount))),
                    ("recovered", .array(page.recovered.map(\.json))),
                    ("changes", .array(page.changes.map(\.json))),
                    ("problems", .array(page.problems.map(\.json))),
                    ("resume", page.nextPageToken.isEmpty ? .null : .string(next.text)),
                ]))
        }
        var lines = page.recovered.map { record in
            let kind = [record.notificationType, record.subtype].filter { !$0.isEmpty }
                .joined(separator: "/")
            return Line(start.backfill.isDryRun ? "missed  " : "recovered  ", .good).adding(
                "\(Instant.text(record.signedDateMilliseconds))  \(kind)"
                    + "  \(record.notificationUUID)")
        }
        lines += ItemProblem.lines(page.problems) + AccessChange.lines(page.changes)
        if !lines.isEmpty { invocation.console.print(lines) }
    }
}

/// Where a backfill stands, as a text that a person can keep.
struct BackfillPosition: Sendable {
    var backfill: Backfill
    /// Apple's; empty = the first page.
    var pageToken: String

    init(backfill: Backfill, pageToken: String) {
        self.backfill = backfill
        self.pageToken = pageToken
    }

    /// Reads what `text` wrote; nil when it is none.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let from = Int64(parts[0]), let to = Int64(parts[1]), from < to,
            from >= 0, parts[2] == "all" || parts[2] == "failures"
        else { return nil }
        backfill = Backfill(
            fromMilliseconds: from, toMilliseconds: to, isOnlyFailures: parts[2] == "failures")
        pageToken = String(parts[3])
    }

    /// `FROM:TO:all:TOKEN`.
    var text: String {
        "\(backfill.fromMilliseconds):\(backfill.toMilliseconds):"
            + "\(backfill.isOnlyFailures ? "failures" : "all"):\(pageToken)"
    }
}

/// What a backfill has done.
private struct BackfillTotals: Sendable {
    private(set) var pageCount = 0
    private(set) var readCount = 0
    private(set) var recoveredCount = 0
    private(set) var changeCount = 0
    private(set) var problemCount = 0
    /// Of the page to be asked for next; empty after the last.
    private(set) var nextToken: String

    init(nextToken: String) { self.nextToken = nextToken }

    mutating func add(_ page: BackfilledPage) {
        pageCount += 1
        readCount += page.notificationCount
        recoveredCount += page.recovered.count
        changeCount += page.changes.count
        problemCount += page.problems.count
        nextToken = page.nextPageToken
    }

    func line(_ isDryRun: Bool) -> Line {
        let problems =
            problemCount == 0 ? "" : ", \(problemCount) not believed and not taken"
        return Line(
            "read \(readCount) notification\(readCount == 1 ? "" : "s"): \(recoveredCount) "
                + "\(isDryRun ? "missed" : "recovered"), \(changeCount) change"
                + "\(changeCount == 1 ? "" : "s") of access\(problems)")
    }

    func json(isDone: Bool, _ isDryRun: Bool) -> JSONValue {
        .object([
            (
                "total",
                .object([
                    ("pages", .integer(Int64(pageCount))),
                    ("notificationsRead", .integer(Int64(readCount))),
                    ("recovered", .integer(Int64(recoveredCount))),
                    ("changes", .integer(Int64(changeCount))),
                    ("problems", .integer(Int64(problemCount))), ("dryRun", .boolean(isDryRun)),
                    ("done", .boolean(isDone)),
                ])
            )
        ])
    }
}
