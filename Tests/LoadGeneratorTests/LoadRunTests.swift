import EventLoop
import Synchronization
import Testing

@testable import LoadGenerator

/// Counts what an echo reads.
private final class ReadCounter: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

private final class Flag: Sendable {
    let isSet = Atomic(false)
}

@Suite struct LoadRunTests {
    private func plan(_ echo: LoopbackEcho) -> LoadPlan {
        var plan = LoadPlan(address: echo.address)
        plan.connectionCount = 4
        plan.depth = 8
        plan.warmUpNanoseconds = 20_000_000
        plan.roundNanoseconds = 100_000_000
        plan.roundCount = 2
        return plan
    }

    @Test(arguments: [1, 2])
    func `a closed loop gets right answers on every connection`(threadCount: Int) throws {
        let echo = try LoopbackEcho()
        defer { echo.stop() }
        var plan = plan(echo)
        plan.threadCount = threadCount
        let outcome = try LoadRun(plan, .check(echo.script)).finish()
        #expect(outcome.isRight)
        #expect(!outcome.isInterrupted)
        #expect(outcome.rounds.count == 2)
        #expect(outcome.rounds.allSatisfy { $0.answerCount > 0 && $0.latencies.count > 0 })
        #expect(outcome.rounds.allSatisfy { $0.checkCount == $0.answerCount })
        // Warm-up and what is in flight at the end are answers too.
        #expect(outcome.answerCountEver > outcome.rounds.reduce(0) { $0 + $1.answerCount })
        #expect(outcome.slices.reduce(0) { $0 + UInt64($1) } > 0)
        #expect(outcome.unsentCount == 0)
        #expect(outcome.latencies.count == outcome.rounds.reduce(0) { $0 + $1.latencies.count })
    }

    @Test(arguments: LoadPlan.Arrivals.allCases)
    func `an open loop sends what its schedule says, and no more`(
        arrivals: LoadPlan.Arrivals
    ) throws {
        let echo = try LoopbackEcho()
        defer { echo.stop() }
        var plan = plan(echo)
        plan.pace = .open(requestsPerSecond: 2_000, arrivals: arrivals)
        let outcome = try LoadRun(plan, .check(echo.script)).finish()
        #expect(outcome.isRight)
        // 220 ms at 2,000 a second; a schedule is not later than its rounds are, which may be late.
        #expect(outcome.answerCountEver > 0)
        let seconds = 0.02 + outcome.rounds.reduce(0) { $0 + $1.seconds }
        let expected = 2_000 * seconds
        #expect(Double(outcome.answerCountEver) <= expected + 6 * expected.squareRoot() + 50)
    }

    @Test func `a server that stands shows in every latency that an open loop meant to have`()
        throws
    {
        // It answers nothing for 300 ms, once, after a while.
        let reads = ReadCounter()
        let echo = try LoopbackEcho(beforeAnswer: {
            if reads.next() == 40 { LoadClock.sleep(nanoseconds: 300_000_000) }
        })
        defer { echo.stop() }
        var plan = plan(echo)
        plan.depth = 1
        plan.roundNanoseconds = 1_000_000_000
        plan.roundCount = 1
        plan.warmUpNanoseconds = 0
        plan.pace = .open(requestsPerSecond: 1_000, arrivals: .constant)
        let open = try LoadRun(plan, .check(echo.script)).finish()
        #expect(open.isRight)
        // Of 1,000 requests the 200 of the first 200 ms have waited 100 ms or more, however few of
        // them could be in flight.
        let slow = open.latencies.buckets.filter { $0.upperNanoseconds >= 100_000_000 }
        #expect(slow.reduce(0) { $0 + $1.count } >= 190)
        #expect(open.latencies.value(at: 0.99) >= 200_000_000)
        #expect(open.sendDelayNanosecondsMax >= 200_000_000)
    }

    @Test func `requests that found no connection with room are counted with their wait`() throws {
        // It answers nothing before the rounds are over.
        let reads = ReadCounter()
        let echo = try LoopbackEcho(beforeAnswer: {
            if reads.next() == 1 { LoadClock.sleep(nanoseconds: 500_000_000) }
        })
        defer { echo.stop() }
        var plan = plan(echo)
        plan.connectionCount = 2
        plan.depth = 3
        plan.warmUpNanoseconds = 0
        plan.roundNanoseconds = 200_000_000
        plan.roundCount = 1
        plan.pace = .open(requestsPerSecond: 1_000, arrivals: .constant)
        let outcome = try LoadRun(plan, .check(echo.script)).finish()
        #expect(outcome.isRight)
        #expect(outcome.unsentCount >= 190)
        #expect(outcome.latencies.count >= outcome.unsentCount)
        #expect(outcome.latencies.maxNanoseconds >= 190_000_000)
    }

    @Test func `a run that is stopped gives what there is`() throws {
        let echo = try LoopbackEcho()
        defer { echo.stop() }
        var plan = plan(echo)
        plan.roundNanoseconds = 60_000_000_000
        let run = try LoadRun(plan, .check(echo.script))
        while !run.isOver, run.answerCount == 0 { LoadClock.sleep(nanoseconds: 1_000_000) }
        #expect(run.answerCount > 0)
        run.stop()
        let outcome = try run.finish()
        #expect(outcome.isInterrupted)
        #expect(outcome.isRight)
        #expect(outcome.rounds.count <= 1)
        #expect(outcome.answerCountEver > 0)
    }

    @Test func `a place where nobody listens is told`() throws {
        let echo = try LoopbackEcho()
        let plan = plan(echo)
        echo.stop()
        let run = try LoadRun(plan, .check(echo.script))
        let error = #expect(throws: LoadError.self) { try run.finish() }
        #expect(error?.description.contains("refused") == true)
    }

    @Test func `a wrong answer is found and kept`() throws {
        let echo = try LoopbackEcho()
        defer { echo.stop() }
        var script = echo.script
        script.population.shapes[0].granted = false
        var plan = plan(echo)
        plan.roundCount = 1
        let outcome = try LoadRun(plan, .check(script)).finish()
        #expect(!outcome.isRight)
        #expect(outcome.wrongCount == outcome.answerCountEver)
        #expect(outcome.wrongAnswers.count == 5)
    }

    @Test func `two threads that measured are one outcome`() {
        var (first, second) = (ThreadOutcome(), ThreadOutcome())
        var latencies = Histogram()
        latencies.record(5_000)
        func round(_ seconds: Double, _ count: UInt64) -> LoadOutcome.Round {
            LoadOutcome.Round(
                seconds: seconds, answerCount: count, checkCount: count * 2, latencies: latencies)
        }
        first.rounds = [round(1, 10), round(1, 20)]
        first.slices = [1, 2]
        first.busyShare = 0.3
        first.unsentCount = 4
        second.rounds = [round(1.5, 5)]
        second.slices = [10]
        second.busyShare = 0.6
        second.wrongCount = 1
        second.isInterrupted = true
        let merged = LoadOutcome(merging: [first, second])
        #expect(merged.rounds.map(\.answerCount) == [15])
        #expect(merged.rounds.map(\.seconds) == [1.5])
        #expect(merged.rounds[0].latencies.count == 2)
        #expect(merged.rounds[0].answersPerSecond == 10)
        #expect(merged.rounds[0].checksPerSecond == 20)
        #expect(merged.slices == [11, 2])
        #expect(merged.generatorBusyShare == 0.6)
        #expect(merged.unsentCount == 4)
        #expect(merged.isInterrupted && !merged.isRight)
    }

    @Test func `on a busy machine an open loop still tells what the generator used`() throws {
        let echo = try LoopbackEcho()
        defer { echo.stop() }
        // Threads that take from the generator about what it would wait for its schedule.
        let isOver = Flag()
        let hogs = try (0..<4).map { index in
            try Thread(name: "hog-\(index)") {
                while !isOver.isSet.load(ordering: .relaxed) {}
            }
        }
        defer {
            isOver.isSet.store(true, ordering: .relaxed)
            for hog in hogs { hog.join() }
        }
        var plan = plan(echo)
        plan.roundNanoseconds = 300_000_000
        plan.pace = .open(requestsPerSecond: 5_000, arrivals: .constant)
        let outcome = try LoadRun(plan, .check(echo.script)).finish()
        #expect(outcome.isRight)
        #expect(outcome.generatorBusyShare > 0)
        #expect(outcome.generatorBusyShare < 1)
    }
}
