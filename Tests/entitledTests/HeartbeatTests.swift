import Testing

@testable import entitled

@Suite struct HeartbeatTests {
    @Test(
        arguments: [
            (["WATCHDOG_USEC": "10000000"], 10_000),
            (["WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "7"], 10_000),
            (["WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "8"], nil),
            (["WATCHDOG_USEC": "1"], 1), (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "x"], nil), ([:], nil),
        ] as [([String: String], UInt64?)])
    func `a service manager that watches this process is heard`(
        environment: [String: String], milliseconds: UInt64?
    ) {
        #expect(
            Heartbeat.watchdogMilliseconds(environment, processID: 7) == milliseconds)
    }

    @Test(
        arguments: [(nil, 1_000), (10_000, 1_000), (2_000, 1_000), (1_999, 999), (1, 1)]
            as [(UInt64?, UInt64)])
    func `it beats twice in the time that is waited for it`(watchdog: UInt64?, interval: UInt64) {
        #expect(Heartbeat.interval(watchdog) == interval)
    }
}
