extension Message {
    /// An item of Apple's that was refused.
    package struct ItemProblem: Hashable, Sendable {
        /// As in Response.
        package var reason = Text()
        /// For people.
        package var message = Text()

        /// Nothing; set the fields.
        package init() {}
    }

    /// A customer who waits for a fetch from Apple.
    package struct QueuedRefresh: Hashable, Sendable {
        /// The app's own user id, or Apple's name while nobody has said who it is.
        package var customerID = Text()
        /// REVOKE, REFUND, REFUND_REVERSED, FAMILY_REFUND, UNKNOWN_TYPE, V1_HINT, SWEEP, ADMIN;
        /// open.
        package var trigger = Text()
        /// When it was first asked for, milliseconds since 1970.
        package var queuedAtMilliseconds: Int64 = 0
        /// Not tried before this instant, milliseconds since 1970.
        package var notBeforeMilliseconds: Int64 = 0
        /// How many failed.
        package var attempts: UInt32 = 0
        /// Why the last attempt failed; empty when there was none.
        package var lastReason = Text()
        /// The same for people.
        package var lastMessage = Text()

        /// Nothing; set the fields.
        package init() {}
    }

    /// One page of Apple's notification history.
    package struct BackfillNotificationsRequest: Hashable, Sendable {
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?
        /// Inclusive, milliseconds since 1970; Apple keeps 180 days.
        package var fromMilliseconds: Int64 = 0
        /// Exclusive, milliseconds since 1970; 0 = now.
        package var toMilliseconds: Int64 = 0
        /// Empty, or the token that the page before gave, with the same other fields.
        package var pageToken = Text()
        /// Only those that Apple could not deliver.
        package var onlyFailures = false
        /// Say what was missed, and store nothing.
        package var dryRun = false

        /// Nothing; set the fields.
        package init() {}
    }

    /// What a page of Apple's notification history brought.
    package struct BackfillNotificationsResponse: Hashable, Sendable {
        /// Notifications on this page.
        package var notificationsRead: UInt32 = 0
        /// Those that were missed, and are stored now.
        package var recovered: [NotificationRecord] = []
        /// Whose access changed.
        package var changes: [Change] = []
        /// What was not taken; the rest was.
        package var problems: [ItemProblem] = []
        /// Empty on the last page.
        package var nextPageToken = Text()
        /// The last committed revision seen.
        package var revision: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// Ask Apple for a test notification, or what became of one.
    package struct TestNotificationRequest: Hashable, Sendable {
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?
        /// Empty: ask for one. Else what became of the one that was asked for.
        package var token = Text()

        /// Nothing; set the fields.
        package init() {}
    }

    /// An attempt of Apple's to deliver.
    package struct SendAttempt: Hashable, Sendable {
        /// When, milliseconds since 1970.
        package var atMilliseconds: Int64 = 0
        /// Apple's word: SUCCESS, TIMED_OUT, TLS_ISSUE, ...; open.
        package var result = Text()

        /// Nothing; set the fields.
        package init() {}
    }

    /// What became of a test notification.
    package struct TestNotificationResponse: Hashable, Sendable {
        /// By which to ask what became of it.
        package var token = Text()
        /// Attempts of Apple's so far; none while it is on its way.
        package var attempts: [SendAttempt] = []
        /// Whether it has reached this server.
        package var received = false

        /// Nothing; set the fields.
        package init() {}
    }

    /// What is queued for a fetch from Apple.
    package struct GetReconciliationRequest: Hashable, Sendable {
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?
        /// Empty, or the token that the page before gave.
        package var pageToken = Text()
        /// 0 = 100; at most 1,000.
        package var pageSize: UInt32 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// What is queued, and how far notifications and sweeps have come.
    package struct GetReconciliationResponse: Hashable, Sendable {
        /// Whether there is somebody who fetches.
        package var appStoreAPIConfigured = false
        /// Customers waiting for a fetch.
        package var queued: UInt64 = 0
        /// In the order of customers.
        package var refreshes: [QueuedRefresh] = []
        /// Empty on the last page.
        package var nextPageToken = Text()
        /// All notifications that Apple signed before this are accounted for, milliseconds since
        /// 1970; 0 = not known yet.
        package var notificationsCompleteUntilMilliseconds: Int64 = 0
        /// When every active family copy had been looked at, milliseconds since 1970; 0 = never.
        package var sweepFinishedAtMilliseconds: Int64 = 0
        /// Since the start.
        package var refreshesSucceeded: UInt64 = 0
        /// Since the start.
        package var refreshesFailed: UInt64 = 0
        /// The last failure; empty when there was none.
        package var lastFailureReason = Text()
        /// The same for people.
        package var lastFailureMessage = Text()
        /// When, milliseconds since 1970; 0 = never.
        package var lastFailureAtMilliseconds: Int64 = 0

        /// Nothing; set the fields.
        package init() {}
    }
}
