package import Entitlements
package import Storage

/// A call that has to ask Apple first: a thread of its own waits for the network.
package enum RemoteCall: Sendable {
    case rebuild(RebuildRequest)
    case backfill(BackfillRequest)
    case testNotification(TestNotificationRequest)
}

/// The answer to a `RemoteCall`.
package enum RemoteReply: Hashable, Sendable {
    case rebuild(RebuildReply)
    case backfill(BackfillReply)
    case testNotification(TestNotificationReply)
}

/// What carries out remote calls; blocking, on a thread of its own.
///
/// - Throws: APP_STORE_NOT_CONFIGURED, APP_STORE_UNAUTHORIZED, APP_STORE_THROTTLED,
///   APP_STORE_INCOMPLETE, and what committing throws.
package typealias RemoteHandler =
    @Sendable (RemoteCall, RemoteContext) throws(Refusal) -> RemoteReply

/// Who asks Apple for clients.
package struct RemoteWork: Sendable {
    /// Carries out one call.
    package let handler: RemoteHandler
    /// Makes the calls under way throw soon, for good; any thread, more than once.
    package let giveUp: @Sendable () -> Void

    /// A handler that can be stopped.
    package init(
        handler: @escaping RemoteHandler, giveUp: @escaping @Sendable () -> Void = {}
    ) {
        self.handler = handler
        self.giveUp = giveUp
    }
}

/// What a remote call is carried out with.
package struct RemoteContext: Sendable {
    /// Where its events are committed.
    package let door: CommitDoor
    /// How long the client will wait for the answer, in milliseconds from now.
    package let timeoutMilliseconds: Int64

    /// A context.
    package init(door: CommitDoor, timeoutMilliseconds: Int64) {
        self.door = door
        self.timeoutMilliseconds = timeoutMilliseconds
    }
}

/// Where threads of this process hand in events; the answer comes when they are durable and
/// visible. Not for event loops and not for the commit thread: it blocks.
package struct CommitDoor: Sendable {
    private let body: @Sendable (Event) -> Result<WriteReply, Refusal>

    /// A door to whatever commits.
    package init(_ body: @escaping @Sendable (Event) -> Result<WriteReply, Refusal>) {
        self.body = body
    }

    /// Commits one event with whatever else is under way.
    ///
    /// - Throws: the refusal: nothing was stored.
    package func commit(_ event: Event) throws(Refusal) -> WriteReply {
        switch body(event) {
        case .success(let reply): return reply
        case .failure(let refusal): throw refusal
        }
    }
}

/// One page of Apple's notification history.
package struct BackfillRequest: Hashable, Sendable {
    package var scope: ScopeIndex
    /// Inclusive.
    package var from: Timestamp
    /// Exclusive.
    package var to: Timestamp
    /// Apple's; empty: the first page.
    package var pageToken: String
    /// Only those that Apple could not deliver.
    package var isOnlyFailures: Bool
    package var isDryRun: Bool

    /// A page.
    package init(
        scope: ScopeIndex, from: Timestamp, to: Timestamp, pageToken: String = "",
        isOnlyFailures: Bool = false, isDryRun: Bool = false
    ) {
        self.scope = scope
        self.from = from
        self.to = to
        self.pageToken = pageToken
        self.isOnlyFailures = isOnlyFailures
        self.isDryRun = isDryRun
    }
}

/// What a page of Apple's notification history brought.
package struct BackfillReply: Hashable, Sendable {
    package var notificationCount: Int
    /// Those that were missed; stored now, unless it was a dry run.
    package var recovered: [NotificationRecord]
    package var changes: [EntitlementChange]
    package var problems: [Refusal]
    /// Empty after the last page.
    package var nextPageToken: String
    package var revision: UInt64

    /// A page's outcome.
    package init(
        notificationCount: Int, recovered: [NotificationRecord], changes: [EntitlementChange],
        problems: [Refusal], nextPageToken: String, revision: UInt64
    ) {
        self.notificationCount = notificationCount
        self.recovered = recovered
        self.changes = changes
        self.problems = problems
        self.nextPageToken = nextPageToken
        self.revision = revision
    }
}

/// Asks for a test notification, or what became of one.
package struct TestNotificationRequest: Hashable, Sendable {
    package var scope: ScopeIndex
    /// Empty: ask for one.
    package var token: String

    /// A request.
    package init(scope: ScopeIndex, token: String = "") {
        self.scope = scope
        self.token = token
    }
}

/// What became of a test notification.
package struct TestNotificationReply: Hashable, Sendable {
    /// One attempt of Apple's to deliver it.
    package struct Attempt: Hashable, Sendable {
        package var at: Timestamp
        /// Apple's word, verbatim.
        package var result: String

        /// An attempt.
        package init(at: Timestamp, result: String) {
            self.at = at
            self.result = result
        }
    }

    package var token: String
    package var attempts: [Attempt]
    /// Whether it is stored here.
    package var isReceived: Bool

    /// An outcome.
    package init(token: String, attempts: [Attempt], isReceived: Bool) {
        self.token = token
        self.attempts = attempts
        self.isReceived = isReceived
    }
}
