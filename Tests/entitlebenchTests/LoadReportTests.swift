import FoundationEssentials
import LoadGenerator
import Testing
import ToolSupport

@testable import entitlebench

@Suite struct LoadReportTests {
    private func text(_ report: LoadReport) -> String {
        report.lines.map(\.text).joined(separator: "\n")
    }

    @Test func `rounds are rows, and below them stand the middle and the ends`() throws {
        let outcome = BenchFixture.outcome([
            BenchFixture.round(2, [100, 100, 200]), BenchFixture.round(1, [50, 50, 50, 50]),
            BenchFixture.round(1, [300, 300]),
        ])
        let text = text(try BenchFixture.report(outcome))
        let rows = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows.contains { $0.prefix(3) == ["1", "2", "100"] })
        #expect(rows.contains { $0.prefix(3) == ["2", "4", "50.0"] })
        #expect(rows.contains { $0.prefix(3) == ["min", "2", "50.0"] })
        #expect(rows.contains { $0.prefix(3) == ["median", "2", "100"] })
        #expect(rows.contains { $0.prefix(3) == ["max", "4", "300"] })
        #expect(text.contains("9, all right"))
        #expect(text.contains("43 % busy"))
        #expect(!text.contains("checks/s"))
    }

    @Test func `a batch has checks per second too`() throws {
        let outcome = BenchFixture.outcome([BenchFixture.round(1, [100, 100], checks: 50)])
        let text = text(try BenchFixture.report(outcome))
        #expect(text.contains("checks/s"))
        let rows = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows.contains { $0.prefix(3) == ["1", "2", "100"] })
    }

    @Test func `wrong answers are shown, byte by byte`() throws {
        var outcome = BenchFixture.outcome([BenchFixture.round(1, [100])])
        outcome.wrongCount = 7
        outcome.missingCount = 2
        outcome.wrongAnswers = [
            WrongAnswer(what: "customer 5", expected: [8, 1], found: [8, 255])
        ]
        let text = text(try BenchFixture.report(outcome))
        #expect(text.contains("1, 7 WRONG, 2 missing"))
        #expect(text.contains("customer 5"))
        #expect(text.contains("expected  0801"))
        #expect(text.contains("found     08ff"))
    }

    @Test func `what makes figures doubtful is said`() throws {
        var outcome = BenchFixture.outcome([
            BenchFixture.round(1, [100]), BenchFixture.round(1, [100, 100, 100]),
        ])
        #expect(try BenchFixture.report(outcome).warnings.count == 1)
        outcome.generatorBusyShare = 0.91
        outcome.unsentCount = 1_000
        let warnings = try BenchFixture.report(outcome).warnings
        #expect(warnings.count == 3)
        #expect(warnings[0].contains("91 % busy"))
        #expect(warnings[1].contains("1,000 requests"))
        #expect(warnings[2].contains("3.0x"))
        outcome.generatorBusyShare = 0.9
        #expect(try BenchFixture.report(outcome).warnings.count == 2)
    }

    @Test func `an own server's processor time is told per answer`() throws {
        var report = try BenchFixture.report(
            BenchFixture.outcome([BenchFixture.round(1, [100, 100])]))
        #expect(report.serverNanosecondsPerAnswer == nil)
        report.serverNanoseconds = 3_000
        #expect(report.serverNanosecondsPerAnswer == 1_500)
        #expect(text(report).contains("1.50 us of a processor per answer"))
    }

    @Test func `the JSON says the same`() throws {
        var outcome = BenchFixture.outcome([BenchFixture.round(2, [100, 100, 200])])
        outcome.wrongCount = 1
        outcome.wrongAnswers = [WrongAnswer(what: "x", expected: [1], found: [2])]
        var report = try BenchFixture.report(outcome, ["rate": "5k"])
        report.remarks = [("durable", "yes", .boolean(true))]
        let data = Data(report.json.text.utf8)
        let decoded = try JSONDecoder().decode(Decoded.self, from: data)
        #expect(decoded.workload == "check-zipf")
        #expect(decoded.rounds[0].answersPerSecond == 1.5)
        #expect(abs(decoded.rounds[0].latency.p50 - 100) < 0.2)
        #expect(decoded.all.max == 200)
        #expect(decoded.wrong == 1)
        #expect(decoded.wrongAnswers[0].found == "02")
        #expect(decoded.load.rate == 5_000)
        #expect(decoded.generator.busyShare == 0.43)
        #expect(decoded.histogram.reduce(0) { $0 + $1[1] } == 3)
        #expect(decoded.slices.answers.count == 10)
        #expect(decoded.remarks.durable)
    }

    private struct Decoded: Decodable {
        struct Latency: Decodable { let p50, max: Double }
        struct Round: Decodable {
            let answersPerSecond: Double
            let latency: Latency
        }
        struct Wrong: Decodable { let found: String }
        struct Load: Decodable { let rate: Double }
        struct Generator: Decodable { let busyShare: Double }
        struct Slices: Decodable { let answers: [Int] }
        struct Remarks: Decodable { let durable: Bool }

        let workload: String
        let rounds: [Round]
        let all: Latency
        let histogram: [[Double]]
        let slices: Slices
        let wrong: Int
        let wrongAnswers: [Wrong]
        let load: Load
        let generator: Generator
        let remarks: Remarks
    }
}
