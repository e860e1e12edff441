internal import AppStore
internal import AppStoreServerAPI
internal import Entitlements
internal import EventLoop
internal import Service
internal import Storage

/// Fetches one queued customer after the other. Any number of threads, no two for one customer.
struct CustomerFetcher: Sendable {
    let desk: ReconciliationDesk
    let door: CommitDoor

    /// Fetches a customer and applies what Apple says; where that fails, says when to try again.
    ///
    /// The job leaves the queue in the commit that applies the history, and in no other: whatever
    /// breaks off before, a crash too, leaves it there.
    ///
    /// - Returns: false when the store did not take what was to be noted: the caller waits then,
    ///   else Apple would be asked the same again at once.
    func fetch(_ queued: QueuedRefresh) -> Bool {
        do throws(Refusal) {
            guard let plan = try desk.ledger.planForKey(queued.key) else {
                throw Refusal(.unknownCustomer, "the customer has gone")
            }
            return try fetch(queued, by: plan)
        } catch {
            if desk.isStopping { return true }
            if error.reason == .unknownCustomer {
                // By this he leaves the queue; one who was merged into another waits for nothing.
                return note(error, of: queued, after: 1_000)
            }
            desk.counters.count(.refused, queued.job.trigger)
            desk.tell(.storeFailed(error))
            guard !error.isPassing else { return false }
            // One damaged customer must not hold up the others.
            return note(
                error, of: queued,
                after: Backoff.hopelessJob(
                    afterFailures: failureCount(queued), fraction: fraction))
        }
    }

    private func fetch(_ queued: QueuedRefresh, by plan: RefreshPlan) throws(Refusal) -> Bool {
        let start = MonotonicClock.nowMilliseconds
        let history: AppleHistory
        do throws(HistoryFailure) {
            history = try desk.history(
                plan, deadline: desk.now.adding(milliseconds: desk.configuration.fetchTimeout))
        } catch {
            return failed(queued, plan, error)
        }
        desk.answered(plan.scope, .customers)
        try commit(history, plan, queued, since: start)
        return true
    }

    private func commit(
        _ history: AppleHistory, _ plan: RefreshPlan, _ queued: QueuedRefresh, since start: UInt64
    ) throws(Refusal) {
        guard
            case .rebuild(let reply) = try door.commit(desk.ledger.applying(history, plan, false))
        else { preconditionFailure("a history is answered as a rebuild") }
        desk.applied(reply, queued.job.trigger, plan.scope, since: start)
        if queued.job.trigger == .sweep, !reply.changes.isEmpty {
            desk.tell(.sweepFoundChange(plan.scope, changes: reply.changes))
        }
    }

    // MARK: Failures

    private var fraction: Double { desk.surroundings.fraction() }

    private func failureCount(_ queued: QueuedRefresh) -> Int {
        Int(clamping: queued.job.attempts).addingReportingOverflow(1).partialValue
    }

    private func failed(
        _ queued: QueuedRefresh, _ plan: RefreshPlan, _ failure: HistoryFailure
    ) -> Bool {
        let isKept = keep(failure.partial, plan)
        if desk.isStopping { return true }
        let now = desk.now
        let refusal = Refusal(failure.error, at: now)
        desk.counters.count(.init(refusal), queued.job.trigger)
        let delay: Int64
        switch desk.failed(failure.error, plan.scope, .customers) {
        case .questionOnly:
            desk.tell(.fetchFailed(plan.scope, customerID: queued.customerID, refusal))
            let count = failureCount(queued)
            delay =
                failure.error.isFinal
                ? Backoff.hopelessJob(afterFailures: count, fraction: fraction)
                : Backoff.job(afterFailures: count, fraction: fraction)
        case .paused(let until, _):
            let pause = max(0, until.milliseconds - now.milliseconds)
            delay =
                switch refusal.reason {
                // Apple's own instant is kept over a restart.
                case .appStoreThrottled: pause
                // It says nothing about him: he is next once the key is put right.
                case .appStoreUnauthorized: min(pause, 1_000)
                // The whole world waits, and he may be one of the first when it goes on.
                default: min(pause, 60_000)
                }
        }
        return note(refusal, of: queued, after: delay) && isKept
    }

    /// What was read and verified before the failure is not lost.
    ///
    /// - Returns: false when the store does not take anything now.
    private func keep(_ partial: AppleHistory, _ plan: RefreshPlan) -> Bool {
        desk.report(partial, plan.scope)
        guard partial.hasFacts else { return true }
        return refusal(of: desk.ledger.keeping(partial, plan))?.isPassing != true
    }

    private func note(_ refusal: Refusal, of queued: QueuedRefresh, after delay: Int64) -> Bool {
        let notBefore = desk.now.adding(milliseconds: delay)
        return self.refusal(of: desk.ledger.noting(refusal, queued.key, notBefore)) == nil
    }

    /// Commits, and says why not.
    private func refusal(of event: Event) -> Refusal? {
        do throws(Refusal) {
            _ = try door.commit(event)
            return nil
        } catch {
            if !desk.isStopping { desk.tell(.storeFailed(error)) }
            return error
        }
    }
}
