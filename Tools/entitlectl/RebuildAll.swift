internal import EntitledClient
internal import ToolSupport

/// `rebuild --all`: page by page, a few customers at once, at the rate that was asked for.
struct RebuildAll: Sendable {
    /// So many are under way at once: as many as keep a server busy that waits for Apple.
    private static let inFlightCountMax = 4
    /// An interruption repeats a page at most.
    private static let pageSize = 100

    let invocation: Invocation
    let source: RebuildSource
    let isDryRun: Bool
    /// nil = as fast as it goes.
    let ratePerSecond: Double?

    /// What became of one customer.
    private enum Outcome: Sendable {
        case rebuilt(RebuildResult)
        /// He is gone: merged into another since the page was read.
        case gone
        case failed(Refusal)
        /// No use in going on with anybody.
        case stopped(ClientError)
    }

    private struct Totals: Sendable {
        var customerCount = 0
        var rebuiltCount = 0
        var goneCount = 0
        var failedCount = 0
        var changeCount = 0
        var problemCount = 0
        /// Of the page that is not finished; empty after the last, and on the first.
        var token = ""
    }

    private typealias End = (totals: Totals, error: ClientError?)

    func run() async throws(CommandFailure) -> ExitStatus {
        let (totals, error) = try await LongWork.cancellable { await rebuilt() }.get()
        if invocation.isJSON {
            invocation.console.print(json(totals, isDone: error == nil))
        } else if error == nil || totals.customerCount > 0 {
            invocation.console.print(line(totals))
        }
        guard let error else { return totals.failedCount == 0 ? .success : .failed }
        let flags = (isDryRun ? ["--dry-run"] : []) + sourceFlags
        throw LongWork.stopped(
            error, invocation,
            goOn: totals.token.isEmpty
                ? "nothing is finished that need not be done again: start anew"
                : LongWork.resumption("rebuild --all", totals.token, flags))
    }

    private var sourceFlags: [String] {
        invocation.value("source").map { ["--source", $0] } ?? []
    }

    private func rebuilt() async -> Result<End, CommandFailure> {
        do throws(CommandFailure) {
            return .success(
                try await invocation.withClient { (client) throws(ClientError) in
                    await rebuildPages(client)
                })
        } catch {
            return .failure(error)
        }
    }

    private func rebuildPages(_ client: Client) async -> End {
        let progress = Progress(console: invocation.console, noun: "customers")
        defer { progress.erase() }
        var totals = Totals()
        totals.token = invocation.value("resume") ?? ""
        let pace = Pace(ratePerSecond: ratePerSecond)
        do throws(ClientError) {
            while true {
                let token = totals.token
                let page = try await LongWork.retrying("a page of customers", invocation.console) {
                    () throws(ClientError) in
                    try await client.listCustomers(pageToken: token, pageSize: Self.pageSize)
                }
                try await rebuild(page, &totals, client, pace, progress)
                guard !page.nextPageToken.isEmpty else { return (totals, nil) }
                totals.token = page.nextPageToken
            }
        } catch {
            return (totals, error)
        }
    }

    private func rebuild(
        _ page: ListPage<CustomerSummary>, _ totals: inout Totals, _ client: Client,
        _ pace: Pace, _ progress: Progress
    ) async throws(ClientError) {
        // Only a whole run knows how far it is: a page does not say where it lies.
        let total = invocation.value("resume") == nil ? page.total.map { Int(clamping: $0) } : nil
        var stop: ClientError?
        await withTaskGroup(of: (CustomerSummary, Outcome).self) { group in
            var waiting = page.entries[...]
            var inFlightCount = 0
            while true {
                while stop == nil, inFlightCount < Self.inFlightCountMax,
                    let customer = waiting.popFirst()
                {
                    do throws(ClientError) {
                        try await pace.next()
                    } catch {
                        stop = error
                        break
                    }
                    inFlightCount += 1
                    group.addTask { (customer, await rebuild(customer, client)) }
                }
                guard let (customer, outcome) = await group.next() else { break }
                inFlightCount -= 1
                if case .stopped(let error) = outcome { stop = stop ?? error }
                note(outcome, of: customer, &totals, progress)
                progress.update(done: totals.customerCount, total: total)
            }
        }
        if let stop { throw stop }
    }

    private func rebuild(_ summary: CustomerSummary, _ client: Client) async -> Outcome {
        guard let customer = summary.customer else {
            return .failed(
                Refusal(
                    status: .unimplemented, reason: "UNKNOWN_NAME",
                    message: "this release does not know how to name the customer"))
        }
        do throws(ClientError) {
            return .rebuilt(
                try await LongWork.retrying(customer.operand, invocation.console) {
                    () throws(ClientError) in
                    try await client.rebuildCustomer(customer, source: source, isDryRun: isDryRun)
                })
        } catch {
            guard case .refused(let refusal) = error else { return .stopped(error) }
            switch refusal.reason {
            case "UNKNOWN_CUSTOMER": return .gone
            case "APP_STORE_NOT_CONFIGURED", "APP_STORE_UNAUTHORIZED", "DRAINING",
                "STORE_UNAVAILABLE":
                return .stopped(error)
            default: return .failed(refusal)
            }
        }
    }
}

// MARK: - What is told

extension RebuildAll {
    private func note(
        _ outcome: Outcome, of customer: CustomerSummary, _ totals: inout Totals,
        _ progress: Progress
    ) {
        switch outcome {
        case .rebuilt(let result):
            totals.customerCount += 1
            totals.rebuiltCount += 1
            totals.changeCount += result.changes.count
            totals.problemCount += result.problems.count
            guard !result.changes.isEmpty || !result.problems.isEmpty else { return }
            progress.erase()
            print(customer, result.changes, result.problems, nil)
        case .gone:
            totals.customerCount += 1
            totals.goneCount += 1
        case .failed(let refusal):
            totals.customerCount += 1
            totals.failedCount += 1
            progress.erase()
            print(customer, [], [], refusal)
        case .stopped: break
        }
    }

    private func print(
        _ customer: CustomerSummary, _ changes: [AccessChange], _ problems: [ItemProblem],
        _ refusal: Refusal?
    ) {
        let name = customer.operand
        if invocation.isJSON {
            return invocation.console.print(
                JSONValue.object([
                    ("customer", .string(name)), ("changes", .array(changes.map(\.json))),
                    ("problems", .array(problems.map(\.json))), ("refusal", refusal?.json ?? .null),
                ]))
        }
        var lines = changes.map { change in
            Line(change.customerID, .bold).adding(
                "  \(change.productID)  \(change.wasGranted ? "granted" : "denied") -> "
            ).adding(
                change.isGranted ? "granted" : "denied", change.isGranted ? .good : .bad
            ).adding("  \(change.reason.name)")
        }
        lines += problems.map {
            Line(name, .bold).adding("  not taken: ", .bad).adding("\($0.message) (\($0.reason))")
        }
        if let refusal {
            lines.append(Line(name, .bold).adding("  failed: ", .bad).adding(refusal.description))
        }
        invocation.console.print(lines)
    }

    private func line(_ totals: Totals) -> Line {
        var text = "\(isDryRun ? "looked at" : "rebuilt") \(totals.rebuiltCount) of"
        text += " \(totals.customerCount) customers: \(totals.changeCount)"
        text += isDryRun ? " would change" : " changed"
        text += ", \(totals.failedCount) failed"
        if totals.goneCount > 0 { text += ", \(totals.goneCount) gone meanwhile" }
        if totals.problemCount > 0 { text += ", \(totals.problemCount) items not taken" }
        return Line(text, totals.failedCount == 0 ? .plain : .bad)
    }

    private func json(_ totals: Totals, isDone: Bool) -> JSONValue {
        .object([
            (
                "total",
                .object([
                    ("customers", .integer(Int64(totals.customerCount))),
                    ("rebuilt", .integer(Int64(totals.rebuiltCount))),
                    ("gone", .integer(Int64(totals.goneCount))),
                    ("failed", .integer(Int64(totals.failedCount))),
                    ("changes", .integer(Int64(totals.changeCount))),
                    ("problems", .integer(Int64(totals.problemCount))),
                    ("dryRun", .boolean(isDryRun)), ("done", .boolean(isDone)),
                ])
            )
        ])
    }
}
