internal import LoadGenerator
internal import ToolSupport

/// `run`: drives a server with a workload and says what it did.
enum RunCommand {
    /// Flags of where the server is and where results go.
    static let placeFlags: [Flag] = [
        .value("target", "ADDRESS", "a server that holds the population: host:port or unix:PATH"),
        .value("server", "PATH", "the program to start without --target [beside this tool]"),
        .value("server-flags", "TEXT", "further flags of the server that is started"),
        .value("tls-ca", "FILE", "speak TLS with --target, and trust these certificates (PEM)"),
        .toggle("allow-remote", "let --target be another machine"),
        Bench.keyFile,
        .value("authority", "FILE", "of --target: the authority that `seed` made and it trusts"),
        .value("json", "FILE", "write the report as JSON, - for stdout"),
        .value("svg", "FILE", "draw latencies and throughput"),
        .toggle("progress", "a progress line even without a terminal"),
        .toggle("no-calibration", "do not try afterwards what the generator itself could do"),
    ]

    private static let details: [String] = {
        let workloads = Workloads.all.map { workload in
            let padding = String(repeating: " ", count: max(1, 15 - workload.name.count))
            return "  " + workload.name + padding + workload.summary
        }
        return [
            "Without --target it loads the population into a directory of its own, starts a server",
            "on it, on processors of its own where there are two, and ends both afterwards.", "",
            "Workloads:",
        ] + workloads + [
            "",
            "JSON: workload, target, load, rounds, all, histogram, slices, answers, wrong,",
            "missing, server, generator. Times are microseconds, rates per second.",
        ]
    }()

    static let command = BenchCommand(
        words: ["run"], operands: ["WORKLOAD?"],
        flags: [.value("workload", "NAME", "the same as WORKLOAD")] + LoadOptions.flags
            + placeFlags,
        summary: "drive a server with a workload, and check every answer",
        details: details,
        examples: [
            ("entitlebench run check-zipf --depth 64", "closed loop, on a server of its own"),
            (
                "entitlebench run check-uniform --customers 1m --rate 200k --arrivals poisson",
                "open loop: what latency is at that rate"
            ),
        ],
        body: run)

    @Sendable private static func run(
        _ bench: Bench
    ) async throws(CommandFailure) -> ExitStatus {
        let options = try LoadOptions(bench)
        if let operand = bench.operands.first, let flag = bench.value("workload"), operand != flag {
            throw CommandFailure(.usage, "WORKLOAD is \(operand), and --workload is \(flag)")
        }
        let name = bench.operands.first ?? bench.value("workload") ?? Workloads.canonical
        let workload = try Workloads.named(name)
        let seed = workload.plan(options)
        // A first Ctrl-C ends the run in order, with what there is.
        Interruption.watch(endsAtOnce: false)
        let calibrates = !bench.has("no-calibration")
        let report: LoadReport
        if let text = bench.value("target") {
            try refuse(["server", "server-flags", "server-cpus", "tls"], besideTarget: bench)
            let target = try BenchTarget(
                foreign: text, allowsRemote: bench.has("allow-remote"),
                signer: try SeedAuthority.signer(bench), tls: try BenchTLS(bench),
                apiKey: try bench.apiKey())
            report = try await drive(workload, target, seed, options, calibrates, bench)
        } else {
            report = try await driveOwnServer(
                workload, seed, options, calibrates: calibrates, bench)
        }
        try write(report, bench)
        return status(of: report)
    }

    private static func refuse(
        _ flags: [String], besideTarget bench: Bench
    ) throws(CommandFailure) {
        if let flag = flags.first(where: { bench.has($0) }) {
            throw CommandFailure(
                .usage, "--\(flag) is of a server that is started; with --target none is")
        }
    }

    /// Starts a server for one workload, and ends it whatever happens.
    static func driveOwnServer(
        _ workload: Workload, _ seed: SeedPlan, _ options: LoadOptions, calibrates: Bool,
        _ bench: Bench
    ) async throws(CommandFailure) -> LoadReport {
        let program = try ServerPlace.findProgram(
            named: bench.value("server"), environment: bench.environment)
        let flags = (bench.value("server-flags") ?? "").split(separator: " ").map(String.init)
        let own = try await OwnServer(
            program: program, seed: seed, options: options, flags: flags,
            environment: bench.environment, console: bench.console)
        let result: Result<LoadReport, CommandFailure>
        do throws(CommandFailure) {
            let target = try BenchTarget(
                own: own.server, own.launch, signer: own.signer, tls: own.tls)
            result = .success(
                try await drive(workload, target, seed, options, calibrates, bench))
        } catch {
            result = .failure(error)
        }
        let end = await own.end()
        let report = try result.get()
        guard end == .exit(0) else {
            throw CommandFailure(.failed, "the server ended with \(end)")
        }
        return report
    }

    private static func drive(
        _ workload: Workload, _ target: BenchTarget, _ seed: SeedPlan, _ options: LoadOptions,
        _ calibrates: Bool, _ bench: Bench
    ) async throws(CommandFailure) -> LoadReport {
        let run = WorkloadRun(
            name: workload.name, target: target, seed: seed, options: options,
            console: bench.console,
            showsProgress: bench.has("progress") || SystemCalls.isTerminal(.error))
        let before = target.processID.flatMap { Processors.nanosecondsUsed(byProcess: $0) }
        var report = try await workload.body(run)
        let after = target.processID.flatMap { Processors.nanosecondsUsed(byProcess: $0) }
        if let before, let after, after > before { report.serverNanoseconds = after - before }
        if calibrates, Interruption.signalNumber == nil {
            report.calibration = try await Calibration.measure(
                options.plan(target.address), processors: options.serverProcessors)
        }
        return report
    }

    private static func write(_ report: LoadReport, _ bench: Bench) throws(CommandFailure) {
        if bench.isJSON || bench.value("json") == "-" {
            bench.console.print(report.json)
        } else {
            bench.console.print(report.lines)
        }
        if let path = bench.value("json"), path != "-" {
            try SystemCalls.writeFile(path, Array((report.json.text + "\n").utf8))
            bench.console.note("wrote \(path)")
        }
        if let path = bench.value("svg") {
            try SystemCalls.writeFile(path, Array(LoadChart(report).document.utf8))
            bench.console.note("wrote \(path)")
        }
    }

    private static func status(of report: LoadReport) -> ExitStatus {
        if !report.outcome.isRight { return .failed }
        return report.outcome.isInterrupted ? .interrupted : .success
    }
}
