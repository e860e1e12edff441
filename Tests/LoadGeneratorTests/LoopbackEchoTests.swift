import EventLoop
import Testing

@testable import LoadGenerator

@Suite struct LoopbackEchoTests {
    @Test func `it answers every request with its id, and what the script expects`() throws {
        let echo = try LoopbackEcho()
        defer { echo.stop() }
        #expect(echo.address.isLocal)
        var plan = LoadPlan(address: echo.address)
        plan.connectionCount = 3
        // More than one read holds, and more than one write takes.
        plan.depth = 3_000
        plan.warmUpNanoseconds = 0
        plan.roundNanoseconds = 100_000_000
        plan.roundCount = 1
        let outcome = try LoadRun(plan, .check(echo.script)).finish()
        #expect(outcome.isRight)
        #expect(outcome.answerCountEver >= 9_000)
    }

    @Test func `stopping it ends its connections`() throws {
        let echo = try LoopbackEcho()
        var plan = LoadPlan(address: echo.address)
        plan.roundNanoseconds = 60_000_000_000
        let run = try LoadRun(plan, .check(echo.script))
        while !run.isOver, run.answerCount == 0 { LoadClock.sleep(nanoseconds: 1_000_000) }
        echo.stop()
        let error = #expect(throws: LoadError.self) { try run.finish() }
        if case .connectionLost? = error {} else { Issue.record("\(String(describing: error))") }
    }
}
