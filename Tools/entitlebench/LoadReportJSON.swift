internal import LoadGenerator
internal import ToolSupport

extension LoadReport {
    /// The report as one JSON object. Times are microseconds, rates per second.
    var json: JSONValue {
        .object([
            ("workload", .string(workload)),
            ("target", Self.json(target)),
            ("load", json(options)),
            ("rounds", .array(outcome.rounds.map(Self.json))),
            ("all", Self.json(outcome.latencies)),
            ("histogram", Self.histogram(outcome.latencies)),
            (
                "slices",
                .object([
                    ("milliseconds", .natural(LoadPlan.sliceNanoseconds / 1_000_000)),
                    ("answers", .array(outcome.slices.map { .natural(UInt64($0)) })),
                ])
            ),
            ("answers", .natural(outcome.answerCountEver)),
            ("wrong", .natural(outcome.wrongCount)),
            ("wrongAnswers", .array(outcome.wrongAnswers.map(Self.json))),
            ("missing", .natural(outcome.missingCount)),
            ("interrupted", .boolean(outcome.isInterrupted)),
            ("server", server), ("generator", generator),
            ("remarks", .object(remarks.map { ($0.name, $0.value) })),
            ("warnings", .array(warnings.map { .string($0) })),
        ])
    }

    private static func json(_ target: TargetFacts) -> JSONValue {
        .object([
            ("address", .string(target.name)),
            ("program", target.program.map { .string($0) } ?? .null),
            ("processors", .array(target.processors.map { .integer(Int64($0)) })),
        ])
    }

    private func json(_ options: LoadOptions) -> JSONValue {
        .object([
            ("connections", .integer(Int64(options.connectionCount))),
            ("depth", .integer(Int64(options.depth))),
            ("customers", .integer(Int64(options.customerCount))),
            ("seed", .natural(options.seed)),
            ("seconds", .number(options.seconds)),
            ("warmupSeconds", .number(options.warmUpSeconds)),
            ("rate", options.rate.map { .number($0) } ?? .null),
            ("arrivals", options.rate == nil ? .null : .string(options.arrivals.rawValue)),
            ("generatorThreads", .integer(Int64(options.threadCount))),
        ])
    }

    private static func json(_ round: LoadOutcome.Round) -> JSONValue {
        .object([
            ("seconds", .number(round.seconds)), ("answers", .natural(round.answerCount)),
            ("checks", .natural(round.checkCount)),
            ("answersPerSecond", .number(round.answersPerSecond)),
            ("checksPerSecond", .number(round.checksPerSecond)),
            ("latency", json(round.latencies)),
        ])
    }

    private static func json(_ latencies: Histogram) -> JSONValue {
        let percentiles = quantiles.map { quantile in
            (quantile.name, microseconds(latencies.value(at: quantile.share)))
        }
        return .object(
            [
                ("count", .natural(latencies.count)),
                ("min", microseconds(latencies.minNanoseconds)),
                ("mean", .number(latencies.meanNanoseconds / 1_000)),
            ] + percentiles + [("max", microseconds(latencies.maxNanoseconds))])
    }

    /// Pairs of an upper end in microseconds and a count, of the buckets that are not empty.
    private static func histogram(_ latencies: Histogram) -> JSONValue {
        .array(
            latencies.buckets.map {
                .array([microseconds($0.upperNanoseconds), .natural($0.count)])
            })
    }

    private static func json(_ answer: WrongAnswer) -> JSONValue {
        .object([
            ("what", .string(answer.what)),
            ("expected", .string(hexadecimal(answer.expected))),
            ("found", .string(hexadecimal(answer.found))),
        ])
    }

    private var server: JSONValue {
        .object([
            (
                "processorMicrosecondsPerAnswer",
                serverNanosecondsPerAnswer.map { .number($0 / 1_000) } ?? .null
            )
        ])
    }

    private var generator: JSONValue {
        .object([
            ("busyShare", .number(outcome.generatorBusyShare)),
            ("lateMax", Self.microseconds(outcome.sendDelayNanosecondsMax)),
            ("unsent", .natural(outcome.unsentCount)),
            (
                "echoAnswersPerSecond",
                calibration.map { .number($0.answersPerSecond) } ?? .null
            ),
        ])
    }

    private static func microseconds(_ nanoseconds: UInt64) -> JSONValue {
        .number(Double(nanoseconds) / 1_000)
    }
}
