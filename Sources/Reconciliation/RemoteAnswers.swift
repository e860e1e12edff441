internal import AppStore
internal import AppStoreServerAPI
internal import Entitlements
internal import EventLoop
internal import Service
internal import Storage

/// Carries out the calls of clients that need Apple. Blocking; any number of threads.
///
/// A rebuild does not wait for a fetch of the same customer that is under way: it runs beside it,
/// and whichever commits last finds that all is known.
struct RemoteAnswers: Sendable {
    let desk: ReconciliationDesk
    /// Called when something was queued.
    let onQueued: @Sendable () -> Void

    /// See `RemoteHandler`.
    func answer(
        _ call: RemoteCall, _ context: RemoteContext
    ) throws(Refusal) -> RemoteReply {
        if desk.isStopping { throw .givingUp }
        let deadline = deadline(of: context)
        switch call {
        case .rebuild(let request):
            return .rebuild(try rebuild(request, context.door, deadline))
        case .backfill(let request):
            return .backfill(try backfill(request, context.door, deadline))
        case .testNotification(let request):
            return .testNotification(try test(request, deadline))
        }
    }

    /// Until when Apple may be waited for: there must be time to commit and to answer.
    private func deadline(of context: RemoteContext) -> Timestamp {
        let timeout = min(context.timeoutMilliseconds, desk.configuration.callTimeoutMax)
        return desk.now.adding(milliseconds: max(1, timeout - min(500, timeout / 10)))
    }

    /// Runs a question to Apple in a context of `Refusal`.
    private func asking<Value>(
        _ scope: Scope, _ lane: Outages.Lane,
        _ body: () throws(AppStoreServerError) -> Value
    ) throws(Refusal) -> Value {
        do throws(AppStoreServerError) {
            let value = try body()
            desk.answered(scope, lane)
            return value
        } catch {
            // A client's patience says nothing about Apple's servers: the background goes on. A no
            // of Apple's says that they answer.
            if error.isFinal { desk.answered(scope, lane) }
            throw desk.isStopping ? .givingUp : Refusal(error, at: desk.now)
        }
    }
}

// MARK: - Rebuild

extension RemoteAnswers {
    /// Fetches, applies and shows the difference.
    ///
    /// Where Apple does not answer in time, what was read is kept and the customer is queued: the
    /// admin who gave up has not asked in vain. A dry run keeps and queues nothing.
    private func rebuild(
        _ request: RebuildRequest, _ door: CommitDoor, _ deadline: Timestamp
    ) throws(Refusal) -> RebuildReply {
        let plan = try desk.ledger.planForRequest(request)
        let start = MonotonicClock.nowMilliseconds
        let history: AppleHistory
        do throws(HistoryFailure) {
            history = try desk.history(plan, deadline: deadline)
        } catch {
            throw failed(error, plan, request, door)
        }
        desk.answered(plan.scope, .customers)
        let event = desk.ledger.applying(history, plan, request.isDryRun)
        guard case .rebuild(let reply) = try door.commit(event) else {
            preconditionFailure("a history is answered as a rebuild")
        }
        if !request.isDryRun { desk.applied(reply, .admin, plan.scope, since: start) }
        return reply
    }

    private func failed(
        _ failure: HistoryFailure, _ plan: RefreshPlan, _ request: RebuildRequest,
        _ door: CommitDoor
    ) -> Refusal {
        let refusal = desk.isStopping ? .givingUp : Refusal(failure.error, at: desk.now)
        if failure.error.isFinal { desk.answered(plan.scope, .customers) }
        guard !request.isDryRun else { return refusal }
        desk.counters.count(.init(refusal), .admin)
        desk.report(failure.partial, plan.scope)
        var events: [Event] = []
        if failure.partial.hasFacts { events.append(desk.ledger.keeping(failure.partial, plan)) }
        // What Apple will never answer is not asked again by itself.
        if !failure.error.isFinal { events.append(desk.ledger.queueing([plan.key], .admin)) }
        do throws(Refusal) {
            for event in events { _ = try door.commit(event) }
        } catch {
            if !desk.isStopping { desk.tell(.storeFailed(error)) }
        }
        onQueued()
        return refusal
    }
}

// MARK: - Notifications

extension RemoteAnswers {
    private func backfill(
        _ request: BackfillRequest, _ door: CommitDoor, _ deadline: Timestamp
    ) throws(Refusal) -> BackfillReply {
        guard request.from < request.to else {
            throw Refusal(.invalidField, "from must be before to")
        }
        let scope = desk.scope(request.scope)
        let query = NotificationQuery(
            scope: scope, dates: request.from..<request.to,
            isOnlyFailures: request.isOnlyFailures, pageToken: request.pageToken)
        let page = try asking(scope, .notifications) { () throws(AppStoreServerError) in
            try desk.apple.notifications(query, deadline)
        }
        let outcome = try NotificationReader(desk: desk, door: door)
            .take(page, isDryRun: request.isDryRun)
        for problem in outcome.problems { desk.report(problem, scope) }
        return BackfillReply(
            notificationCount: outcome.notificationCount, recovered: outcome.recovered,
            changes: outcome.changes, problems: outcome.problems,
            nextPageToken: page.nextPageToken, revision: outcome.revision)
    }

    private func test(
        _ request: TestNotificationRequest, _ deadline: Timestamp
    ) throws(Refusal) -> TestNotificationReply {
        let scope = desk.scope(request.scope)
        // The limit of these two is one a second: nothing about the world follows from it.
        guard !request.token.isEmpty else {
            let token = try asking(scope, .notifications) { () throws(AppStoreServerError) in
                try desk.apple.requestTest(scope, deadline)
            }
            return TestNotificationReply(token: token, attempts: [], isReceived: false)
        }
        let status = try asking(scope, .notifications) { () throws(AppStoreServerError) in
            try desk.apple.testStatus(request.token, scope, deadline)
        }
        return TestNotificationReply(
            token: request.token,
            attempts: status.attempts.map { .init(at: $0.at, result: $0.result) },
            isReceived: try isStored(status.signedPayload))
    }

    private func isStored(_ payload: [UInt8]) throws(Refusal) -> Bool {
        guard !payload.isEmpty else { return false }
        return try desk.ledger.isStored(try desk.ledger.prepare(payload))
    }
}
