import Testing

@testable import LoadGenerator

@Suite struct ArrivalScheduleTests {
    private func instants(
        _ count: Int, perSecond: Double, _ arrivals: LoadPlan.Arrivals, phase: Double = 0,
        seed: UInt64 = 1
    ) -> [UInt64] {
        var schedule = ArrivalSchedule(
            start: 5_000, perSecond: perSecond, arrivals: arrivals, phase: phase, seed: seed)
        return (0..<count).map { _ in
            defer { schedule.advance() }
            return schedule.next
        }
    }

    @Test func `a constant rate is even, and does not drift`() {
        // 3,000,000 a second: an interval of 333.3 ns.
        let found = instants(3_000_001, perSecond: 3_000_000, .constant)
        #expect(found[0] == 5_000)
        #expect(found[3_000] == 5_000 + 1_000_000)
        #expect(found[3_000_000] == 5_000 + 1_000_000_000)
    }

    @Test func `threads with other phases send in turn`() {
        let first = instants(3, perSecond: 1_000, .constant, phase: 0)
        let second = instants(3, perSecond: 1_000, .constant, phase: 0.5)
        #expect(first == [5_000, 1_005_000, 2_005_000])
        #expect(second == [505_000, 1_505_000, 2_505_000])
    }

    @Test func `random arrivals have the rate, and the spread of a Poisson process`() {
        let found = instants(200_001, perSecond: 1_000_000, .poisson)
        let gaps = zip(found.dropFirst(), found).map { Double($0 - $1) }
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gaps.count)
        // Of exponential gaps the deviation is the mean: 1,000 ns.
        #expect(abs(mean - 1_000) < 15)
        #expect(abs(variance.squareRoot() - 1_000) < 30)
        #expect(found == instants(200_001, perSecond: 1_000_000, .poisson))
        #expect(found != instants(200_001, perSecond: 1_000_000, .poisson, seed: 2))
    }

    @Test func `what is due grows with the time that nobody sends`() {
        let schedule = ArrivalSchedule(
            start: 0, perSecond: 1_000_000, arrivals: .constant, phase: 0, seed: 1)
        #expect(schedule.dueCount(at: 0) == 1)
        #expect(schedule.dueCount(at: 10_500) == 11)
        // However long a server stands, this is no loop without an end.
        #expect(schedule.dueCount(at: .max) == 1_000_001)
    }
}
