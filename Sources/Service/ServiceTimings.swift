/// How long the two things take that an ingest waits for. Any thread.
package final class ServiceTimings: Sendable {
    /// Checking all signatures of one notification, in seconds; those that verified.
    package let verifications = Histogram(bounds: HistogramCounts.answerBounds)
    /// Durable writes of groups of events, in seconds.
    package let commits = Histogram(bounds: HistogramCounts.callBounds)

    init() {}
}

extension Histogram {
    /// Counts the time since `start`.
    func observe(since start: ContinuousClock.Instant) {
        let (seconds, attoseconds) = start.duration(to: .now).components
        observe(Double(seconds) + Double(attoseconds) * 1e-18)
    }
}
