internal import LoadGenerator
internal import ToolSupport

/// `smoke`: every workload for a moment, on a server of its own, every answer checked.
enum SmokeCommand {
    static let command = BenchCommand(
        words: ["smoke"], operands: [],
        flags: [
            .value("server", "PATH", "the program to start [beside this tool]"),
            .value("server-flags", "TEXT", "further flags of the server that is started"),
            .value("seconds", "S", "how long each workload runs [0.5]"),
        ],
        summary: "every workload for a moment, on a small population",
        details: [
            "For continuous integration: it measures nothing and depends on no figure, it fails on",
            "a wrong or missing answer. Works with a debug build.",
            "JSON: workloads: name, answers, wrong, missing, failure (null when all is well).",
        ],
        examples: [("entitlebench smoke --server .build/debug/entitled", "in a build")],
        body: run)

    /// What came of one workload.
    struct Finding: Sendable {
        let name: String
        let answerCount: UInt64
        let wrongCount: UInt64
        let missingCount: UInt64
        /// nil = all is well.
        let failure: String?
    }

    @Sendable private static func run(
        _ bench: Bench
    ) async throws(CommandFailure) -> ExitStatus {
        var options = try LoadOptions(bench)
        options.connectionCount = 4
        options.depth = 8
        options.customerCount = 600
        options.seconds = try bench.decimal("seconds", in: 0.05...60) ?? 0.5
        options.warmUpSeconds = 0.1
        options.roundCount = 1
        options.batchCount = 50
        Interruption.watch(endsAtOnce: false)
        var findings: [Finding] = []
        for workload in Workloads.all {
            if Interruption.signalNumber != nil { throw .interrupted }
            // One after another, each on a server of its own: none sees what another has written.
            findings.append(await finding(workload, options, bench))
        }
        if bench.isJSON {
            bench.console.print(json(findings))
        } else {
            bench.console.print(table(findings).lines())
        }
        return findings.allSatisfy { $0.failure == nil } ? .success : .failed
    }

    private static func finding(
        _ workload: Workload, _ options: LoadOptions, _ bench: Bench
    ) async -> Finding {
        let seed = workload.plan(options)
        do throws(CommandFailure) {
            let report = try await RunCommand.driveOwnServer(
                workload, seed, options, calibrates: false, bench)
            return finding(workload.name, report.outcome)
        } catch {
            return Finding(
                name: workload.name, answerCount: 0, wrongCount: 0, missingCount: 0,
                failure: error.message + (error.hint.isEmpty ? "" : " (\(error.hint))"))
        }
    }

    /// What an outcome means: right answers, and some of them.
    static func finding(_ name: String, _ outcome: LoadOutcome) -> Finding {
        var failure: String?
        if let wrong = outcome.wrongAnswers.first {
            failure = wrong.what
        } else if outcome.missingCount > 0 {
            failure = "answers are missing"
        } else if outcome.answerCountEver == 0 {
            failure = "there was no answer at all"
        }
        return Finding(
            name: name, answerCount: outcome.answerCountEver, wrongCount: outcome.wrongCount,
            missingCount: outcome.missingCount, failure: failure)
    }

    private static func table(_ findings: [Finding]) -> Table {
        var table = Table([
            .text("workload"), .number("answers"), .number("wrong"), .number("missing"),
            .text("finding"),
        ])
        for finding in findings {
            table.add([
                Table.Cell(finding.name), Table.Cell(Figure.whole(finding.answerCount)),
                Table.Cell(Figure.whole(finding.wrongCount)),
                Table.Cell(Figure.whole(finding.missingCount)),
                finding.failure.map { Table.Cell($0, .bad) } ?? Table.Cell("right", .good),
            ])
        }
        return table
    }

    private static func json(_ findings: [Finding]) -> JSONValue {
        .object([
            (
                "workloads",
                .array(
                    findings.map { finding in
                        .object([
                            ("name", .string(finding.name)),
                            ("answers", .natural(finding.answerCount)),
                            ("wrong", .natural(finding.wrongCount)),
                            ("missing", .natural(finding.missingCount)),
                            ("failure", finding.failure.map { .string($0) } ?? .null),
                        ])
                    })
            )
        ])
    }
}
