internal import LoadGenerator
internal import ToolSupport

/// `scale`: what becomes of a server when its customers grow tenfold, and again.
enum ScaleCommand {
    private static let sizesDefault = "10k,100k,1m"

    static let command = BenchCommand(
        words: ["scale"], operands: [],
        flags: [
            .value("sizes", "LIST", "numbers of customers, up to 16m [\(sizesDefault)]"),
            .value("heavy", "N", "transactions of one customer beside them, 0 = none [50000]"),
            .value("seconds", "S", "length of each measurement [3]"),
            .value("directory", "PATH", "where stores are made and removed [the temporary one]"),
            .value("server", "PATH", "the program to start [beside this tool]"),
            .value("server-flags", "TEXT", "further flags of the server"),
            .value("server-cpus", "LIST", "processors of the server"),
            .value("generator-cpus", "LIST", "processors of the generator"),
            .value("json", "FILE", "write the figures as JSON, - for stdout"),
            .value("svg", "FILE", "draw the curve"),
        ],
        summary: "the same measurements for 10,000 customers, 100,000, ...",
        details: [
            "For each size: makes a store by bulk load (two transactions per customer), reads it",
            "bare, starts a server on it, and measures restart, warming, memory, checks cold and",
            "warm, notifications, and a customer with very many transactions. Every answer is",
            "checked. A size needs about 0.7 KB of disk per customer, and twice that free; it is",
            "removed before the next one. Costs per check and per notification are meant to stay",
            "flat: the last lines say what became of them.",
        ],
        examples: [
            ("entitlebench scale", "up to a million customers, in some minutes"),
            ("entitlebench scale --sizes 10m --svg curve.svg", "ten million"),
        ],
        body: run)

    @Sendable private static func run(
        _ bench: Bench
    ) async throws(CommandFailure) -> ExitStatus {
        let sizes = try sizes(bench.value("sizes") ?? sizesDefault)
        let own = bench.value("directory") == nil
        let directory: String
        if let named = bench.value("directory") {
            directory = named
        } else {
            directory = try ServerPlace.makeDirectory("entitlebench-scale")
        }
        defer { if own { ServerPlace.removeDirectory(directory) } }
        let run = try make(bench, directory)
        Interruption.watch(endsAtOnce: false)
        var figures: [ScaleFigures] = []
        for size in sizes {
            figures.append(try await run.measure(customerCount: size))
            if Interruption.signalNumber != nil { throw .interrupted }
        }
        try write(ScaleReport(figures: figures), bench)
        return .success
    }

    /// `10k,1m` as numbers, ascending.
    static func sizes(_ text: String) throws(CommandFailure) -> [Int] {
        let sizes = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { Bench.whole(String($0)) }
        guard !sizes.isEmpty,
            sizes.allSatisfy({ (6...SeedPlan.customerCountMax).contains($0 ?? 0) })
        else {
            throw CommandFailure(
                .usage, "--sizes: `\(text)` is no list of numbers from 6 to 16m, e.g. 10k,1m")
        }
        return sizes.compactMap(\.self).sorted()
    }

    private static func make(
        _ bench: Bench, _ directory: String
    ) throws(CommandFailure) -> ScaleRun {
        let available = Processors.available
        var server = try bench.processors("server-cpus")
        var generator = try bench.processors("generator-cpus")
        if server.isEmpty, generator.isEmpty, available.count >= 2 {
            generator = [available[available.count - 1]]
            server = Array(available.dropLast())
        }
        let console = bench.console
        var run = ScaleRun(
            program: try ServerPlace.findProgram(
                named: bench.value("server"), environment: bench.environment),
            directory: directory, serverProcessors: server, generatorProcessors: generator,
            environment: bench.environment)
        run.serverFlags = (bench.value("server-flags") ?? "").split(separator: " ")
            .map(String.init)
        run.heavyTransactionCount =
            try bench.number("heavy", in: 0...SeedPlan.transactionCountMax - 1_000) ?? 50_000
        run.seconds = try bench.decimal("seconds", in: 0.2...600) ?? 3
        run.onStep = { console.note($0) }
        return run
    }

    private static func write(
        _ report: ScaleReport, _ bench: Bench
    ) throws(CommandFailure) {
        if bench.isJSON || bench.value("json") == "-" {
            bench.console.print(report.json)
        } else {
            bench.console.print(report.lines)
        }
        if let path = bench.value("json"), path != "-" {
            try SystemCalls.writeFile(path, Array((report.json.text + "\n").utf8))
        }
        if let path = bench.value("svg") {
            try SystemCalls.writeFile(path, Array(ScaleChart(report).document.utf8))
        }
    }
}
