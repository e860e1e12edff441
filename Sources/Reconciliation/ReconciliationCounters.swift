internal import EventLoop
package import Entitlements
package import Storage

/// What reconciliation has counted since the start.
package struct ReconciliationCounts: Sendable {
    /// What became of a fetch.
    package enum Outcome: String, Hashable, CaseIterable, Sendable {
        case succeeded
        case throttled
        case unauthorized
        /// Apple's servers failed, or do not know the customer.
        case incomplete
        /// Apple answered, and this server could not store it.
        case refused
    }

    /// Which way an entitlement changed.
    package enum Direction: String, Hashable, CaseIterable, Sendable {
        case granted
        case revoked
        /// The fetch changed nothing.
        case none
    }

    /// A reason to fetch and an outcome.
    package struct Rebuild: Hashable, Sendable {
        package var trigger: RefreshTrigger
        package var outcome: Outcome

        package init(trigger: RefreshTrigger, outcome: Outcome) {
            self.trigger = trigger
            self.outcome = outcome
        }
    }

    /// Upper bounds of `durationCounts`, in milliseconds; one more bucket is unbounded.
    package static let durationBounds: [Int64] = [
        50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
    ]

    /// Fetches by what asked for them and what became of them; dry runs too.
    package var rebuilds: [Rebuild: UInt64] = [:]
    /// Fetches that succeeded, by duration; not cumulative.
    package var durationCounts = [UInt64](repeating: 0, count: durationBounds.count + 1)
    /// Their durations together, in milliseconds.
    package var durationSum: UInt64 = 0
    /// Entitlements that fetches changed; a fetch that changed none counts once under `none`.
    package var changes: [Direction: UInt64] = [:]
    /// Missed notifications that were recovered.
    package var recoveredNotifications: UInt64 = 0
    /// Items of Apple's that were not believed.
    package var problems: UInt64 = 0
    /// When a fetch last succeeded; nil before the first.
    package var lastSuccessAt: Timestamp?
    /// Worlds whose credentials Apple does not accept now.
    package var unauthorizedScopes: Set<Scope> = []

    /// Nothing yet.
    package init() {}
}

/// The counters behind `ReconciliationCounts`; any thread.
final class ReconciliationCounters: Sendable {
    private let counts = Locked(ReconciliationCounts())

    var value: ReconciliationCounts { counts.withLock { $0 } }

    /// A fetch has ended.
    func count(_ outcome: ReconciliationCounts.Outcome, _ trigger: RefreshTrigger) {
        counts.withLock {
            $0.rebuilds[.init(trigger: trigger, outcome: outcome), default: 0] += 1
        }
    }

    /// A fetch succeeded and is applied.
    func applied(
        grantedCount: Int, revokedCount: Int, milliseconds: Int64, at now: Timestamp
    ) {
        counts.withLock { counts in
            let bucket =
                ReconciliationCounts.durationBounds.firstIndex { milliseconds <= $0 }
                ?? ReconciliationCounts.durationBounds.count
            counts.durationCounts[bucket] += 1
            counts.durationSum += UInt64(max(0, milliseconds))
            counts.changes[.granted, default: 0] += UInt64(grantedCount)
            counts.changes[.revoked, default: 0] += UInt64(revokedCount)
            if grantedCount + revokedCount == 0 { counts.changes[.none, default: 0] += 1 }
            counts.lastSuccessAt = now
        }
    }

    func countRecovered(_ count: Int) {
        counts.withLock { $0.recoveredNotifications += UInt64(count) }
    }

    func countProblems(_ count: Int) {
        counts.withLock { $0.problems += UInt64(count) }
    }
}
