import Session
import Testing

@Suite struct LimitsTests {
    @Test func `the defaults agree with each other`() {
        Limits().precheck()
    }

    @Test(
        arguments: [(0, 6000), (1, 1001), (59_999, 60_999), (60_000, 61_000), (60_001, 61_000)]
            as [(UInt32, Int64)])
    func `a timeout becomes a deadline`(timeoutMilliseconds: UInt32, deadline: Int64) {
        let limits = Limits()
        #expect(limits.deadline(timeoutMilliseconds: timeoutMilliseconds, at: 1000) == deadline)
    }

    @Test func `limits that contradict each other trap at the start`() async {
        await #expect(processExitsWith: .failure) {
            var limits = Limits()
            limits.outputLowWaterByteCount = limits.outputHighWaterByteCount + 1
            limits.precheck()
        }
        await #expect(processExitsWith: .failure) {
            var limits = Limits()
            limits.timeoutMillisecondsDefault = limits.timeoutMillisecondsMax + 1
            limits.precheck()
        }
        await #expect(processExitsWith: .failure) {
            var limits = Limits()
            limits.frameByteCountMax = 0
            limits.precheck()
        }
    }
}
