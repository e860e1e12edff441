import LoadGenerator
import Testing

@testable import entitlebench

@Suite struct SmokeCommandTests {
    @Test func `right answers are no finding`() {
        let finding = SmokeCommand.finding(
            "x", BenchFixture.outcome([BenchFixture.round(1, [100])]))
        #expect(finding.failure == nil)
        #expect(finding.answerCount == 1)
    }

    @Test func `a wrong answer, a missing one and none at all are`() {
        var wrong = BenchFixture.outcome([BenchFixture.round(1, [100])])
        wrong.wrongCount = 1
        wrong.wrongAnswers = [WrongAnswer(what: "granted, not refused", expected: [], found: [])]
        #expect(SmokeCommand.finding("x", wrong).failure == "granted, not refused")
        var missing = BenchFixture.outcome([BenchFixture.round(1, [100])])
        missing.missingCount = 1
        #expect(SmokeCommand.finding("x", missing).failure != nil)
        #expect(SmokeCommand.finding("x", BenchFixture.outcome([])).failure != nil)
    }
}
