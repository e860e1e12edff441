import Testing

@testable import Reconciliation

@Suite struct BackoffTests {
    @Test(arguments: [
        (1, 0.0, 1_000), (1, 0.999_999, 1_999), (2, 0.0, 2_000), (3, 0.5, 6_000),
        (10, 0.0, 450_000), (1_000_000, 0.999_999, 899_999),
    ])
    func `a job waits twice as long after each failure, up to a quarter of an hour`(
        failureCount: Int, fraction: Double, milliseconds: Int64
    ) {
        #expect(Backoff.job(afterFailures: failureCount, fraction: fraction) == milliseconds)
    }

    @Test(arguments: [Int.min, -1, 0, 1])
    func `the first failure is the shortest wait, whatever was counted`(failureCount: Int) {
        #expect(Backoff.job(afterFailures: failureCount, fraction: 0) == 1_000)
    }

    @Test func `every kind has its bounds`() {
        for count in 1...100 {
            #expect((1_000...120_000).contains(Backoff.outage(afterFailures: count, fraction: 0.9)))
            #expect(
                (60_000...900_000).contains(
                    Backoff.unauthorized(afterFailures: count, fraction: 0.9)))
            #expect(
                (450_000...86_400_000).contains(
                    Backoff.hopelessJob(afterFailures: count, fraction: 0.9)))
        }
    }

    @Test func `a product beyond all numbers is the longest wait`() {
        let delay = Backoff.delay(
            afterFailures: 64, first: .max / 2, longest: 10_000, fraction: 0)
        #expect(delay == 5_000)
    }
}
