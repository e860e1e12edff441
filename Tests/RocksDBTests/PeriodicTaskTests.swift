import RocksDB
import Synchronization
import Testing

@Suite struct PeriodicTaskTests {
    private final class Count: Sendable {
        private let value = Atomic<Int>(0)

        var current: Int { value.load(ordering: .acquiring) }

        func increase() { value.add(1, ordering: .acquiringAndReleasing) }
    }

    @Test func `it calls again and again, and never after it has gone`() async throws {
        let count = Count()
        do {
            let task = PeriodicTask(everyMilliseconds: 1) { count.increase() }
            for _ in 0..<10_000 where count.current < 3 {
                try await Task.sleep(for: .milliseconds(1))
            }
            withExtendedLifetime(task) {}
        }
        let last = count.current
        #expect(last >= 3)
        try await Task.sleep(for: .milliseconds(20))
        #expect(count.current == last)
    }

    @Test func `it goes at once, without waiting for its pause`() {
        let count = Count()
        let start = ContinuousClock.now
        do { _ = PeriodicTask(everyMilliseconds: 3_600_000) { count.increase() } }
        #expect(start.duration(to: .now) < .seconds(60))
        #expect(count.current == 0)
    }
}
