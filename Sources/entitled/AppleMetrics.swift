internal import AppStoreServerAPI
internal import EventLoop
internal import Service
internal import Webhook

/// What requests to Apple took, for metrics. Any thread.
final class AppleMetrics: Sendable {
    private struct Counts {
        var requests: [MetricsSnapshot.Apple.Request: UInt64] = [:]
        var throttledMilliseconds: [AppStoreEndpoint: Int64] = [:]
    }

    private let counts = Locked(Counts())
    private let durations: [AppStoreEndpoint: Histogram] = Dictionary(
        uniqueKeysWithValues: AppStoreEndpoint.allCases.map {
            ($0, Histogram(bounds: HistogramCounts.callBounds))
        })

    /// Counts one request.
    func count(_ record: RequestRecord) {
        durations[record.endpoint]?.observe(Double(record.durationMilliseconds) / 1_000)
        let request = MetricsSnapshot.Apple.Request(
            endpoint: record.endpoint.rawValue, status: Self.statusClass(record.statusClass))
        counts.withLock {
            $0.requests[request, default: 0] += 1
            $0.throttledMilliseconds[record.endpoint, default: 0] += max(
                0, record.throttledMilliseconds)
        }
    }

    /// Puts what was counted into `snapshot`.
    func fill(_ snapshot: inout MetricsSnapshot.Apple) {
        let counts = counts.withLock { $0 }
        snapshot.endpoints = AppStoreEndpoint.allCases.map(\.rawValue)
        snapshot.requests = counts.requests
        for endpoint in AppStoreEndpoint.allCases {
            snapshot.durations[endpoint.rawValue] = durations[endpoint]?.counts
            snapshot.throttledSeconds[endpoint.rawValue] =
                Double(counts.throttledMilliseconds[endpoint] ?? 0) / 1_000
        }
    }

    private static func statusClass(_ status: RequestRecord.StatusClass) -> String {
        switch status {
        case .success: "2xx"
        case .redirection: "3xx"
        case .refused, .unauthorized, .throttled: "4xx"
        case .failed: "5xx"
        case .unreachable: "error"
        }
    }
}
