import Testing

@testable import Simulation

@Suite struct SimulatedClockTests {
    @Test func `steps move the wall clock alone`() {
        let clock = SimulatedClock()
        clock.advance(to: 100)
        clock.step(by: -70)
        #expect(clock.nowMilliseconds == 100)
        #expect(clock.wallMilliseconds == SimulatedClock.beginning + 30)
    }

    @Test func `a range holds all that the wall clock has said`() {
        let clock = SimulatedClock()
        clock.advance(to: 100)
        clock.step(by: 1_000)
        clock.advance(to: 200)
        clock.step(by: -5_000)
        clock.advance(to: 300)
        let start = SimulatedClock.beginning
        #expect(clock.wallRange(from: 0, through: 50) == start...(start + 50))
        #expect(clock.wallRange(from: 90, through: 110) == (start + 90)...(start + 1_110))
        #expect(clock.wallRange(from: 110, through: 300) == (start - 3_800)...(start + 1_200))
        #expect(clock.wallRange(from: 250, through: 250) == (start - 3_750)...(start - 3_750))
    }
}
