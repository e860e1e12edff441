package import Entitlements
import Synchronization

/// What committed events brought, for metrics.
package struct CommitCounts: Hashable, Sendable {
    /// A kind of notification.
    package struct Kind: Hashable, Sendable {
        package var scope: Scope
        /// Apple's name, verbatim.
        package var type: String
        package var disposition: Disposition
    }

    /// What one app's events brought.
    package struct App: Hashable, Sendable {
        /// Seconds from the arrival of a notification to its answer.
        package var durations = HistogramCounts(bounds: HistogramCounts.callBounds)
        /// Seconds from Apple's signature to the arrival.
        package var ages = HistogramCounts(bounds: HistogramCounts.ageBounds)
        /// Answers that events turned to *no*, by reason.
        package var endings: [AccessReason: UInt64] = [:]
        /// The people whom one event suspended, for events that suspended any.
        package var cutMembers = HistogramCounts(bounds: HistogramCounts.peopleBounds)
    }

    /// Seconds from the arrival of an event that suspended somebody until all of them are denied.
    package var cutDurations = HistogramCounts(bounds: HistogramCounts.callBounds)

    /// Kinds beyond are not told apart: Apple has some forty types.
    static let kindCountMax = 1_024

    /// Notifications by kind.
    package var notifications: [Kind: UInt64] = [:]
    /// Notifications that were refused, by reason.
    package var refusedNotifications: [RefusalReason: UInt64] = [:]
    /// By bundleId.
    package var apps: [String: App] = [:]

    /// Nothing yet.
    package init() {}

    mutating func count(_ event: Event, _ reply: WriteReply, at now: Timestamp) {
        guard let scope = event.content.scope else { return }
        var app = apps[scope.bundleID] ?? App()
        defer { apps[scope.bundleID] = app }
        if case .notification(let notification, _) = event.content,
            case .notification(let reply) = reply
        {
            var kind = Kind(
                scope: scope, type: notification.type, disposition: reply.disposition)
            if notifications[kind] == nil, notifications.count >= Self.kindCountMax {
                kind.type = ""
            }
            notifications[kind, default: 0] += 1
            app.durations.observe(from: event.receivedAt, to: now)
            app.ages.observe(from: notification.signedDate, to: event.receivedAt)
        }
        let ended = reply.changes.filter { $0.wasGranted && !$0.isGranted }
        for change in ended { app.endings[change.reason, default: 0] += 1 }
        let suspended = Set(
            ended.filter { $0.reason == .familySuspended }.map { ExactName($0.customerID) })
        if !suspended.isEmpty {
            app.cutMembers.observe(Double(suspended.count))
            cutDurations.observe(from: event.receivedAt, to: now)
        }
    }
}

extension HistogramCounts {
    /// Counts a time between two instants of the wall clock, never less than nothing.
    fileprivate mutating func observe(from start: Timestamp, to end: Timestamp) {
        let (milliseconds, overflow) = end.milliseconds.subtractingReportingOverflow(
            start.milliseconds)
        observe(overflow ? 0 : Double(max(0, milliseconds)) / 1_000)
    }

    fileprivate mutating func observe(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }
}

extension WriteReply {
    /// The answers that flipped.
    fileprivate var changes: [EntitlementChange] {
        switch self {
        case .notification(let reply): reply.changes
        case .transactions(let changes, _), .link(let changes, _): changes
        case .rebuild(let reply): reply.changes
        case .imported(let reply): reply.changes
        case .noted, .forgotten: []
        }
    }
}

/// Where the commit thread counts, and others read.
final class CommitTally: Sendable {
    private let counts = Mutex(CommitCounts())

    var value: CommitCounts { counts.withLock { $0 } }

    /// Counts a group of events that was committed.
    func count(_ events: [Event], _ results: [Result<WriteReply, Refusal>], at now: Timestamp) {
        counts.withLock { counts in
            for (event, result) in zip(events, results) {
                switch result {
                case .success(let reply):
                    if !event.content.isDryRun { counts.count(event, reply, at: now) }
                case .failure(let refusal):
                    guard case .notification = event.content else { continue }
                    counts.refusedNotifications[refusal.reason, default: 0] += 1
                }
            }
        }
    }

    /// Counts a call that was refused before it became an event.
    func countRefused(_ call: WriteCall, _ reason: RefusalReason) {
        guard case .notification = call else { return }
        counts.withLock { $0.refusedNotifications[reason, default: 0] += 1 }
    }
}

extension Event.Content {
    /// Whether it only shows what it would change.
    fileprivate var isDryRun: Bool {
        switch self {
        case .rebuild(let rebuild): rebuild.isDryRun
        case .history(let history): history.isDryRun
        case .importing(let batch): batch.isDryRun
        case .forget(let forget): forget.isDryRun
        default: false
        }
    }
}

extension EntitlementService {
    /// What committed events brought since the start. Any thread.
    package var commitCounts: CommitCounts { commitTally.value }

    /// How many customers of a world wait for a fetch from Apple. Any thread.
    package func queuedRefreshCount(of scope: ScopeIndex) -> Int {
        refreshQueue.count(of: world(scope).number)
    }
}
