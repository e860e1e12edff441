import FoundationEssentials
import Testing

@testable import EventLoop

@Suite struct ClockTests {
    @Test func `the monotonic clock never goes back and counts the same in both units`() {
        var last = MonotonicClock.nowMicroseconds
        for _ in 0..<10_000 {
            let now = MonotonicClock.nowMicroseconds
            #expect(now >= last)
            last = now
        }
        let milliseconds = MonotonicClock.nowMilliseconds
        #expect(milliseconds >= last / 1_000 && milliseconds <= last / 1_000 + 1_000)
    }

    @Test func `the wall clock is the time of day in milliseconds`() {
        let before = Int64(Date.now.timeIntervalSince1970 * 1_000)
        let now = WallClock.nowMilliseconds
        #expect(abs(now - before) < 2_000)
    }
}
