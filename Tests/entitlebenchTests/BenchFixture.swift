@testable import LoadGenerator
@testable import ToolSupport
@testable import entitlebench

/// What the tests of the command line and of reports share.
enum BenchFixture {
    /// A run of a command with these flags.
    static func bench(
        _ flags: [String: String] = [:], operands: [String] = []
    ) throws(CommandFailure) -> Bench {
        try Bench(
            ToolProgram<Bench>.Call(
                flags: flags, operands: operands, environment: [:],
                console: Console(tool: "entitlebench", usesColour: false) { _, _ in }))
    }

    /// A round in which every answer took as many microseconds as `latencies` say.
    static func round(_ seconds: Double, _ latencies: [UInt64], checks: UInt64 = 1)
        -> LoadOutcome.Round
    {
        var histogram = Histogram()
        for latency in latencies { histogram.record(latency * 1_000) }
        let count = UInt64(latencies.count)
        return LoadOutcome.Round(
            seconds: seconds, answerCount: count, checkCount: count * checks,
            latencies: histogram)
    }

    /// An outcome of these rounds, in which all is well.
    static func outcome(_ rounds: [LoadOutcome.Round]) -> LoadOutcome {
        let count = rounds.reduce(0) { $0 + $1.answerCount }
        return LoadOutcome(
            rounds: rounds, slices: [UInt32](repeating: 100, count: 10), answerCountEver: count,
            wrongCount: 0, wrongAnswers: [], missingCount: 0, generatorBusyShare: 0.43,
            sendDelayNanosecondsMax: 0, unsentCount: 0, isInterrupted: false)
    }

    /// A report of an outcome.
    static func report(
        _ outcome: LoadOutcome, _ flags: [String: String] = [:]
    ) throws(CommandFailure) -> LoadReport {
        LoadReport(
            workload: "check-zipf", options: try LoadOptions(bench(flags)),
            target: TargetFacts(name: "127.0.0.1:7", program: nil, processors: [0]),
            outcome: outcome)
    }
}
