import Entitlements
import HTTP
import Service
import Webhook

/// A snapshot with something in every family.
func busySnapshot() -> MetricsSnapshot {
    let production = Scope(bundleID: "com.example.meadow", environment: .production)
    let sandbox = Scope(bundleID: "com.example.meadow", environment: .sandbox)
    var counts = HistogramCounts(bounds: HistogramCounts.callBounds)
    counts.counts[3] = 4
    counts.sum = 0.1
    var snapshot = MetricsSnapshot()
    snapshot.build.version = "1.0\"\\"
    snapshot.scopes = [production, sandbox]
    snapshot.rpc.methods = ["CheckAccess", "GetCustomer"]
    snapshot.rpc.requests = [.init(method: "CheckAccess", code: "OK"): 7]
    snapshot.rpc.durations = ["CheckAccess": counts]
    snapshot.rpc.inFlight = ["rpc": 2]
    snapshot.rpc.connections = ["rpc": 3, "http": 1]
    snapshot.rpc.rejections = ["overload": 6]
    snapshot.rpc.certificateEnd = 1_796_126_400
    snapshot.rpc.keyUses = ["k7wq2mzpaf": 1_796_126_400_000]
    snapshot.ingest.verifications = ["ok": 11, "bad_chain": 2]
    snapshot.checks.allowed = [production: 5]
    snapshot.checks.denied = [production: 2]
    snapshot.checks.deniedReasons = [.familyRefunded: 2]
    snapshot.ingest.notifications = [
        .init(scope: production, type: "REFUND", outcome: .applied): 3,
        .init(scope: production, type: "A_TYPE_OF_TOMORROW", outcome: .applied): 1,
        .init(scope: production, type: "ANOTHER\"", outcome: .applied): 1,
        .init(scope: nil, type: "other", outcome: .rejected): 5,
        .init(scope: nil, type: "REFUND", outcome: .rejected): 4,
    ]
    snapshot.ingest.durations = ["com.example.meadow": counts]
    snapshot.families.revocations = [
        .init(bundleID: "com.example.meadow", cause: "refund"): 1
    ]
    snapshot.apple.endpoints = ["history"]
    snapshot.apple.requests = [.init(endpoint: "history", status: "2xx"): 4]
    snapshot.apple.rebuilds = [.init(trigger: "revoke", result: "changed"): 1]
    snapshot.apple.recoveredNotificationCount = 6
    snapshot.apple.problemCount = 8
    snapshot.apple.unauthorizedScopes = [sandbox]
    snapshot.apple.lastSuccessAt = Timestamp(milliseconds: 1_767_225_600_250)
    snapshot.reloads.succeededCount = 3
    snapshot.reloads.failedCount = 1
    snapshot.reloads.hasLastSucceeded = false
    snapshot.apple.rebuildChanges = ["revoked": 8]
    snapshot.checks.unmeteredCount = 7
    snapshot.store.revision = 42
    snapshot.store.byteCounts = ["tables": 1 << 40]
    snapshot.http.listener.acceptedConnections = 12
    snapshot.process = .init(
        cpuSeconds: 1.5, residentByteCount: 1 << 20, virtualByteCount: 1 << 30,
        openDescriptorCount: 12, descriptorCountMax: 1_024, startTimeSeconds: 1_767_225_600.25)
    return snapshot
}
