import EventLoop
import Testing

@testable import LoadGenerator

@Suite struct RoundClockTests {
    private func clock(warmUp: UInt64 = 100, round: UInt64 = 1_000, rounds: Int = 2) -> RoundClock {
        var plan = LoadPlan(address: .unix(path: "x"))
        plan.warmUpNanoseconds = warmUp
        plan.roundNanoseconds = round
        plan.roundCount = rounds
        var clock = RoundClock(plan)
        clock.begin(at: 10_000)
        return clock
    }

    @Test func `warm-up, rounds and end follow each other`() {
        var clock = clock()
        #expect(clock.measuredFrom == 10_100)
        #expect(clock.end == 12_100)
        #expect(clock.turn(at: 10_099) == .none)
        #expect(!clock.isMeasuring)
        #expect(clock.turn(at: 10_100) == .measuring)
        #expect(clock.isMeasuring)
        #expect(clock.turn(at: 11_099) == .none)
        #expect(clock.turn(at: 11_100) == .round(nanoseconds: 1_000, isLast: false))
        #expect(clock.boundary == 12_100)
        #expect(clock.turn(at: 12_100) == .round(nanoseconds: 1_000, isLast: true))
    }

    @Test func `a round that ends late is as long as it was`() {
        var clock = clock()
        #expect(clock.turn(at: 10_150) == .measuring)
        #expect(clock.turn(at: 11_300) == .round(nanoseconds: 1_150, isLast: false))
        #expect(clock.turn(at: 11_301) == .none)
        #expect(clock.endRound(at: 11_500) == .round(nanoseconds: 200, isLast: true))
    }

    @Test func `instants lie in slices of 100 ms from the first round on`() {
        let clock = clock(warmUp: 0, round: 1_000_000_000)
        #expect(clock.slice(of: 0) == 0)
        #expect(clock.slice(of: 10_000) == 0)
        #expect(clock.slice(of: 10_000 + 99_999_999) == 0)
        #expect(clock.slice(of: 10_000 + 100_000_000) == 1)
    }
}
