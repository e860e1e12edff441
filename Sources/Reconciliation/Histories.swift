internal import AppStore
internal import AppStoreServerAPI
internal import Entitlements
internal import EventLoop
internal import Service
internal import Storage

extension ReconciliationDesk {
    /// The whole history of a customer. One without anything that Apple could be asked about has
    /// an empty one.
    func history(
        _ plan: RefreshPlan, deadline: Timestamp
    ) throws(HistoryFailure) -> AppleHistory {
        guard !plan.targets.isEmpty else { return AppleHistory(scope: plan.scope) }
        return try apple.history(plan, deadline)
    }

    /// Counts and tells of a history that was applied.
    func applied(
        _ reply: RebuildReply, _ trigger: RefreshTrigger, _ scope: Scope, since start: UInt64
    ) {
        let grantedCount = reply.changes.count { $0.isGranted && !$0.wasGranted }
        let revokedCount = reply.changes.count { $0.wasGranted && !$0.isGranted }
        let duration = Int64(clamping: MonotonicClock.nowMilliseconds &- start)
        counters.count(.succeeded, trigger)
        counters.applied(
            grantedCount: grantedCount, revokedCount: revokedCount, milliseconds: duration, at: now)
        for problem in reply.problems { report(problem, scope) }
    }

    /// Counts and tells of items that were not believed.
    func report(_ history: AppleHistory, _ scope: Scope) {
        for problem in history.problems { report(Refusal(problem), scope) }
    }

    /// Counts and tells of an item that was not believed.
    func report(_ problem: Refusal, _ scope: Scope) {
        counters.countProblems(1)
        tell(.damagedItem(scope, problem))
    }
}

extension AppleHistory {
    /// Whether anything in it is worth a commit.
    var hasFacts: Bool { !transactions.isEmpty || !renewals.isEmpty || !statuses.isEmpty }
}

extension AppStoreServerError {
    /// Whether Apple has answered, and the answer is no.
    var isFinal: Bool {
        switch self {
        case .notFound, .rejected: true
        case .throttled, .unauthorized, .unavailable, .malformed: false
        }
    }
}

extension ReconciliationCounts.Outcome {
    /// What a refusal by Apple counts as.
    init(_ refusal: Refusal) {
        switch refusal.reason {
        case .appStoreThrottled: self = .throttled
        case .appStoreUnauthorized: self = .unauthorized
        default: self = .incomplete
        }
    }
}
