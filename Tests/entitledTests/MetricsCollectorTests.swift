import Entitlements
import HTTP
import Service
@testable import Session
import Testing
import Transport
import Webhook

@testable import entitled

@Suite struct MetricsCollectorTests {
    @Test func `what was ingested is told by world, type and outcome`() throws {
        try withTemporaryDirectory { directory in
            let fixture = try ServingFixture(directory: directory)
            defer { fixture.end() }
            for (type, uuid) in [("ONE_TIME_CHARGE", "a"), ("ONE_TIME_CHARGE", "a"), ("NEW", "b")] {
                let event = try fixture.parts.service.prepare(
                    .notification(payload: try fixture.body(type, "7", uuid: uuid)))
                _ = try fixture.parts.server.door.commit(event)
            }
            #expect(throws: Refusal.self) {
                try fixture.parts.service.prepare(.notification(payload: []))
            }
            let snapshot = MetricsCollector(fixture.parts).snapshot(http: HTTPListenerCounts())
            let scope = try #require(snapshot.scopes.first)
            let counts = snapshot.ingest.notifications
            #expect(counts[.init(scope: scope, type: "ONE_TIME_CHARGE", outcome: .applied)] == 1)
            #expect(counts[.init(scope: scope, type: "ONE_TIME_CHARGE", outcome: .duplicate)] == 1)
            #expect(counts[.init(scope: scope, type: "other", outcome: .applied)] == 1)
            #expect(counts[.init(scope: nil, type: "other", outcome: .rejected)] == 1)
            #expect(snapshot.ingest.durations[scope.bundleID]?.count == 3)
            #expect(snapshot.ingest.ages[scope.bundleID]?.count == 3)
            #expect(snapshot.ingest.verifications["ok"] == 3)
            #expect(snapshot.store.revision == 2 && snapshot.store.transactionCount == 1)
            #expect((snapshot.store.syncDuration?.count ?? 0) >= 1)
            #expect((snapshot.store.byteCounts["log"] ?? 0) > 0)
        }
    }

    @Test func `a server that has done nothing has all of its methods`() throws {
        try withTemporaryDirectory { directory in
            let fixture = try ServingFixture(directory: directory)
            defer { fixture.end() }
            var http = HTTPListenerCounts()
            http.connections = 3
            let snapshot = MetricsCollector(fixture.parts).snapshot(http: http)
            #expect(snapshot.rpc.methods == CallMethod.allCases.map(\.name))
            #expect(snapshot.rpc.requests.isEmpty)
            #expect(snapshot.rpc.connections == ["rpc": 0, "http": 3])
            #expect(snapshot.build.version == Version.number)
            #expect((snapshot.process?.residentByteCount ?? 0) > 0)
            #expect((snapshot.process?.descriptorCountMax ?? 0) > 0)
            #expect(snapshot.reloads == .init())
            fixture.parts.state.reloaded(successfully: false)
            #expect(
                MetricsCollector(fixture.parts).snapshot(http: http).reloads
                    == .init(succeededCount: 0, failedCount: 1, hasLastSucceeded: false))
            #expect(snapshot.apple.requests.isEmpty && snapshot.apple.endpoints.isEmpty)
            #expect(snapshot.apple.unauthorizedScopes == nil, "nobody asks Apple")
            #expect(snapshot.families.cutDuration?.count == 0)
        }
    }

    @Test func `durations become seconds`() {
        var durations = CallCounts.Durations()
        durations.bucketCounts[3] = 2
        durations.sum = 150
        let counts = HistogramCounts(durations)
        #expect(counts.bounds == HistogramCounts.answerBounds)
        #expect(counts.counts[3] == 2)
        #expect(abs(counts.sum - 0.00015) < 1e-12)
    }
}
