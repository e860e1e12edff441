import Entitlements
@testable import AppStoreServerAPI
import Service
import Testing
import Webhook

@testable import entitled

@Suite struct AppleMetricsTests {
    private func record(
        _ status: RequestRecord.StatusClass, endpoint: AppStoreEndpoint = .transactionHistory
    ) -> RequestRecord {
        RequestRecord(
            endpoint: endpoint, environment: .production, statusClass: status,
            durationMilliseconds: 250, throttledMilliseconds: 1_500)
    }

    @Test func `requests are counted by endpoint and class, every endpoint from the start`() {
        let metrics = AppleMetrics()
        for status in RequestRecord.StatusClass.allCases { metrics.count(record(status)) }
        var snapshot = MetricsSnapshot.Apple()
        metrics.fill(&snapshot)
        let endpoint = AppStoreEndpoint.transactionHistory.rawValue
        #expect(snapshot.endpoints == AppStoreEndpoint.allCases.map(\.rawValue))
        #expect(snapshot.requests[.init(endpoint: endpoint, status: "2xx")] == 1)
        #expect(snapshot.requests[.init(endpoint: endpoint, status: "4xx")] == 3)
        #expect(snapshot.requests[.init(endpoint: endpoint, status: "error")] == 1)
        #expect(snapshot.durations[endpoint]?.count == 7)
        #expect(snapshot.durations[endpoint]?.sum == 1.75)
        #expect(snapshot.throttledSeconds[endpoint] == 10.5)
        #expect(snapshot.throttledSeconds[AppStoreEndpoint.refundHistory.rawValue] == 0)
    }

    @Test func `every class of an answer has its label`() {
        let metrics = AppleMetrics()
        for status in RequestRecord.StatusClass.allCases { metrics.count(record(status)) }
        var snapshot = MetricsSnapshot.Apple()
        metrics.fill(&snapshot)
        #expect(
            snapshot.requests.keys.allSatisfy { MetricsLabels.statusClasses.contains($0.status) })
        #expect(snapshot.requests.values.reduce(0, +) == 7)
    }
}
