internal import EntitledClient
internal import ToolSupport

/// One import: line by line, some lines in a call; what is wrong with one is told and passed over.
struct ImportRun: Sendable {
    let invocation: Invocation
    /// The only table that is taken; nil: both.
    let table: ExportTable?
    let isDryRun: Bool
    /// nil = as fast as it goes.
    let ratePerSecond: Double?

    /// What was done.
    struct Totals: Sendable {
        var lineCount = 0
        var refusedCount = 0
        var learntCount = 0
        var changeCount = 0
        var linkCount = 0
    }

    private typealias End = (totals: Totals, failure: CommandFailure?)

    func run(_ reader: RecordReader) async throws(CommandFailure) -> ExitStatus {
        let (totals, failure) = try await LongWork.cancellable { await imported(reader) }.get()
        if failure == nil || totals.lineCount > 0 { tell(totals, isDone: failure == nil) }
        guard let failure else { return totals.refusedCount == 0 ? .success : .failed }
        throw CommandFailure(
            failure.status, failure.message,
            hint: (failure.hint.isEmpty ? "" : failure.hint + "\n")
                + "start again: what was taken in does no harm a second time")
    }

    private func imported(_ reader: RecordReader) async -> Result<End, CommandFailure> {
        do throws(CommandFailure) {
            return .success(
                try await invocation.withClient { (client) throws(ClientError) in
                    var work = ImportWork(run: self, client: client)
                    defer { work.progress.erase() }
                    do throws(CommandFailure) {
                        try await work.take(reader)
                        return (work.totals, nil)
                    } catch {
                        return (work.totals, error)
                    }
                })
        } catch {
            return .failure(error)
        }
    }

    private func tell(_ totals: Totals, isDone: Bool) {
        let takenCount = totals.lineCount - totals.refusedCount
        if invocation.isJSON {
            let total: JSONValue = .object([
                ("lines", .integer(Int64(totals.lineCount))),
                ("taken", .integer(Int64(takenCount))),
                ("refused", .integer(Int64(totals.refusedCount))),
                ("learnt", .integer(Int64(totals.learntCount))),
                ("changes", .integer(Int64(totals.changeCount))),
                ("links", .integer(Int64(totals.linkCount))),
                ("dryRun", .boolean(isDryRun)), ("done", .boolean(isDone)),
            ])
            return invocation.console.print(.object([("total", total)]))
        }
        let verb = isDryRun ? "would be taken in" : "taken in"
        let text =
            "\(takenCount) of \(totals.lineCount) lines \(verb): \(totals.learntCount) signed facts"
            + " new or changed, \(totals.linkCount) links, \(totals.changeCount) answers changed"
        invocation.console.print(Line(text, totals.refusedCount == 0 ? .plain : .bad))
    }
}

/// An import under way.
struct ImportWork {
    /// A transaction and where it stands.
    struct Row: Sendable {
        let line: Int
        let transaction: ImportedTransaction

        var byteCount: Int {
            transaction.signedTransaction.utf8.count + transaction.signedRenewal.utf8.count + 400
        }
    }

    /// A call's lines fit half a frame, and take the server some 40 ms.
    private static let batchCountMax = 200
    private static let batchByteCountMax = 400 << 10
    /// A longer one fits no frame.
    private static let rowByteCountMax = 1_000_000
    /// So many lines are kept that are to be looked at again at the end.
    private static let elsewhereCountMax = 2_000

    let run: ImportRun
    let client: Client
    let progress: Progress
    private let pace: Pace
    private(set) var totals = ImportRun.Totals()
    private var batch: [Row] = []
    private var batchByteCount = 0
    /// Those whose chain somebody else had when they came.
    private var elsewhere: [Row] = []
    private var links: ImportedLinks

    init(run: ImportRun, client: Client) {
        self.run = run
        self.client = client
        progress = Progress(console: run.invocation.console, noun: "lines")
        pace = Pace(ratePerSecond: run.ratePerSecond)
        links = ImportedLinks(client: client, run: run)
    }

    /// Takes in a file.
    ///
    /// - Throws: `CommandFailure` when there is no use in going on.
    mutating func take(_ reader: RecordReader) async throws(CommandFailure) {
        var reader = reader
        while let record = try reader.next() {
            guard Interruption.signalNumber == nil else { throw .interruptedImport }
            do throws(ClientError) {
                try await take(record)
            } catch {
                throw LongWork.stopped(error, run.invocation, goOn: "")
            }
            progress.update(done: totals.lineCount, total: nil)
        }
        do throws(ClientError) {
            try await finish()
        } catch {
            throw LongWork.stopped(error, run.invocation, goOn: "")
        }
    }

    private mutating func take(_ record: ImportRecord) async throws(ClientError) {
        totals.lineCount += 1
        do throws(LineFault) {
            switch try ImportRow(try record.cells.get()) {
            case .customer(let customer):
                if run.table == .transactions { throw .otherTable }
                links.add(customer, at: record.line)
            case .transaction(let transaction):
                if run.table == .customers { throw .otherTable }
                let row = Row(line: record.line, transaction: transaction)
                if row.byteCount > Self.rowByteCountMax { throw .tooLong }
                batch.append(row)
                batchByteCount += row.byteCount
            }
        } catch {
            refuse(record.line, error.reason, error.message, nil)
        }
        try await pace.next()
        if links.isFull || (links.isWaiting && !batch.isEmpty) {
            try await say(isLast: !batch.isEmpty)
        }
        if batch.count >= Self.batchCountMax || batchByteCount >= Self.batchByteCountMax {
            try await send()
        }
    }

    private mutating func finish() async throws(ClientError) {
        try await say(isLast: true)
        try await send()
        // By now their chains may be where they belong.
        let rows = elsewhere
        elsewhere = []
        for row in rows {
            let result = try await send([row])
            for problem in result.problems { refuse(row.line, problem.refusal) }
        }
    }

    /// Says what was said of customers; with `isLast` also what was moved.
    private mutating func say(isLast: Bool) async throws(ClientError) {
        let refusals = try await links.say(isLast: isLast)
        totals.linkCount = links.sentCount
        totals.changeCount += links.takeChangeCount()
        for refusal in refusals { refuse(refusal.line, refusal.refusal) }
    }

    private mutating func send() async throws(ClientError) {
        let rows = batch
        batch = []
        batchByteCount = 0
        guard !rows.isEmpty else { return }
        // What fits half a frame with its lines may not with one more.
        let result = try await send(rows)
        for problem in result.problems where rows.indices.contains(problem.position) {
            let row = rows[problem.position]
            if problem.isTakenIn, !run.isDryRun, elsewhere.count < Self.elsewhereCountMax {
                elsewhere.append(row)
            } else {
                refuse(row.line, problem.refusal)
            }
        }
    }

    private mutating func send(_ rows: [Row]) async throws(ClientError) -> ImportResult {
        let (client, isDryRun) = (client, run.isDryRun)
        let transactions = rows.map(\.transaction)
        let place = "lines \(rows.first?.line ?? 0) to \(rows.last?.line ?? 0)"
        let result = try await LongWork.retrying(place, run.invocation.console) {
            () throws(ClientError) in
            try await client.importTransactions(transactions, isDryRun: isDryRun)
        }
        totals.learntCount += result.learntCount
        totals.changeCount += result.changes.count
        return result
    }

    private mutating func refuse(_ line: Int, _ refusal: Refusal) {
        refuse(line, refusal.reason, refusal.message, refusal.status)
    }

    private mutating func refuse(
        _ line: Int, _ reason: String, _ message: String, _ status: StatusCode?
    ) {
        totals.refusedCount += 1
        progress.erase()
        let console = run.invocation.console
        if run.invocation.isJSON {
            let refusal: JSONValue = .object([
                ("status", .string((status ?? .invalidArgument).name)),
                ("reason", .string(reason)), ("message", .string(message)),
            ])
            console.print(.object([("line", .integer(Int64(line))), ("refusal", refusal)]))
        }
        console.fail(CommandFailure(.failed, "line \(line): \(message) (\(reason))"))
    }
}

extension LineFault {
    fileprivate static let otherTable = LineFault(
        reason: "OTHER_TABLE", message: "it is of another table than --what says")
}
