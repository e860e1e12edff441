internal import AppStore
internal import AppStoreServerAPI
internal import Entitlements
internal import Service
internal import Storage

/// The service, as reconciliation uses it. All of it blocks; any thread.
struct LedgerOperations: Sendable {
    /// Every configured world.
    var scopes: [(index: ScopeIndex, scope: Scope)]
    /// See `EntitlementService.refreshPlan`.
    var planForRequest: @Sendable (RebuildRequest) throws(Refusal) -> RefreshPlan
    /// nil: the customer has gone.
    var planForKey: @Sendable (CustomerKey) throws(Refusal) -> RefreshPlan?
    /// What is due in a world, the most urgent first, and when the next one comes.
    var due:
        @Sendable (ScopeIndex, Timestamp, _ countMax: Int) throws(Refusal) -> (
            due: [QueuedRefresh], nextAt: Timestamp?
        )
    var applying: @Sendable (AppleHistory, RefreshPlan, _ isDryRun: Bool) -> Event
    var keeping: @Sendable (AppleHistory, RefreshPlan) -> Event
    var noting: @Sendable (Refusal, CustomerKey, _ notBefore: Timestamp) -> Event
    var queueing: @Sendable ([CustomerKey], RefreshTrigger) -> Event
    var moving: @Sendable (ReconciliationMark, ScopeIndex, Timestamp) -> Event
    var mark: @Sendable (ReconciliationMark, ScopeIndex) throws(Refusal) -> Timestamp?
    var sweepPage:
        @Sendable (ScopeIndex, _ cursor: UInt64?, _ countMax: Int, _ fetchedBefore: Timestamp)
            throws(Refusal) -> SweepPage
    /// Verifies a notification.
    var prepare: @Sendable (_ payload: [UInt8]) throws(Refusal) -> Event
    var isStored: @Sendable (Event) throws(Refusal) -> Bool
    var revision: @Sendable () -> UInt64
}

extension LedgerOperations {
    /// The operations of a service.
    init<Store: EntitlementWriter & Sendable>(_ service: EntitlementService<Store>) {
        self.init(
            scopes: service.scopes,
            planForRequest: { request throws(Refusal) in
                try service.refreshPlan(for: request)
            },
            planForKey: { key throws(Refusal) in try service.refreshPlan(for: key) },
            due: { scope, now, countMax throws(Refusal) in
                try service.dueRefreshes(in: scope, at: now, countMax: countMax)
            },
            applying: { service.event(applying: $0, by: $1, isDryRun: $2) },
            keeping: { service.event(keeping: $0, by: $1) },
            noting: { service.event(noting: $0, of: $1, notBefore: $2) },
            queueing: { service.event(queueing: $0, for: $1) },
            moving: { service.event(moving: $0, of: $1, to: $2) },
            mark: { mark, scope throws(Refusal) in try service.mark(mark, of: scope) },
            sweepPage: { scope, cursor, countMax, fetchedBefore throws(Refusal) in
                try service.sweepPage(
                    of: scope, from: cursor, countMax: countMax, fetchedBefore: fetchedBefore)
            },
            prepare: { payload throws(Refusal) in
                try service.prepare(.notification(payload: payload))
            },
            isStored: { event throws(Refusal) in try service.isStored(event) },
            revision: { service.revision })
    }
}

/// One page of Apple's notification history, as it is asked for.
struct NotificationQuery: Hashable, Sendable {
    var scope: Scope
    /// Half-open.
    var dates: Range<Timestamp>
    var isOnlyFailures: Bool
    /// Empty: the first page.
    var pageToken: String
}

/// Apple's servers, as reconciliation uses them. All of it blocks; any thread.
struct AppleOperations: Sendable {
    var history:
        @Sendable (RefreshPlan, _ deadline: Timestamp) throws(HistoryFailure) -> AppleHistory
    var notifications:
        @Sendable (NotificationQuery, _ deadline: Timestamp) throws(AppStoreServerError) ->
            AppStoreServerClient.NotificationPage
    var requestTest: @Sendable (Scope, _ deadline: Timestamp) throws(AppStoreServerError) -> String
    var testStatus:
        @Sendable (_ token: String, Scope, _ deadline: Timestamp) throws(AppStoreServerError) ->
            AppStoreServerClient.TestNotificationStatus
    /// Makes all that waits for the network throw soon, for good.
    var giveUp: @Sendable () -> Void
}

extension AppleOperations {
    /// The operations of a client.
    init(_ client: AppStoreServerClient, giveUp: @escaping @Sendable () -> Void) {
        self.init(
            history: { plan, deadline throws(HistoryFailure) in
                try client.history(
                    of: plan.targets.map { .init(id: $0.id, chains: $0.chains) }, in: plan.scope,
                    wantsStatuses: plan.wantsStatuses, deadline: deadline)
            },
            notifications: { query, deadline throws(AppStoreServerError) in
                try client.notifications(
                    in: query.scope, dates: query.dates, isOnlyFailures: query.isOnlyFailures,
                    pageToken: query.pageToken, deadline: deadline)
            },
            requestTest: { scope, deadline throws(AppStoreServerError) in
                try client.requestTestNotification(in: scope, deadline: deadline)
            },
            testStatus: { token, scope, deadline throws(AppStoreServerError) in
                try client.testNotificationStatus(token: token, in: scope, deadline: deadline)
            },
            giveUp: giveUp)
    }
}
