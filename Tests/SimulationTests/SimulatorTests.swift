import TestSupport
import Testing

@testable import Simulation

/// Made once: keys and certificates take a while.
enum SharedAuthority {
    static let value = Result { try SimulationAuthority() }
}

private func run(seed: UInt64, events: Int, canary: Canary? = nil) throws -> SimulationReport {
    let plan = SimulationPlan(seed: seed, eventCount: events, canary: canary)
    return Simulator(plan, authority: try SharedAuthority.value.get()).run()
}

/// What a failed test shows: enough to run it again.
private func explanation(_ report: SimulationReport) -> Comment {
    let finding = report.finding.map { "\($0.rule): \($0.detail)" } ?? ""
    return Comment(
        rawValue: "sim --seed \(report.plan.seed) --events \(report.plan.eventCount)\n\(finding)\n"
            + report.lastLines.suffix(20).joined(separator: "\n"))
}

@Suite struct SimulatorTests {
    @Test(arguments: [UInt64](1...20))
    func `a seed has no finding`(seed: UInt64) throws {
        let report = try run(seed: seed, events: 2_000)
        #expect(report.finding == nil, explanation(report))
        #expect(report.eventCount > 2_000)
        #expect(report.comparedCount > 0)
    }

    @Test func `seeds that nobody has tried have no finding either`() throws {
        for _ in 0..<4 {
            let report = try run(seed: UInt64.random(in: 1_000...UInt64.max), events: 2_000)
            #expect(report.finding == nil, explanation(report))
        }
    }

    @Test(arguments: Canary.allCases)
    func `a planted bug is found within a few seeds`(canary: Canary) throws {
        for seed in UInt64(1)...30 {
            let report = try run(seed: seed, events: 5_000, canary: canary)
            if report.finding != nil { return }
        }
        Issue.record("30 seeds do not find \(canary)")
    }

    @Test func `two runs of a seed are the same run`() throws {
        for seed: UInt64 in [3, 8, 14] {
            let (one, other) = (
                try run(seed: seed, events: 2_000), try run(seed: seed, events: 2_000)
            )
            #expect(one.traceHash == other.traceHash)
            #expect(one.traceLineCount == other.traceLineCount)
            #expect(one.lastLines == other.lastLines)
        }
        #expect(
            try run(seed: 3, events: 2_000).traceHash != run(seed: 4, events: 2_000).traceHash)
    }

    /// Another process has other hash seeds, other keys and other addresses.
    @Test func `two processes run a seed alike`() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) {
            for seed: UInt64 in [3, 8, 14] {
                print("hash \(try run(seed: seed, events: 2_000).traceHash)")
            }
        }
        let output = String(decoding: result.standardOutputContent, as: UTF8.self)
        for seed: UInt64 in [3, 8, 14] {
            #expect(output.contains("hash \(try run(seed: seed, events: 2_000).traceHash)"))
        }
    }

    @Test func `a finding ends the run and leaves the last lines`() throws {
        let report = try run(seed: 1, events: 5_000, canary: .answerTwice)
        #expect(report.finding?.rule == "answerTwice")
        #expect(report.lastLines.last?.contains("FINDING answerTwice") == true)
        #expect(report.lastLines.count > 1)
    }
}
