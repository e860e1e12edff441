import EventLoop
import Synchronization
import Testing
import Wire

@testable import LoadGenerator

/// Greets first, learns from the echo of its greeting what every answer will be, then says the same
/// over and over.
private struct GreetingDialogue: LoadDialogue {
    static let frame = MessageWriter.frame([8, 0x81, 0x80, 0x80, 0x80, 1])

    let isRefused: Bool
    var echo: EchoDialogue?

    var hasGreeting: Bool { true }

    mutating func appendGreeting(to output: inout OutputBuffer) { output.append(Self.frame.span) }

    mutating func takeGreeting(
        _ input: Span<UInt8>, to output: inout OutputBuffer
    ) -> GreetingStep {
        if isRefused { return .refused("we do not know you") }
        guard input.count >= 4, input.count >= 4 + Int(input[3]) else { return .more(consumed: 0) }
        let answer = Array(input.extracting(0..<4 + Int(input[3])))
        echo = EchoDialogue(EchoScript(request: Self.frame, answer: answer))
        return .done(consumed: answer.count)
    }

    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        echo?.appendRequest(number, to: &output) ?? 0
    }

    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        echo?.take(input, &ledger, to: &output) ?? 0
    }
}

@Suite struct LoadDriverTests {
    private func outcome(
        isRefused: Bool
    ) throws(LoadError) -> ThreadOutcome {
        let echo = try LoopbackEcho()
        defer { echo.stop() }
        var plan = LoadPlan(address: echo.address)
        plan.connectionCount = 2
        plan.depth = 2
        plan.warmUpNanoseconds = 0
        plan.roundNanoseconds = 20_000_000
        plan.roundCount = 1
        let board = LoadBoard()
        board.startNanoseconds.store(LoadClock.now, ordering: .relaxed)
        return try LoadDriver.run(
            ThreadShare(index: 0, connections: 0..<2), plan, board
        ) { _ in GreetingDialogue(isRefused: isRefused) }
    }

    @Test func `nothing is asked before the greeting is answered`() throws {
        let outcome = try outcome(isRefused: false)
        #expect(outcome.answerCount > 0)
        #expect(outcome.wrongCount == 0)
        #expect(outcome.missingCount == 0)
        #expect(outcome.rounds.count == 1)
    }

    @Test func `a peer that does not want us is quoted`() {
        #expect(throws: LoadError.refused("we do not know you")) {
            try outcome(isRefused: true)
        }
    }

    @Test func `silence ends a closed loop`() throws {
        let echo = try LoopbackEcho(beforeAnswer: { LoadClock.sleep(nanoseconds: 400_000_000) })
        defer { echo.stop() }
        var plan = LoadPlan(address: echo.address)
        plan.connectionCount = 1
        plan.stallNanoseconds = 100_000_000
        let run = try LoadRun(plan, .check(echo.script))
        #expect(throws: LoadError.stalled(nanoseconds: 100_000_000)) { try run.finish() }
    }
}
