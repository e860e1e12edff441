internal import Synchronization
internal import ToolSupport

/// `crash`: a server is killed at random instants; whatever it has answered must be there.
enum CrashCommand {
    static let command = BenchCommand(
        words: ["crash"], operands: [],
        flags: [
            .value("server", "PATH", "the program to start [beside this tool]"),
            .value("rounds", "N", "how often it is killed and compared [200]"),
            .value("seed", "N", "decides when it is killed, and the data [1]"),
            .value("connections", "N", "connections that write and check [4]"),
            .value("memtable", "SIZE", "the server's memtableSize; small flushes often [1MiB]"),
            .value("disk", "DIR", "a small file system of its own, which rounds fill"),
            .value("canary", "NAME", "do wrong on purpose: lose-tail or cut-tail"),
            .toggle("damage", "damage the files of a killed store, one by one"),
            .toggle("keep", "keep the directory, also when all is well"),
        ],
        summary: "kills a server of its own, and looks whether anything answered is lost",
        details: [
            "What was sent and what was answered is written outside the server's data. After each",
            "kill every answered write must be there, and of what was not answered all or nothing.",
            "Rounds take turns: plain; flush, in the first moments of a start; start, killed again",
            "while it recovers; storm, in the middle of rebuilds and links; with --disk also full,",
            "while the disk runs full. The first loss ends the run and keeps the directory. With",
            "--canary the run must find a loss, and exits with 1 then.",
            "With --damage the rounds make a store, and then every kind of its files is damaged",
            "in every way, on copies: the server must serve everything, or refuse to start and",
            "say why, or refuse what is damaged and say so.",
            "JSON: rounds or cases, by kind, and losses.",
        ],
        examples: [
            ("entitlebench crash --rounds 200", "two hundred kills"),
            ("entitlebench crash --disk /mnt/small", "kills on a disk that runs full, too"),
            ("entitlebench crash --canary lose-tail --rounds 4", "a loss must be found"),
            ("entitlebench crash --damage --rounds 8", "damaged files"),
        ],
        body: run)

    @Sendable private static func run(
        _ bench: Bench
    ) async throws(CommandFailure) -> ExitStatus {
        var canary: CrashRun.Canary?
        if let name = bench.value("canary") {
            canary = CrashRun.Canary(rawValue: name)
            guard canary != nil else {
                throw CommandFailure(
                    .usage, "--canary: `\(name)` is none", hint: "lose-tail or cut-tail")
            }
        }
        let seed = UInt64(try bench.number("seed", in: 0...Int(Int32.max)) ?? 1)
        let run = CrashRun(
            program: try ServerPlace.findProgram(
                named: bench.value("server"), environment: bench.environment),
            roundCount: try bench.number("rounds", in: 1...1_000_000) ?? 200, seed: seed,
            connectionCount: try bench.number("connections", in: 1...64) ?? 4, canary: canary,
            disk: try bench.value("disk").map { (path) throws(CommandFailure) in
                try CrashDisk(path)
            },
            leavesWork: bench.has("damage"), environment: bench.environment, console: bench.console)
        Interruption.watch(endsAtOnce: false)
        let bed = try CrashBed(
            program: run.program, seed: seed, disk: run.disk,
            flags: ["--memtable-size", bench.value("memtable") ?? "1MiB"],
            environment: bench.environment)
        do throws(CommandFailure) {
            let status = try await run.report(bed, bench)
            if status == .success && !bench.has("keep") {
                bed.remove()
            } else {
                bench.console.note("kept: \(bed.directory)")
            }
            return status
        } catch {
            bench.console.note("kept: \(bed.directory)")
            throw error
        }
    }
}

extension CrashRun {
    /// Runs and prints.
    fileprivate func report(
        _ bed: CrashBed, _ bench: Bench
    ) async throws(CommandFailure) -> ExitStatus {
        let tallies = try await run(bed)
        let losses = Kind.allCases.flatMap { tallies[$0]?.findings.losses ?? [] }
        var cases: [CrashDamage.Case] = []
        if bench.has("damage"), losses.isEmpty {
            cases = try await CrashDamage(bed: bed, console: console).run()
        }
        if bench.isJSON {
            console.print(CrashReport.json(tallies, cases, bed))
        } else {
            console.print(CrashReport.lines(tallies, cases, bed))
        }
        let isGood = losses.isEmpty && cases.allSatisfy { $0.outcome != .bad }
        return isGood ? .success : .failed
    }
}

/// What a run says.
enum CrashReport {
    /// For people.
    static func lines(
        _ tallies: [CrashRun.Kind: CrashRun.Tally], _ cases: [CrashDamage.Case],
        _ bed: CrashBed
    ) -> [Line] {
        var table = Table([
            .text("rounds of kind"), .number("rounds"), .number("kills"), .number("answers"),
            .number("records"), .number("survivors"), .number("losses"),
        ])
        var losses: [Line] = []
        let tables = bed.tables.withLock { $0 }
        for kind in CrashRun.Kind.allCases {
            guard let tally = tallies[kind] else { continue }
            let found = tally.findings
            table.add([
                Table.Cell(kind.rawValue), Table.Cell("\(tally.roundCount)"),
                Table.Cell("\(tally.killCount)"), Table.Cell("\(found.answerCount)"),
                Table.Cell("\(found.customerCount)"), Table.Cell("\(found.survivorCount)"),
                Table.Cell("\(found.losses.count)", found.losses.isEmpty ? .good : .bad),
            ])
            losses += found.losses.prefix(20).map { Line($0, .bad) }
        }
        let sums: [Line] = [
            "\(bed.ledger.acknowledgedCount) writes were answered", Line(tables.sentence),
        ]
        return table.lines() + sums + losses + damageLines(cases)
    }

    private static func damageLines(_ cases: [CrashDamage.Case]) -> [Line] {
        guard !cases.isEmpty else { return [] }
        var table = Table([.text("file"), .text("damage"), .text("outcome"), .text("")])
        for one in cases {
            table.add([
                Table.Cell(one.file), Table.Cell(one.deed.description),
                Table.Cell(one.outcome.rawValue, one.outcome == .bad ? .bad : .good),
                Table.Cell(one.detail),
            ])
        }
        return table.lines()
    }

    /// For programs.
    static func json(
        _ tallies: [CrashRun.Kind: CrashRun.Tally], _ cases: [CrashDamage.Case],
        _ bed: CrashBed
    ) -> JSONValue {
        let kinds = CrashRun.Kind.allCases.compactMap { kind in
            tallies[kind].map { tally in
                JSONValue.object([
                    ("kind", .string(kind.rawValue)), ("rounds", .integer(Int64(tally.roundCount))),
                    ("kills", .integer(Int64(tally.killCount))),
                    ("answers", .integer(Int64(tally.findings.answerCount))),
                    ("records", .integer(Int64(tally.findings.customerCount))),
                    ("survivors", .integer(Int64(tally.findings.survivorCount))),
                    ("losses", .array(tally.findings.losses.map { .string($0) })),
                ])
            }
        }
        let damages = cases.map { one in
            JSONValue.object([
                ("file", .string(one.file)), ("damage", .string(one.deed.description)),
                ("outcome", .string(one.outcome.rawValue)), ("detail", .string(one.detail)),
            ])
        }
        let tables = bed.tables.withLock { $0 }
        return .object([
            ("rounds", .array(kinds)), ("cases", .array(damages)),
            ("acknowledged", .integer(Int64(bed.ledger.acknowledgedCount))),
            ("tables", .integer(Int64(tables.seen.count))),
            ("merged", .integer(Int64(tables.merged.count))),
            ("unfinished", .integer(Int64(tables.unfinishedCount))),
        ])
    }
}
