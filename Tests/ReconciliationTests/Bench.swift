import AppStore
import AppStoreServerAPI
import Entitlements
import EventLoop
import Storage

@testable import Reconciliation
@testable import Service

/// A desk whose service and whose Apple are played by the test, at a time that the test sets.
///
/// Every event is a link whose customer id says what it is, so that tests read what was committed.
/// A notification's payload is its UUID; one that begins with "bad" is not believed.
final class Bench: Sendable {
    static let production = Scope(bundleID: "app", environment: .production)
    static let sandbox = Scope(bundleID: "app", environment: .sandbox)
    static let start = Timestamp(milliseconds: 1_775_642_400_000)

    struct State: Sendable {
        var now = Bench.start
        var due: [QueuedRefresh] = []
        var marks: [ReconciliationMark: Timestamp] = [:]
        /// What was committed, in words.
        var committed: [String] = []
        /// What the door says next, before it takes anything again.
        var doorRefusals: [Refusal] = []
        /// Refused whenever it is committed.
        var refused: [String: Refusal] = [:]
        var notices: [ReconciliationNotice] = []
        var gone: Set<UInt64> = []
        var targets = [RefreshTarget(id: "7001", chains: ["7001"])]
        /// Apple's next answers; an empty history after the last.
        var histories: [Result<AppleHistory, HistoryFailure>] = []
        var pages: [Result<AppStoreServerClient.NotificationPage, AppStoreServerError>] = []
        var deadlines: [Timestamp] = []
        var historyCount = 0
        var queries: [NotificationQuery] = []
        var storedUUIDs: Set<String> = []
        var changes: [EntitlementChange] = []
        /// Items that the ledger did not believe.
        var problems: [Refusal] = []
        var sweepPages: [SweepPage] = []
        var sweepQuestions: [String] = []
        var giveUpCount = 0
    }

    let state = Locked(State())
    let desk: ReconciliationDesk
    /// Called whenever Apple is asked for a history, on the thread that asks.
    let onHistory: @Sendable () -> Void

    init(
        environments: [AppEnvironment] = [.production],
        _ change: (inout ReconciliationConfiguration) -> Void = { _ in },
        onHistory: @escaping @Sendable () -> Void = {}
    ) {
        var configuration = ReconciliationConfiguration()
        change(&configuration)
        let state = state
        self.onHistory = onHistory
        desk = ReconciliationDesk(
            configuration: configuration, ledger: Self.ledger(state, environments),
            apple: Self.apple(state, onHistory),
            surroundings: .init(
                now: { state.withLock(\.now) }, fraction: { 0.5 },
                onNotice: { notice in state.withLock { $0.notices.append(notice) } }))
    }

    var door: CommitDoor {
        CommitDoor { [state] event in state.withLock { Self.commit(event, &$0) } }
    }

    var snapshot: State { state.withLock { $0 } }
    var committed: [String] { state.withLock(\.committed) }
    var notices: [ReconciliationNotice] { state.withLock(\.notices) }
    var queries: [NotificationQuery] { state.withLock(\.queries) }

    func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    func advance(_ milliseconds: Int64) {
        state.withLock { $0.now = $0.now.adding(milliseconds: milliseconds) }
    }

    // MARK: Parts

    static func job(
        _ number: UInt64, _ trigger: RefreshTrigger = .revoke, scope: Int = 0, attempts: UInt32 = 0
    ) -> QueuedRefresh {
        var job = RefreshJob(trigger: trigger, queuedAt: start, revision: 1)
        job.attempts = attempts
        return QueuedRefresh(
            key: CustomerKey(scope: ScopeNumber(UInt16(scope + 1)), number: number),
            customerID: "c\(number)", job: job)
    }

    /// A history with a status, so that there is something to keep.
    static func history(problemCount: Int = 0) -> AppleHistory {
        var history = AppleHistory(scope: production)
        history.statuses = [
            .init(
                originalTransactionID: "7001", transactionID: "7001", status: 1, signedDate: start)
        ]
        for _ in 0..<problemCount {
            history.problems.append(.init(error: .badSignature("forged"), place: "item 3"))
        }
        return history
    }

    static func failure(
        _ error: AppStoreServerError, partial: AppleHistory? = nil
    ) -> Result<AppleHistory, HistoryFailure> {
        .failure(HistoryFailure(error: error, partial: partial ?? AppleHistory(scope: production)))
    }

    static func page(
        _ uuids: [String], next: String = ""
    ) -> Result<AppStoreServerClient.NotificationPage, AppStoreServerError> {
        .success(
            .init(
                signedPayloads: uuids.map { Array($0.utf8) }, unreadableCount: 0,
                nextPageToken: next))
    }

    static func change(_ product: String, to isGranted: Bool) -> EntitlementChange {
        EntitlementChange(
            customerID: "c", productID: product, wasGranted: !isGranted, isGranted: isGranted,
            reason: isGranted ? .active : .refunded)
    }

    // MARK: The service

    private static func event(_ words: String) -> Event {
        Event(
            receivedAt: start,
            content: .link(
                Event.Link(
                    scope: production, customerID: words, identity: nil, isTransfer: false,
                    transfersOnConflict: false, household: nil)))
    }

    private static func commit(
        _ event: Event, _ state: inout State
    ) -> Result<WriteReply, Refusal> {
        if !state.doorRefusals.isEmpty { return .failure(state.doorRefusals.removeFirst()) }
        switch event.content {
        case .notification(let notification, _):
            let uuid = notification.notificationUUID
            if let refusal = state.refused[uuid] { return .failure(refusal) }
            let isNew = state.storedUUIDs.insert(uuid).inserted
            if isNew { state.committed.append("notification \(uuid)") }
            return .success(
                .notification(
                    NotificationReply(
                        notificationUUID: uuid, type: "REVOKE", subtype: "",
                        disposition: isNew ? .applied : .duplicate,
                        changes: isNew ? state.changes : [], revision: 5)))
        case .link(let link):
            if let refusal = state.refused[link.customerID] { return .failure(refusal) }
            state.committed.append(link.customerID)
            guard link.customerID.hasPrefix("apply") else {
                return .success(.noted(revision: 4))
            }
            state.due.removeAll { "apply \($0.key.number)" == link.customerID }
            return .success(
                .rebuild(
                    RebuildReply(
                        source: .appStore, transactionCount: 1, changes: state.changes,
                        entitlements: [], revision: 4, problems: state.problems)))
        default:
            return .failure(Refusal(.unknownCall, "the test commits no such event"))
        }
    }

    private static func ledger(
        _ state: Locked<State>, _ environments: [AppEnvironment]
    ) -> LedgerOperations {
        let plan: @Sendable (CustomerKey) -> RefreshPlan = { key in
            RefreshPlan(
                key: key, scope: key.scope.value == 1 ? production : sandbox,
                targets: state.withLock(\.targets), wantsStatuses: true, revision: 1)
        }
        return LedgerOperations(
            scopes: environments.enumerated().map {
                (ScopeIndex(value: $0), Scope(bundleID: "app", environment: $1))
            },
            planForRequest: { request throws(Refusal) in
                guard case .customer(let name) = request.customer, isSame(name, "a") else {
                    throw Refusal(.unknownCustomer, "only a is known")
                }
                return plan(CustomerKey(scope: ScopeNumber(1), number: 1))
            },
            planForKey: { key throws(Refusal) in
                state.withLock { $0.gone.contains(key.number) } ? nil : plan(key)
            },
            due: { scope, now, countMax throws(Refusal) in
                let jobs = state.withLock(\.due).filter { $0.key.scope.value == scope.value + 1 }
                let due = jobs.filter { $0.job.notBefore <= now }
                let later = jobs.map(\.job.notBefore).filter { $0 > now }
                return (Array(due.prefix(countMax)), later.min())
            },
            applying: { _, plan, isDryRun in
                event("\(isDryRun ? "apply dry" : "apply") \(plan.key.number)")
            },
            keeping: { history, plan in
                event("keep \(plan.key.number): \(history.statuses.count)")
            },
            noting: { refusal, key, notBefore in
                let wait = notBefore.milliseconds - state.withLock(\.now).milliseconds
                return event("note \(key.number): \(refusal.reason.rawValue) in \(wait)")
            },
            queueing: { keys, trigger in
                event("queue \(keys.map(\.number)): \(trigger.rawValue)")
            },
            moving: { mark, scope, instant in
                event("mark \(mark) \(scope.value): \(instant.milliseconds - start.milliseconds)")
            },
            mark: { mark, _ throws(Refusal) in state.withLock { $0.marks[mark] } },
            sweepPage: { _, cursor, countMax, fetchedBefore throws(Refusal) in
                sweepPage(state, cursor, countMax, fetchedBefore)
            },
            prepare: { payload throws(Refusal) in try prepare(payload) },
            isStored: { event throws(Refusal) in
                guard let record = event.notificationRecord else { return false }
                return state.withLock { $0.storedUUIDs.contains(record.notificationUUID) }
            },
            revision: { 3 })
    }

    private static func sweepPage(
        _ state: Locked<State>, _ cursor: UInt64?, _ countMax: Int, _ fetchedBefore: Timestamp
    ) -> SweepPage {
        let age = start.milliseconds - fetchedBefore.milliseconds
        return state.withLock { state in
            state.sweepQuestions.append(
                "\(cursor.map(String.init) ?? "first") of \(countMax), older than \(age)")
            guard !state.sweepPages.isEmpty else {
                return SweepPage(due: [], customerCount: 0, next: nil)
            }
            return state.sweepPages.removeFirst()
        }
    }

    private static func prepare(_ payload: [UInt8]) throws(Refusal) -> Event {
        let uuid = String(decoding: payload, as: UTF8.self)
        guard !uuid.hasPrefix("bad") else {
            throw Refusal(.badSignature, "the test does not believe it")
        }
        let notification = Notification(
            notificationUUID: uuid, type: "REVOKE", subtype: "", signedDate: start,
            scope: production)
        return Event(receivedAt: start, content: .notification(notification, payload: payload))
    }

    // MARK: Apple

    private static func apple(
        _ state: Locked<State>, _ onHistory: @escaping @Sendable () -> Void
    ) -> AppleOperations {
        AppleOperations(
            history: { _, deadline throws(HistoryFailure) in
                onHistory()
                let answer = state.withLock { state in
                    state.historyCount += 1
                    state.deadlines.append(deadline)
                    return state.histories.isEmpty
                        ? .success(history()) : state.histories.removeFirst()
                }
                return try answer.get()
            },
            notifications: { query, deadline throws(AppStoreServerError) in
                let answer = state.withLock { state in
                    state.queries.append(query)
                    state.deadlines.append(deadline)
                    return state.pages.isEmpty ? page([]) : state.pages.removeFirst()
                }
                return try answer.get()
            },
            requestTest: { _, _ throws(AppStoreServerError) in "token-1" },
            testStatus: { token, _, _ throws(AppStoreServerError) in
                guard isSame(token, "token-1") else {
                    throw .notFound(code: 4_040_008, message: "no such test")
                }
                return .init(
                    signedPayload: Array("uuid-t".utf8), attempts: [(start, "TIMED_OUT")])
            },
            giveUp: { state.withLock { $0.giveUpCount += 1 } })
    }
}
