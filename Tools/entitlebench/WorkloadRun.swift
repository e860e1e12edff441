internal import LoadGenerator
internal import ToolSupport

/// What a workload has to work with: a server that holds a population, and how hard to drive it.
struct WorkloadRun: Sendable {
    /// The workload's name.
    let name: String
    /// Where the server is, and how it got its data.
    let target: BenchTarget
    /// Who is in it.
    let seed: SeedPlan
    let options: LoadOptions
    let console: Console
    /// Whether a progress line is written: on a terminal, or by `--progress`.
    let showsProgress: Bool

    /// Drives the server with one script, and tells how far it is meanwhile. Ctrl-C ends it early.
    ///
    /// - Throws: `CommandFailure` when the server cannot be driven.
    func drive(_ script: LoadScript) async throws(CommandFailure) -> LoadOutcome {
        try await drive(script, options.plan(target))
    }

    /// The same by a plan of the workload's own.
    ///
    /// - Throws: `CommandFailure` when the server cannot be driven.
    func drive(
        _ script: LoadScript, _ plan: LoadPlan
    ) async throws(CommandFailure) -> LoadOutcome {
        var script = script
        if case .check(var checks) = script {
            checks.population.apiKey = target.apiKey
            script = .check(checks)
        }
        let watcher = showsProgress ? RunWatcher(console, plan) : nil
        do throws(LoadError) {
            let run = try LoadRun(plan, script)
            while !run.isOver {
                // A cancelled sleep returns at once; that only polls faster.
                try? await Task.sleep(for: .milliseconds(10))
                if Interruption.signalNumber != nil { run.stop() }
                watcher?.update(run.answerCount)
            }
            watcher?.end()
            return try run.finish()
        } catch {
            watcher?.end()
            if Interruption.signalNumber != nil { throw .interrupted }
            throw CommandFailure(error)
        }
    }

    /// What there is to report of an outcome.
    func report(_ outcome: LoadOutcome) -> LoadReport {
        LoadReport(workload: name, options: options, target: target.facts, outcome: outcome)
    }
}

extension CommandFailure {
    /// Why a run ended before its time.
    init(_ error: LoadError) {
        switch error {
        case .connectFailed:
            self.init(
                .unavailable, error.description,
                hint: "is it running? name its address with --target, or leave that out for an own"
                    + " server")
        default: self.init(.failed, error.description)
        }
    }
}

/// The progress line of a run.
final class RunWatcher: Sendable {
    private let progress: Progress

    init(_ console: Console, _ plan: LoadPlan) {
        progress = Progress(console: console, noun: "answers")
    }

    /// So many answers came so far.
    func update(_ answerCount: UInt64) { progress.update(done: Int(answerCount), total: nil) }

    /// Takes the line away.
    func end() { progress.erase() }
}
