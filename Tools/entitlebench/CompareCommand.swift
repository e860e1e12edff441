internal import FoundationEssentials
internal import ToolSupport

/// `compare`: the same load on this server and on others, in turn.
enum CompareCommand {
    private static let flagsOfItsOwn: [Flag] = [
        .value("server", "PATH", "the server to start and compare [beside this tool, or in PATH]"),
        .value("server-flags", "TEXT", "further flags of that server"),
        .value("spin-us", "N", "start it a second time with this flag, for one connection x 1"),
        .toggle("no-server", "start none: all servers are named"),
        .value("shapes", "LIST", "connections x in flight [1x1,64x1,16x16,16x64]"),
        .value("echo-bytes", "N", "bytes of a frame that an echo answers with, prefix included"),
        .toggle("store-loop", "also measure gets from a bare RocksDB in this process"),
        .value("machine", "TEXT", "machine and day, for the table"),
        .value("markdown", "FILE", "write the table of the README there"),
        .value("json", "FILE", "write every round there"),
    ]

    static let command = BenchCommand(
        words: ["compare"], operands: ["SERVER..."],
        flags: flagsOfItsOwn
            + LoadOptions.flags.filter {
                [
                    "customers", "seconds", "warmup", "rounds", "seed", "generator-cpus",
                    "server-cpus",
                ].contains($0.name)
            },
        summary: "the same load on this server and on others, in turn",
        details: [
            "Starts entitled on a directory of its own that holds the customers. SERVER is another",
            "one, NAME=KIND:ADDRESS; kinds are entitled, redis, memcached, postgresql, grpc, echo;",
            "with @1x1+16x16 behind it a server is driven in these shapes only. All hold the same",
            "customers; Tools/compare-peers starts and fills them. Each round drives every server",
            "once, and a ratio is that of two runs of one round. Defaults: 6 rounds of 0.7 s after",
            "0.15 s. A wrong answer of whatever server fails the comparison.",
        ],
        examples: [
            (
                "entitlebench compare redis=redis:127.0.0.1:6379 --shapes 16x16,16x64",
                "a server that is started, and a Redis that holds the same customers"
            )
        ],
        body: run)

    @Sendable private static func run(
        _ bench: Bench
    ) async throws(CommandFailure) -> ExitStatus {
        let options = try LoadOptions(bench)
        let plan = SeedPlan(seed: options.seed, customerCount: options.customerCount)
        var rounds = try rounds(bench, plan, options)
        Interruption.watch(endsAtOnce: false)
        let servers = try await CompareServers(bench, plan, options)
        rounds.targets = servers.targets + rounds.targets
        let result: Result<CompareFigures, CommandFailure>
        do throws(CommandFailure) {
            result = .success(try figures(rounds, bench))
        } catch {
            result = .failure(error)
        }
        await servers.end()
        let report = CompareReport(
            figures: try result.get(), customerCount: plan.customerCount,
            seconds: rounds.seconds, machine: bench.value("machine") ?? "")
        try write(report, bench)
        return .success
    }

    /// What operands and flags ask for, without servers that are yet to be started.
    static func rounds(
        _ bench: Bench, _ plan: SeedPlan, _ options: LoadOptions
    ) throws(CommandFailure) -> CompareRounds {
        var targets: [CompareTarget] = []
        for operand in bench.operands {
            let target = try CompareTarget(operand)
            guard !targets.contains(where: { $0.name == target.name }) else {
                throw CommandFailure(.usage, "\(target.name) is named twice")
            }
            targets.append(target)
        }
        let shapes = try bench.value("shapes").map { text throws(CommandFailure) in
            try CompareTarget.shapes(text[...])
        }
        var rounds = CompareRounds(
            targets: targets, shapes: shapes ?? CompareShape.usual, plan: plan,
            echoByteCount: try echoByteCount(bench, plan, targets),
            processors: options.generatorProcessors)
        rounds.roundCount = try bench.number("rounds", in: 1...1_000) ?? rounds.roundCount
        rounds.seconds = try bench.decimal("seconds", in: 0.05...60) ?? rounds.seconds
        rounds.warmUpSeconds = try bench.decimal("warmup", in: 0...60) ?? rounds.warmUpSeconds
        return rounds
    }

    /// Bytes of an echo's answer: as many as a check's has, give or take two.
    private static func echoByteCount(
        _ bench: Bench, _ plan: SeedPlan, _ targets: [CompareTarget]
    ) throws(CommandFailure) -> Int {
        let mean = CompareFrames.answerByteCount(plan)
        let said = try bench.number("echo-bytes", in: 5...65_536) ?? mean
        if targets.contains(where: { $0.kind == .echo }), abs(said - mean) > 2 {
            throw CommandFailure(
                .usage, "an echo of \(said) bytes is none of the server's answers",
                hint: "they have \(mean) bytes on average: start it with that many")
        }
        return said
    }

    private static func figures(
        _ rounds: CompareRounds, _ bench: Bench
    ) throws(CommandFailure) -> CompareFigures {
        var rounds = rounds
        let progress = Progress(console: bench.console, noun: "runs")
        rounds.onProgress = { done, total in progress.update(done: done, total: total) }
        defer { progress.erase() }
        guard bench.has("store-loop") else { return try rounds.run(nil) }
        let directory = try ServerPlace.makeDirectory("entitlebench-compare")
        defer { ServerPlace.removeDirectory(directory) }
        return try rounds.run(
            try StoreLoop(rounds.plan, directory: directory, processors: rounds.processors))
    }

    private static func write(
        _ report: CompareReport, _ bench: Bench
    ) throws(CommandFailure) {
        if bench.isJSON {
            bench.console.print(report.json)
        } else {
            bench.console.print(report.lines)
        }
        try write(report.markdown, to: bench.value("markdown"))
        try write(report.json.text + "\n", to: bench.value("json"))
    }

    private static func write(_ text: String, to path: String?) throws(CommandFailure) {
        guard let path else { return }
        do {
            try Data(text.utf8).write(to: URL(filePath: path))
        } catch {
            throw CommandFailure(.failed, "\(path): it cannot be written")
        }
    }
}
