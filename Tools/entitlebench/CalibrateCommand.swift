internal import EventLoop
internal import LoadGenerator
internal import ToolSupport

/// `calibrate`: what the generator can do here.
enum CalibrateCommand {
    static let command = BenchCommand(
        words: ["calibrate"], operands: [],
        flags: [
            .value("connections", "N", "only this many connections"),
            .value("depth", "N", "only this many requests in flight on each"),
            .value("seconds", "S", "how long each shape is driven [1]"),
            .value("generator-threads", "N", "threads of the generator [1]"),
            .value("generator-cpus", "LIST", "processors of the generator, e.g. 1 or 2-3"),
            .value("server-cpus", "LIST", "processors of the echo"),
        ],
        summary: "what the generator itself can do on this machine",
        details: [
            "Drives a thread of its own that answers every frame with the bytes of a granted",
            "check; every answer is checked as those of a server are. A server that is measured at",
            "a rate near these was held back by the generator.",
            "JSON: shapes: connections, depth, answersPerSecond, busyShare, capacityPerSecond,",
            "p50, p99. Times are microseconds.",
        ],
        examples: [("entitlebench calibrate", "one connection, many, and deep ones")],
        body: run)

    /// Connections and requests in flight on each that are tried.
    private static let shapes = [(1, 1), (64, 1), (16, 16), (16, 64)]

    @Sendable private static func run(
        _ bench: Bench
    ) async throws(CommandFailure) -> ExitStatus {
        let options = try LoadOptions(bench)
        let seconds = try bench.decimal("seconds", in: 0.05...60) ?? 1
        let hasShape = bench.has("connections") || bench.has("depth")
        let shapes =
            hasShape ? [(options.connectionCount, options.depth)] : Self.shapes
        Interruption.watch(endsAtOnce: false)
        var results: [(connections: Int, depth: Int, Calibration)] = []
        for (connections, depth) in shapes {
            if Interruption.signalNumber != nil { break }
            var plan = options.plan(.ipv4(host: "127.0.0.1", port: 0))
            plan.connectionCount = connections
            plan.depth = depth
            plan.threadCount = min(options.threadCount, connections)
            let calibration = try await Calibration.measure(
                plan, processors: options.serverProcessors, seconds: seconds)
            results.append((connections, depth, calibration))
        }
        if bench.isJSON {
            bench.console.print(json(results))
        } else {
            bench.console.print(table(results).lines())
        }
        return Interruption.signalNumber == nil ? .success : .interrupted
    }

    private static func table(
        _ results: [(connections: Int, depth: Int, Calibration)]
    ) -> Table {
        var table = Table([
            .number("connections"), .number("in flight"), .number("answers/s"),
            .number("generator"), .number("it could do"), .number("p50 us"), .number("p99 us"),
        ])
        for (connections, depth, calibration) in results {
            table.add([
                "\(connections)", "\(depth)",
                Table.Cell(Figure.rate(calibration.answersPerSecond)),
                Table.Cell(Figure.percent(calibration.busyShare) + " busy"),
                Table.Cell(Figure.rate(calibration.capacityPerSecond)),
                Table.Cell(Figure.microseconds(calibration.latencies.value(at: 0.5))),
                Table.Cell(Figure.microseconds(calibration.latencies.value(at: 0.99))),
            ])
        }
        return table
    }

    private static func json(
        _ results: [(connections: Int, depth: Int, Calibration)]
    ) -> JSONValue {
        let shapes = results.map { connections, depth, calibration in
            JSONValue.object([
                ("connections", .integer(Int64(connections))), ("depth", .integer(Int64(depth))),
                ("answersPerSecond", .number(calibration.answersPerSecond)),
                ("busyShare", .number(calibration.busyShare)),
                ("capacityPerSecond", .number(calibration.capacityPerSecond)),
                ("p50", .number(Double(calibration.latencies.value(at: 0.5)) / 1_000)),
                ("p99", .number(Double(calibration.latencies.value(at: 0.99)) / 1_000)),
            ])
        }
        return .object([("shapes", .array(shapes))])
    }
}
