internal import Entitlements
internal import Synchronization

/// How many requests may go to Apple: a token bucket per app, endpoint and environment, below the
/// limits that Apple publishes, so that a backlog of ours does not use up what the app's other
/// servers need. Any thread.
///
/// See: https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
final class RateBudget: Sendable {
    /// What has a limit of its own.
    struct Key: Hashable {
        var bundleID: ExactName
        var environment: AppEnvironment
        var endpoint: AppStoreEndpoint

        init(_ question: AppStoreQuestion) {
            bundleID = ExactName(question.scope.bundleID)
            environment = question.scope.environment
            endpoint = question.endpoint
        }
    }

    /// One bucket. Tokens are requests; the clock is that of the wall, because Apple speaks in it.
    private struct Bucket {
        var tokens: Double
        var filledAt: Timestamp
        /// Apple's word: nothing before this.
        var pausedUntil = Timestamp.distantPast
        /// 429 answers in a row.
        var refusalCount = 0
    }

    private let historyRatePerSecond: Double
    private let buckets = Mutex<[Key: Bucket]>([:])

    /// A budget.
    ///
    /// - Parameter historyRatePerSecond: Of Get Transaction History in Production; the other
    ///   endpoints follow in proportion to what Apple publishes, and Sandbox gets a tenth.
    init(historyRatePerSecond: Double) {
        self.historyRatePerSecond = historyRatePerSecond
    }

    /// Requests per second.
    func rate(of key: Key) -> Double {
        let share =
            historyRatePerSecond / AppStoreEndpoint.transactionHistory.publishedRatePerSecond
        let rate = key.endpoint.publishedRatePerSecond * share
        return key.environment == .production ? rate : rate / 10
    }

    /// Takes one request out of the budget.
    ///
    /// - Returns: nil when it was taken; else when to try again.
    func take(_ key: Key, at now: Timestamp) -> Timestamp? {
        let rate = rate(of: key)
        // A quarter of a second may go at once: with the default rate of four fifths of Apple's,
        // no second sees more than Apple's limit.
        let capacity = max(1, rate / 4)
        return buckets.withLock { buckets in
            var bucket = buckets[key] ?? Bucket(tokens: capacity, filledAt: now)
            defer { buckets[key] = bucket }
            let elapsed = milliseconds(from: bucket.filledAt, to: now)
            if bucket.pausedUntil > now.adding(milliseconds: RetryAfter.farthestMilliseconds) {
                // Nobody said so: the clock was set back.
                bucket.pausedUntil = .distantPast
            }
            bucket.filledAt = now
            bucket.tokens = min(
                capacity, bucket.tokens + max(0, Double(elapsed)) * rate / 1_000)
            if bucket.pausedUntil > now { return bucket.pausedUntil }
            guard bucket.tokens >= 1 else {
                let wait = ((1 - bucket.tokens) * 1_000 / rate).rounded(.up)
                return now.adding(milliseconds: max(1, Int64(wait)))
            }
            bucket.tokens -= 1
            return nil
        }
    }

    /// Notes that Apple answered 429, and pauses the bucket.
    ///
    /// - Parameters:
    ///   - key: Whose bucket.
    ///   - stated: What Apple said, where it can be true.
    ///   - now: By our clock.
    ///   - fraction: 0 ..< 1, spreads the back-off.
    /// - Returns: When to ask again.
    func refused(
        _ key: Key, until stated: Timestamp?, at now: Timestamp, fraction: Double
    ) -> Timestamp {
        buckets.withLock { buckets in
            var bucket = buckets[key] ?? Bucket(tokens: 0, filledAt: now)
            // Never sooner than the least back-off: "in a millisecond" a hundred times over would
            // be a tight loop.
            let least = now.adding(milliseconds: Backoff.leastMilliseconds)
            let own = now.adding(
                milliseconds: Backoff.milliseconds(after: bucket.refusalCount, fraction: fraction))
            let instant = stated.map { max($0, least) } ?? own
            bucket.refusalCount = min(bucket.refusalCount + 1, 32)
            bucket.pausedUntil = max(bucket.pausedUntil, instant)
            buckets[key] = bucket
            return bucket.pausedUntil
        }
    }

    /// Notes an answer other than 429.
    func answered(_ key: Key) {
        buckets.withLock { $0[key]?.refusalCount = 0 }
    }
}

/// How long to wait before asking again, where Apple does not say.
enum Backoff {
    /// The shortest wait.
    static let leastMilliseconds: Int64 = 500
    /// The longest wait.
    static let mostMilliseconds: Int64 = 300_000

    /// Doubles with every failure, half of it left to chance.
    ///
    /// - Parameters:
    ///   - failureCount: Failures before this one.
    ///   - fraction: 0 ..< 1.
    /// - Returns: 500 ms to 5 min.
    static func milliseconds(after failureCount: Int, fraction: Double) -> Int64 {
        let most = min(2 * leastMilliseconds << Int64(min(failureCount, 16)), mostMilliseconds)
        return most / 2 + Int64(Double(most / 2) * min(max(fraction, 0), 1))
    }
}

/// The milliseconds from one instant to another; the ends of the range where that overflows.
func milliseconds(from start: Timestamp, to end: Timestamp) -> Int64 {
    let (difference, overflow) =
        end.milliseconds.subtractingReportingOverflow(start.milliseconds)
    guard overflow else { return difference }
    return end > start ? .max : .min
}
