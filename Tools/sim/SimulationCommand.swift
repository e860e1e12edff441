internal import Simulation
internal import ToolSupport

/// What is wrong with a command line.
struct UsageError: Error {
    var message: String
}

/// What the command line asks for.
struct SimulationCommand {
    static let usage = """
        usage: sim --seed S [--events N] [--trace] [--canary NAME]
               sim --seeds A..B [--events N] [--minutes M]
               sim --canaries

          --seed S       runs one seed and prints its trace hash: the same seed at the same
                         commit is the same run
          --seeds A..B   runs seeds A up to B, until one has a finding, or for M minutes
          --events N     how many events happen before faults stop, 20000 when not said
          --trace        prints the last lines of the trace in any case
          --canary NAME  plants a bug
          --canaries     plants each bug in turn, and tells which seed finds it

        Exits with 1 on a finding (with --canaries: on a bug that nothing finds), with 2 on a usage
        error.
        """

    private var seeds: ClosedRange<UInt64> = 1...1
    private var eventCount = 20_000
    private var minutes: Double?
    private var showsTrace = false
    private var canary: Canary?
    private var runsCanaries = false
    /// A bug that is not found in so many seeds is not found.
    private let canarySeedCountMax: UInt64 = 60

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        var hasSeed = false
        while let option = rest.popFirst() {
            switch option {
            case "--seed":
                let seed: UInt64 = try Self.number(rest.popFirst(), option)
                (seeds, hasSeed) = (seed...seed, true)
            case "--seeds": (seeds, hasSeed) = (try Self.range(rest.popFirst()), true)
            case "--events": eventCount = try Self.number(rest.popFirst(), option)
            case "--minutes": minutes = try Self.number(rest.popFirst(), option)
            case "--trace": showsTrace = true
            case "--canaries": (runsCanaries, hasSeed) = (true, true)
            case "--canary":
                guard let name = rest.popFirst(), let known = Canary(rawValue: name) else {
                    let names = Canary.allCases.map(\.rawValue).joined(separator: ", ")
                    throw UsageError(message: "--canary takes one of \(names)")
                }
                canary = known
            default: throw UsageError(message: "\(option) is no option")
            }
        }
        guard hasSeed else { throw UsageError(message: "say --seed, --seeds or --canaries") }
        guard eventCount > 0 else { throw UsageError(message: "--events takes a number above 0") }
    }

    private static func number<Number: LosslessStringConvertible>(
        _ text: String?, _ option: String
    ) throws(UsageError) -> Number {
        guard let text, let number = Number(text) else {
            throw UsageError(message: "\(option) takes a number")
        }
        return number
    }

    private static func range(_ text: String?) throws(UsageError) -> ClosedRange<UInt64> {
        let ends = (text ?? "").split(separator: ".").compactMap { UInt64($0) }
        guard ends.count == 2, ends[0] <= ends[1] else {
            throw UsageError(message: "--seeds takes two numbers, as in 1..100")
        }
        return ends[0]...ends[1]
    }

    /// Carries it out; the exit status.
    func run() -> Int32 {
        do throws(Finding) {
            let authority = try SimulationAuthority()
            return runsCanaries ? runCanaries(authority) : runSeeds(authority)
        } catch {
            say("\(error.rule): \(error.detail)")
            return 1
        }
    }

    /// At once, also into a pipe: a run takes hours.
    private func say(_ line: String) { SystemCalls.write(line + "\n", to: .output) }

    private func runSeeds(_ authority: SimulationAuthority) -> Int32 {
        let start = ContinuousClock.now
        var totals = Totals()
        for seed in seeds {
            let plan = SimulationPlan(seed: seed, eventCount: eventCount, canary: canary)
            let report = Simulator(plan, authority: authority).run()
            totals.add(report)
            say(Self.line(report))
            if showsTrace || report.finding != nil {
                for line in report.lastLines { say("    \(line)") }
            }
            guard report.finding == nil else {
                say(totals.line(since: start))
                return 1
            }
            let elapsed = ContinuousClock.now - start
            if let minutes, elapsed >= .seconds(minutes * 60) { break }
        }
        say(totals.line(since: start))
        return 0
    }

    private func runCanaries(_ authority: SimulationAuthority) -> Int32 {
        var status: Int32 = 0
        for canary in Canary.allCases {
            var found: SimulationReport?
            for seed in 1...canarySeedCountMax where found == nil {
                let plan = SimulationPlan(seed: seed, eventCount: eventCount, canary: canary)
                let report = Simulator(plan, authority: authority).run()
                if report.finding != nil { found = report }
            }
            if let found, let finding = found.finding {
                say("\(canary): found by seed \(found.plan.seed), \(finding.rule)")
            } else {
                say("\(canary): NOT FOUND in \(canarySeedCountMax) seeds")
                status = 1
            }
        }
        return status
    }

    private static func line(_ report: SimulationReport) -> String {
        let hash = String(report.traceHash, radix: 16)
        let result = report.finding.map { "FINDING \($0.rule): \($0.detail)" } ?? "ok"
        return "seed \(report.plan.seed) events \(report.eventCount) trace \(hash) writes "
            + "\(report.writeCount) revision \(report.revision) compared \(report.comparedCount) "
            + "uncertain \(report.uncertainCount) faults \(report.faultCount) crashes "
            + "\(report.crashCount) simulated \(report.milliseconds / 1_000) s \(result)"
    }
}

/// Sums over seeds.
private struct Totals {
    private var seedCount = 0
    private var eventCount = 0
    private var faultCount = 0
    private var crashCount = 0
    private var writeCount = 0
    private var comparedCount = 0
    private var milliseconds: Int64 = 0

    mutating func add(_ report: SimulationReport) {
        seedCount += 1
        eventCount += report.eventCount
        faultCount += report.faultCount
        crashCount += report.crashCount
        writeCount += report.writeCount
        comparedCount += report.comparedCount
        milliseconds += report.milliseconds
    }

    func line(since start: ContinuousClock.Instant) -> String {
        let elapsed = ContinuousClock.now - start
        return "\(seedCount) seeds, \(eventCount) events, \(writeCount) writes, \(comparedCount) "
            + "answers compared, \(faultCount) faults, \(crashCount) crashes, "
            + "\(milliseconds / 1_000) simulated seconds in \(elapsed.components.seconds) s"
    }
}
