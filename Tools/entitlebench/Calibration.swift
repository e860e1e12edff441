internal import LoadGenerator
internal import ToolSupport

/// What the generator can do on this machine, against a thread that answers without thinking.
struct Calibration: Equatable, Sendable {
    /// Answers per second, every one of them checked.
    var answersPerSecond: Double
    /// The share of a processor that the busiest thread of the generator used.
    var busyShare: Double
    var latencies: Histogram

    /// What it could do with a server that takes no time, by its own processor time.
    var capacityPerSecond: Double {
        busyShare > 0 ? answersPerSecond / busyShare : answersPerSecond
    }

    /// Drives an echo in this process for 0.6 s with as many connections and requests in flight as
    /// `plan` has, in a closed loop. The echo runs on `processors`; empty = any.
    ///
    /// - Throws: `CommandFailure` when it cannot be driven, or an answer of it is wrong.
    static func measure(
        _ plan: LoadPlan, processors: [Int], seconds: Double = 0.5
    ) async throws(CommandFailure) -> Calibration {
        do throws(LoadError) {
            let echo = try LoopbackEcho(processors: processors)
            defer { echo.stop() }
            var plan = plan
            plan.address = echo.address
            plan.pace = .closed
            plan.warmUpNanoseconds = 100_000_000
            plan.roundNanoseconds = UInt64(seconds * 1e9)
            plan.roundCount = 1
            let run = try LoadRun(plan, .check(echo.script))
            while !run.isOver {
                try? await Task.sleep(for: .milliseconds(10))
                if Interruption.signalNumber != nil { run.stop() }
            }
            let outcome = try run.finish()
            guard outcome.isRight else {
                let what = outcome.wrongAnswers.first?.what ?? "answers are missing"
                throw .protocolViolation("the echo was misunderstood: \(what)")
            }
            return Calibration(
                answersPerSecond: outcome.rounds.first?.answersPerSecond ?? 0,
                busyShare: outcome.generatorBusyShare, latencies: outcome.latencies)
        } catch {
            throw CommandFailure(error)
        }
    }
}
