internal import LoadGenerator
internal import ToolSupport

/// What a run is reported as.
struct LoadReport: Sendable {
    /// The workload's name.
    let workload: String
    let options: LoadOptions
    let target: TargetFacts
    let outcome: LoadOutcome
    /// Processor time of an own server during the whole run, warm-up and all, in nanoseconds.
    var serverNanoseconds: Int64?
    /// What the generator itself could do.
    var calibration: Calibration?
    /// What a workload has to say besides: a name, words for people, a value for programs.
    var remarks: [(name: String, text: String, value: JSONValue)] = []

    /// More than this share of a processor, and the generator may be what limits the run.
    static let busyShareMax = 0.9
    /// The percentiles that are shown.
    static let quantiles: [(name: String, share: Double)] = [
        ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999),
    ]

    init(workload: String, options: LoadOptions, target: TargetFacts, outcome: LoadOutcome) {
        self.workload = workload
        self.options = options
        self.target = target
        self.outcome = outcome
    }

    /// Whether answers carry more than one check.
    var isBatched: Bool {
        outcome.rounds.contains { $0.checkCount != $0.answerCount && $0.checkCount > 0 }
    }

    /// Processor time of the server per answer, in nanoseconds; nil when it is not ours.
    var serverNanosecondsPerAnswer: Double? {
        guard let serverNanoseconds, outcome.answerCountEver > 0 else { return nil }
        return Double(serverNanoseconds) / Double(outcome.answerCountEver)
    }

    /// What to be careful about, in sentences.
    var warnings: [String] {
        var warnings: [String] = []
        if outcome.generatorBusyShare > Self.busyShareMax {
            warnings.append(
                "the generator was \(Figure.percent(outcome.generatorBusyShare)) busy: it may be"
                    + " what limits these figures; give it --generator-threads")
        }
        if outcome.unsentCount > 0 {
            warnings.append(
                "the server did not keep up with the rate: \(Figure.whole(outcome.unsentCount))"
                    + " requests of the schedule found no connection with room and were not sent")
        }
        if let spread, spread > 2 {
            warnings.append(
                "the rounds differ by \(Figure.fixed(spread, 1))x: something else was at work on"
                    + " this machine")
        }
        return warnings
    }

    /// The fastest round against the slowest.
    private var spread: Double? {
        let rates = outcome.rounds.map(\.answersPerSecond)
        guard rates.count > 1, let slowest = rates.min(), let fastest = rates.max(), slowest > 0
        else { return nil }
        return fastest / slowest
    }
}

// MARK: - For people

extension LoadReport {
    /// The report as a table.
    var lines: [Line] {
        var pairs: [(String, Table.Cell)] = [
            ("workload", Table.Cell(workload, .bold)),
            (
                "population",
                Table.Cell(
                    "\(Figure.whole(UInt64(options.customerCount))) customers, seed"
                        + " \(options.seed)")
            ),
            ("load", Table.Cell(options.sentence)),
            ("server", Table.Cell(serverText)),
            ("generator", Table.Cell(generatorText)),
        ]
        for remark in remarks { pairs.append((remark.name, Table.Cell(remark.text))) }
        pairs.append(("answers", answersCell))
        var lines = Table.pairs(pairs) + [Line("")] + roundTable.lines()
        if !warnings.isEmpty { lines += [Line("")] + warnings.map { Line("warning: \($0)", .bad) } }
        return lines + wrongLines
    }

    private var serverText: String {
        var text = target.program.map { "\($0) at \(target.name)" } ?? target.name
        if !target.processors.isEmpty {
            text += ", processors " + target.processors.map(String.init).joined(separator: ",")
        }
        if let time = serverNanosecondsPerAnswer {
            text += ", \(Figure.microseconds(UInt64(time))) us of a processor per answer"
        }
        return text
    }

    private var generatorText: String {
        var text = "\(Figure.percent(outcome.generatorBusyShare)) busy"
        if options.rate != nil {
            text +=
                ", sent at most \(Figure.microseconds(outcome.sendDelayNanosecondsMax)) us late"
        }
        if let calibration {
            text +=
                "; against an echo of such bytes it drove"
                + " \(Figure.rate(calibration.answersPerSecond))"
        }
        return text
    }

    private var answersCell: Table.Cell {
        let count = Figure.whole(outcome.answerCountEver)
        guard !outcome.isRight else {
            let end = outcome.isInterrupted ? "; interrupted" : ""
            return Table.Cell("\(count), all right" + end, .good)
        }
        return Table.Cell(
            "\(count), \(Figure.whole(outcome.wrongCount)) WRONG,"
                + " \(Figure.whole(outcome.missingCount)) missing", .bad)
    }

    private var roundTable: Table {
        let rates: [Table.Column] =
            [.number("answers/s")] + (isBatched ? [.number("checks/s")] : [])
        var table = Table(
            [.text("round")] + rates + Self.quantiles.map { .number($0.name + " us") }
                + [.number("max us")])
        for (index, round) in outcome.rounds.enumerated() {
            table.add([Table.Cell("\(index + 1)")] + cells(round))
        }
        guard outcome.rounds.count > 1 else { return table }
        let picks: [(name: String, pick: ([Double]) -> Double)] = [
            ("min", { $0.min() ?? 0 }), ("median", Figure.median), ("max", { $0.max() ?? 0 }),
        ]
        for (name, pick) in picks {
            var cells = [Table.Cell(name, .bold)]
            for column in columns.indices {
                let value = pick(outcome.rounds.map { columns[column].value($0) })
                cells.append(Table.Cell(columns[column].text(value), .bold))
            }
            table.add(cells)
        }
        return table
    }

    /// A column of figures: its value in a round, and how that is written.
    private struct FigureColumn {
        let value: (LoadOutcome.Round) -> Double
        let text: (Double) -> String
    }

    private var columns: [FigureColumn] {
        let whole: (Double) -> String = { Figure.whole(UInt64(max(0, $0).rounded())) }
        let time: (Double) -> String = { Figure.microseconds(UInt64(max(0, $0).rounded())) }
        var columns = [FigureColumn(value: { $0.answersPerSecond }, text: whole)]
        if isBatched { columns.append(FigureColumn(value: { $0.checksPerSecond }, text: whole)) }
        for quantile in Self.quantiles.map(\.share) + [1] {
            columns.append(
                FigureColumn(value: { Double($0.latencies.value(at: quantile)) }, text: time))
        }
        return columns
    }

    private func cells(_ round: LoadOutcome.Round) -> [Table.Cell] {
        columns.map { Table.Cell($0.text($0.value(round))) }
    }

    private var wrongLines: [Line] {
        guard !outcome.wrongAnswers.isEmpty else { return [] }
        var lines = [Line(""), Line("wrong answers:", .bad)]
        for answer in outcome.wrongAnswers {
            lines.append(Line("  \(answer.what)"))
            if !answer.expected.isEmpty {
                lines.append(Line("    expected  \(Self.hexadecimal(answer.expected))"))
            }
            lines.append(Line("    found     \(Self.hexadecimal(answer.found))"))
        }
        return lines
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
