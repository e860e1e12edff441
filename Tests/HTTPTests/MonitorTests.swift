@testable import HTTP
import Testing

@Suite struct MonitorTests {
    @Test func `who waits is woken when the value is there`() {
        let monitor = Monitor(0)
        #expect(startThread { monitor.withLockNotifying { $0 = 7 } })
        #expect(monitor.wait { $0 == 0 ? nil : $0 } == 7)
        #expect(startThread { monitor.withLockNotifyingOne { $0 = 8 } })
        #expect(monitor.wait { $0 == 7 ? nil : $0 } == 8)
    }

    @Test func `a wait with an end gives up, and not before`() {
        let monitor = Monitor(0)
        let start = MonotonicTime.milliseconds
        #expect(monitor.wait(until: start + 30) { $0 == 0 ? nil : $0 } == nil)
        #expect(MonotonicTime.milliseconds >= start + 30)
        #expect(monitor.wait(until: start) { $0 } == 0)
    }

    @Test func `threads take turns`() {
        let monitor = Monitor(0)
        for _ in 0..<4 {
            #expect(
                startThread {
                    for _ in 0..<10_000 { monitor.withLock { $0 += 1 } }
                    monitor.withLockNotifying { $0 += 1_000_000 }
                })
        }
        #expect(monitor.wait { $0 >= 4_000_000 ? $0 : nil } == 4_040_000)
    }
}
