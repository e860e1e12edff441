// What the server asked of Apple, and what it still has to ask. Times are milliseconds since 1970.

/// Something that Apple sent and the server did not believe.
public struct ItemProblem: Hashable, Sendable {
    /// UPPER_SNAKE, for machines, as in `Refusal.reason`.
    public var reason: String
    /// For people.
    public var message: String
}

/// One page of Apple's notification history, taken in where it was missed.
public struct BackfilledPage: Hashable, Sendable {
    /// How many notifications the page had.
    public var notificationCount: Int
    /// Those that were missed; stored now, unless it was a dry run.
    public var recovered: [NotificationRecord]
    /// Whose access changed.
    public var changes: [AccessChange]
    /// What was not believed; the rest was taken in.
    public var problems: [ItemProblem]
    /// Ask with it for the next page; empty after the last.
    public var nextPageToken: String
    /// The last revision that this has seen.
    public var revision: UInt64
}

/// What became of a test notification.
public struct TestNotification: Hashable, Sendable {
    /// One attempt of Apple's to deliver it.
    public struct Attempt: Hashable, Sendable {
        /// When.
        public var atMilliseconds: Int64
        /// Apple's word: SUCCESS, TIMED_OUT, TLS_ISSUE and so on; open.
        public var result: String
    }

    /// By which to ask what became of it.
    public var token: String
    /// Apple's attempts so far; none while it is on its way.
    public var attempts: [Attempt]
    /// Whether it has reached this server.
    public var isReceived: Bool
}

/// What is queued for a fetch from Apple, and how far the server has come.
public struct Reconciliation: Hashable, Sendable {
    /// Whether the server can ask Apple.
    public var isAppStoreAPIConfigured: Bool
    /// How many customers wait.
    public var queuedCount: UInt64
    /// A page of them, in the order of customers.
    public var refreshes: [QueuedRefresh]
    /// Ask with it for the next page; empty after the last.
    public var nextPageToken: String
    /// All notifications that Apple signed before this are accounted for; nil = not known yet.
    public var notificationsCompleteUntilMilliseconds: Int64?
    /// When every active family copy had been looked at; nil = never.
    public var sweepFinishedAtMilliseconds: Int64?
    /// Fetches that succeeded since the server's start.
    public var succeededCount: UInt64
    /// Fetches that failed since the server's start.
    public var failedCount: UInt64
    /// The last failed fetch; nil = there was none.
    public var lastFailure: Failure?

    /// A failed fetch.
    public struct Failure: Hashable, Sendable {
        /// When.
        public var atMilliseconds: Int64
        /// UPPER_SNAKE, for machines.
        public var reason: String
        /// For people.
        public var message: String
    }
}

/// A customer who waits for a fetch from Apple.
public struct QueuedRefresh: Hashable, Sendable {
    /// The app backend's own user id, or Apple's name while nobody has said who it is.
    public var customerID: String
    /// What asked for it: REVOKE, REFUND, SWEEP, ADMIN and so on; open.
    public var trigger: String
    /// When it was first asked for.
    public var queuedAtMilliseconds: Int64
    /// It is not tried before this instant.
    public var notBeforeMilliseconds: Int64
    /// How many attempts failed.
    public var attemptCount: Int
    /// Why the last one failed, for machines; empty = none did.
    public var lastReason: String
    /// The same for people.
    public var lastMessage: String
}
