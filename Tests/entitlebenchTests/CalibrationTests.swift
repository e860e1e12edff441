import EventLoop
import LoadGenerator
import Testing

@testable import entitlebench

@Suite struct CalibrationTests {
    @Test func `the generator understands its echo, and says what it could do`() async throws {
        var plan = LoadPlan(address: .unix(path: "nowhere"))
        plan.connectionCount = 2
        plan.depth = 4
        plan.pace = .open(requestsPerSecond: 1, arrivals: .constant)
        let calibration = try await Calibration.measure(plan, processors: [], seconds: 0.1)
        #expect(calibration.answersPerSecond > 1)
        #expect(calibration.latencies.count > 0)
        #expect(calibration.capacityPerSecond >= calibration.answersPerSecond * 0.9)
    }

    @Test func `capacity is what a whole processor would do`() {
        let calibration = Calibration(
            answersPerSecond: 1_000, busyShare: 0.25, latencies: Histogram())
        #expect(calibration.capacityPerSecond == 4_000)
        #expect(
            Calibration(answersPerSecond: 7, busyShare: 0, latencies: Histogram())
                .capacityPerSecond == 7)
    }
}
