import Testing
import ToolSupport

@testable import LoadGenerator
@testable import entitlebench

@Suite struct CompareRoundsTests {
    private let plan = SeedPlan(customerCount: 1_000)

    private func outcome(
        answers: UInt64, wrong: [WrongAnswer] = [], missing: UInt64 = 0
    ) -> LoadOutcome {
        var latencies = Histogram()
        for _ in 0..<answers { latencies.record(5_000) }
        return LoadOutcome(
            rounds: [
                .init(
                    seconds: 2, answerCount: answers, checkCount: answers, latencies: latencies)
            ],
            slices: [], answerCountEver: answers, wrongCount: UInt64(wrong.count),
            wrongAnswers: wrong, missingCount: missing, generatorBusyShare: 0.25,
            sendDelayNanosecondsMax: 0, unsentCount: 0, isInterrupted: false)
    }

    private func result(_ outcome: LoadOutcome) -> Result<CompareSample, CommandFailure> {
        do throws(CommandFailure) {
            let target = try CompareTarget("r=redis:127.0.0.1:1")
            return .success(try CompareRounds.sample(outcome, of: target, CompareShape(1, 1)))
        } catch {
            return .failure(error)
        }
    }

    @Test func `a run becomes a sample`() throws {
        let sample = try result(outcome(answers: 10)).get()
        #expect(sample.answersPerSecond == 5)
        #expect(sample.generatorBusyShare == 0.25)
        #expect((4_900...5_100).contains(sample.medianNanoseconds))
    }

    @Test func `a wrong answer, a missing one and no answers fail the comparison`() {
        let wrong = WrongAnswer(what: "not the value", expected: [65], found: [66])
        for bad in [
            outcome(answers: 10, wrong: [wrong]), outcome(answers: 10, missing: 1),
            outcome(answers: 0),
        ] {
            guard case .failure(let failure) = result(bad) else {
                Issue.record("taken for right")
                continue
            }
            #expect(failure.status == .failed)
        }
    }

    @Test func `a run per round, shape and server that takes the shape`() throws {
        let rounds = CompareRounds(
            targets: [
                try CompareTarget("a=entitled:127.0.0.1:1"),
                try CompareTarget("b=entitled:127.0.0.1:1@1x1"),
            ],
            shapes: CompareShape.usual, roundCount: 6, plan: plan, echoByteCount: 100,
            processors: [])
        #expect(rounds.runCount == 30)
    }

    @Test func `an echo is sent a request and wants its prefix and filling back`() {
        let echo = CompareFrames.echo(plan, answerByteCount: 110)
        #expect(echo.answer.count == 110)
        #expect(echo.answer.prefix(5) == [0, 0, 0, 106, UInt8(ascii: "e")])
        let name = Array(plan.name(of: 0).utf8)
        #expect(echo.request.firstRange(of: name) != nil)
        #expect(Int(echo.request[3]) == echo.request.count - 4)
    }

    @Test func `the mean answer of a population lies between the smallest and the largest`() {
        let mean = CompareFrames.answerByteCount(plan)
        let unknown = CompareFrames.answerByteCount(SeedPlan(customerCount: 1))
        #expect((60...150).contains(mean))
        #expect((60...150).contains(unknown))
    }
}
