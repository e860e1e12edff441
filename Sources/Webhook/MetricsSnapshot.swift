package import Entitlements
package import Service
internal import Storage

/// What the server has counted and measured, as `/metrics` tells it; the program fills it.
///
/// Families with fixed label values are written whole: what is not in a dictionary is 0. No
/// customer, transaction or product stands in a label.
package struct MetricsSnapshot: Sendable {
    /// What `entitled_build_info` says.
    package var build = Build()
    /// The configured worlds; series by app and environment exist for each from the start.
    package var scopes: [Scope] = []
    /// Calls of the protocol.
    package var rpc = RPC()
    /// Checks, and the table that answers them.
    package var checks = Checks()
    /// Notifications of Apple's, and what signatures cost.
    package var ingest = Ingest()
    /// Revocations and families.
    package var families = Families()
    /// Rebuilds, and the calls to Apple behind them.
    package var apple = Apple()
    /// What is stored.
    package var store = Store()
    /// The HTTP listener.
    package var http = HTTP()
    /// The configuration.
    package var reloads = Reloads()
    /// The operating system's view of the process; nil where it cannot be read.
    package var process: Process?

    /// Nothing counted yet.
    package init() {}
}

extension MetricsSnapshot {
    /// Which release it is.
    package struct Build: Hashable, Sendable {
        package var version = ""
        package var commit = ""
        package var swift = ""
        package var rocksdb = ""

        /// Nothing known.
        package init() {}
    }

    /// Calls of the protocol. Methods are `checkAccess`'s names on the wire: "CheckAccess".
    package struct RPC: Sendable {
        /// A method and gRPC's name of a code: "OK".
        package struct Outcome: Hashable, Sendable {
            package var method: String
            package var code: String

            /// An outcome.
            package init(method: String, code: String) {
                self.method = method
                self.code = code
            }
        }

        /// Methods whose series exist from the start.
        package var methods: [String] = []
        package var requests: [Outcome: UInt64] = [:]
        /// Seconds by method.
        package var durations: [String: HistogramCounts] = [:]
        /// Calls under way by listener: "rpc".
        package var inFlight: [String: UInt64] = [:]
        /// Open connections by listener: "rpc", "http".
        package var connections: [String: UInt64] = [:]
        package var receivedByteCount: UInt64 = 0
        package var sentByteCount: UInt64 = 0
        /// Refused before they were begun, by `MetricsLabels.rejections`.
        package var rejections: [String: UInt64] = [:]
        /// Connections closed by a limit, by `MetricsLabels.closures`.
        package var closures: [String: UInt64] = [:]
        /// TLS handshakes by `MetricsLabels.handshakes`.
        package var handshakes: [String: UInt64] = [:]
        /// When the listeners' certificate ends, in seconds since 1970; nil: they speak plain text.
        package var certificateEnd: Double?
        /// When the holder of each key that is not revoked was last seen, by the key's id, in ms
        /// since 1970; 0: not since the start.
        package var keyUses: [String: Int64] = [:]
        /// Connections that were ended for failing too often to say who calls.
        package var shutOutCount: UInt64 = 0
        /// Entries of the audit that are missing: "lost", "suppressed".
        package var missingAudits: [String: UInt64] = [:]

        /// Nothing yet.
        package init() {}
    }

    /// Checks, and the table that answers them.
    package struct Checks: Sendable {
        package var allowed: [Scope: UInt64] = [:]
        package var denied: [Scope: UInt64] = [:]
        package var deniedReasons: [AccessReason: UInt64] = [:]
        package var tableHits: UInt64 = 0
        package var tableMisses: UInt64 = 0
        package var tableEvictions: UInt64 = 0
        package var tableByteCount: UInt64 = 0
        /// Granted and answered, and missing in the use that the bill shows.
        package var unmeteredCount: UInt64 = 0

        /// Nothing yet.
        package init() {}
    }

    /// Notifications, and what their signatures cost.
    package struct Ingest: Sendable {
        /// What came of a notification.
        package enum Outcome: String, Hashable, CaseIterable, Sendable {
            case applied
            case duplicate
            /// Nothing new in it, or nothing of a customer.
            case stale
            /// Never to be believed: 4xx.
            case rejected
            /// To come again: 5xx.
            case deferred
        }

        /// A series.
        package struct Key: Hashable, Sendable {
            /// nil: it was refused before anybody knew.
            package var scope: Scope?
            /// Apple's name; what is not on Apple's list counts as "other".
            package var type: String
            package var outcome: Outcome

            /// A series.
            package init(scope: Scope?, type: String, outcome: Outcome) {
                self.scope = scope
                self.type = type
                self.outcome = outcome
            }
        }

        package var notifications: [Key: UInt64] = [:]
        /// Seconds from the body to the answer, by bundle identifier.
        package var durations: [String: HistogramCounts] = [:]
        /// Seconds from Apple's signature to the arrival, by bundle identifier.
        package var ages: [String: HistogramCounts] = [:]
        /// By `MetricsLabels.verifications`.
        package var verifications: [String: UInt64] = [:]
        package var verificationDuration: HistogramCounts?

        /// Nothing yet.
        package init() {}
    }

    /// Revocations and families.
    package struct Families: Sendable {
        /// A series.
        package struct Key: Hashable, Sendable {
            package var bundleID: String
            /// One of `MetricsLabels.causes`.
            package var cause: String

            /// A series.
            package init(bundleID: String, cause: String) {
                self.bundleID = bundleID
                self.cause = cause
            }
        }

        package var revocations: [Key: UInt64] = [:]
        /// By bundle identifier.
        package var cuts: [String: UInt64] = [:]
        /// People cut at once, by bundle identifier.
        package var cutMembers: [String: HistogramCounts] = [:]
        /// Seconds from a refund's receipt to the last member denied.
        package var cutDuration: HistogramCounts?

        /// Nothing yet.
        package init() {}
    }

    /// Rebuilds, and the calls to Apple behind them.
    package struct Apple: Sendable {
        /// A series of rebuilds.
        package struct Rebuild: Hashable, Sendable {
            /// One of `MetricsLabels.triggers`.
            package var trigger: String
            /// One of `MetricsLabels.rebuildResults`.
            package var result: String

            /// A series.
            package init(trigger: String, result: String) {
                self.trigger = trigger
                self.result = result
            }
        }

        /// A series of requests.
        package struct Request: Hashable, Sendable {
            /// The name of an endpoint: "history".
            package var endpoint: String
            /// "2xx" to "5xx", "error" where no response came.
            package var status: String

            /// A series.
            package init(endpoint: String, status: String) {
                self.endpoint = endpoint
                self.status = status
            }
        }

        package var rebuilds: [Rebuild: UInt64] = [:]
        package var rebuildDuration: HistogramCounts?
        /// Customers whose history is to be fetched.
        package var rebuildQueueCount: UInt64 = 0
        /// Answers that rebuilds flipped, by `MetricsLabels.directions`.
        package var rebuildChanges: [String: UInt64] = [:]
        /// Endpoints whose series exist from the start.
        package var endpoints: [String] = []
        package var requests: [Request: UInt64] = [:]
        /// Seconds by endpoint.
        package var durations: [String: HistogramCounts] = [:]
        /// Seconds that calls waited for Apple's limits, by endpoint.
        package var throttledSeconds: [String: Double] = [:]
        /// Notifications that never came, and were recovered from Apple.
        package var recoveredNotificationCount: UInt64 = 0
        /// Items of Apple's answers that were not believed.
        package var problemCount: UInt64 = 0
        /// Worlds whose credentials Apple does not accept now; nil where Apple is not asked.
        package var unauthorizedScopes: Set<Scope>?
        /// Milliseconds since 1970 of the last fetch that succeeded; nil before the first.
        package var lastSuccessAt: Timestamp?

        /// Nothing yet.
        package init() {}
    }

    /// What is stored.
    package struct Store: Sendable {
        package var revision: UInt64 = 0
        package var customerCount: UInt64 = 0
        package var transactionCount: UInt64 = 0
        /// Bytes by kind: "tables", "log", "other".
        package var byteCounts: [String: UInt64] = [:]
        package var syncDuration: HistogramCounts?
        /// Milliseconds since 1970 at which the newest complete backup was begun; nil without one.
        package var lastBackupAt: Timestamp?
        /// What it took, in milliseconds.
        package var backupMilliseconds: UInt64 = 0

        /// Nothing yet.
        package init() {}
    }

    /// How often the configuration was read again.
    package struct Reloads: Hashable, Sendable {
        package var succeededCount: UInt64
        package var failedCount: UInt64
        /// Whether the last attempt succeeded; true before the first.
        package var hasLastSucceeded: Bool

        /// Never, unless said otherwise.
        package init(
            succeededCount: UInt64 = 0, failedCount: UInt64 = 0, hasLastSucceeded: Bool = true
        ) {
            self.succeededCount = succeededCount
            self.failedCount = failedCount
            self.hasLastSucceeded = hasLastSucceeded
        }
    }

    /// The operating system's view of the process.
    package struct Process: Hashable, Sendable {
        package var cpuSeconds: Double
        package var residentByteCount: UInt64
        package var virtualByteCount: UInt64
        package var openDescriptorCount: UInt64
        package var descriptorCountMax: UInt64
        /// Seconds since 1970.
        package var startTimeSeconds: Double

        /// A view.
        package init(
            cpuSeconds: Double, residentByteCount: UInt64, virtualByteCount: UInt64,
            openDescriptorCount: UInt64, descriptorCountMax: UInt64, startTimeSeconds: Double
        ) {
            self.cpuSeconds = cpuSeconds
            self.residentByteCount = residentByteCount
            self.virtualByteCount = virtualByteCount
            self.openDescriptorCount = openDescriptorCount
            self.descriptorCountMax = descriptorCountMax
            self.startTimeSeconds = startTimeSeconds
        }
    }
}
