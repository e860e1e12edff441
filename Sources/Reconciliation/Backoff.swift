/// How long to wait after failures.
enum Backoff {
    /// Doubles with each failure and is spread over its upper half, so that neither servers nor
    /// jobs of one server ask in step.
    ///
    /// - Parameters:
    ///   - failureCount: How many failures came in a row; at least 1.
    ///   - first: The most after the first failure, in milliseconds.
    ///   - longest: The most after any number of them.
    ///   - fraction: A number of 0 ..< 1.
    /// - Returns: Milliseconds, at least half of `first`.
    static func delay(
        afterFailures failureCount: Int, first: Int64, longest: Int64, fraction: Double
    ) -> Int64 {
        let doublings = min(max(1, failureCount) - 1, 40)
        let (product, overflow) = first.multipliedReportingOverflow(by: 1 << Int64(doublings))
        let most = overflow ? longest : min(product, longest)
        return most / 2 + Int64(Double(most / 2) * fraction)
    }

    /// For one customer: Apple's servers answer, but not about him.
    static func job(afterFailures failureCount: Int, fraction: Double) -> Int64 {
        delay(
            afterFailures: failureCount, first: 2_000, longest: 15 * 60_000, fraction: fraction)
    }

    /// For a customer whom Apple does not know, or refuses to speak of: this may never change.
    static func hopelessJob(afterFailures failureCount: Int, fraction: Double) -> Int64 {
        delay(
            afterFailures: failureCount, first: 15 * 60_000, longest: 86_400_000,
            fraction: fraction)
    }

    /// For a world whose servers fail: one or two questions a minute after a while.
    static func outage(afterFailures failureCount: Int, fraction: Double) -> Int64 {
        delay(afterFailures: failureCount, first: 2_000, longest: 120_000, fraction: fraction)
    }

    /// For credentials that are not accepted: somebody has to act.
    static func unauthorized(afterFailures failureCount: Int, fraction: Double) -> Int64 {
        delay(
            afterFailures: failureCount, first: 120_000, longest: 15 * 60_000, fraction: fraction)
    }
}
