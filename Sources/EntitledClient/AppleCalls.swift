internal import Wire

/// Which part of Apple's notification history is replayed.
public struct Backfill: Hashable, Sendable {
    /// From this instant on, milliseconds since 1970. Apple keeps 180 days, 30 of Sandbox.
    public var fromMilliseconds: Int64
    /// To before this instant, milliseconds since 1970. It is the same for every page.
    public var toMilliseconds: Int64
    /// Only what Apple could not deliver.
    public var isOnlyFailures: Bool
    /// Only say what was missed.
    public var isDryRun: Bool
    /// Which app and environment; nil = that of the client's configuration.
    public var scope: Scope?

    /// A part of the history.
    public init(
        fromMilliseconds: Int64, toMilliseconds: Int64, isOnlyFailures: Bool = false,
        isDryRun: Bool = false, scope: Scope? = nil
    ) {
        self.fromMilliseconds = fromMilliseconds
        self.toMilliseconds = toMilliseconds
        self.isOnlyFailures = isOnlyFailures
        self.isDryRun = isDryRun
        self.scope = scope
    }
}

extension Client {
    /// Has the server replay one page of Apple's notification history.
    ///
    /// What it has already changes nothing: after an error the same page may be asked for again.
    ///
    /// - Parameters:
    ///   - backfill: Which part of the history.
    ///   - pageToken: `nextPageToken` of the page before; empty: the first page.
    ///   - timeout: How long to wait; nil = the configuration's `appStoreTimeout`.
    /// - Returns: What the page held and what of it was missed.
    /// - Throws: `ClientError`; `.refused` with APP_STORE_NOT_CONFIGURED, APP_STORE_UNAUTHORIZED,
    ///   APP_STORE_THROTTLED or APP_STORE_INCOMPLETE; the last two say when to try again.
    public func backfillNotifications(
        _ backfill: Backfill, pageToken: String = "", timeout: Duration? = nil
    ) async throws(ClientError) -> BackfilledPage {
        var request = Message.BackfillNotificationsRequest()
        request.fromMilliseconds = backfill.fromMilliseconds
        request.toMilliseconds = backfill.toMilliseconds
        request.pageToken = Text(pageToken)
        request.onlyFailures = backfill.isOnlyFailures
        request.dryRun = backfill.isDryRun
        request.scope = wireScope(backfill.scope)
        let result = try await perform(
            .backfillNotifications(request), timeout: timeout, isRepeatable: false,
            waitsForApple: true)
        guard case .backfillNotifications(let page) = result else { throw .unasked }
        return BackfilledPage(page)
    }

    /// Has the server replay a part of Apple's notification history, page by page.
    ///
    /// - Parameters:
    ///   - backfill: Which part of the history.
    ///   - pageToken: `nextPageToken` of the page to go on from; empty: from the start.
    /// - Returns: The pages; nothing is replayed before the first is taken.
    public func backfillPages(
        _ backfill: Backfill, from pageToken: String = ""
    ) -> Pages<BackfilledPage> {
        Pages(from: pageToken) { (token) async throws(ClientError) in
            let page = try await self.backfillNotifications(backfill, pageToken: token)
            return (page, page.nextPageToken)
        }
    }

    /// Has Apple asked for a test notification, or what became of one.
    ///
    /// - Parameters:
    ///   - token: Empty: ask for one. Else the token of the one that was asked for.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = the configuration's `appStoreTimeout`.
    /// - Returns: Its token, and what became of it so far.
    /// - Throws: `ClientError`; `.refused` as by `backfillNotifications`.
    public func testNotification(
        token: String = "", scope: Scope? = nil, timeout: Duration? = nil
    ) async throws(ClientError) -> TestNotification {
        var request = Message.TestNotificationRequest()
        request.token = Text(token)
        request.scope = wireScope(scope)
        // To ask what became of it changes nothing.
        let result = try await perform(
            .testNotification(request), timeout: timeout, isRepeatable: !token.isEmpty,
            waitsForApple: true)
        guard case .testNotification(let response) = result else { throw .unasked }
        return TestNotification(response)
    }

    /// What is queued for a fetch from Apple, and how far the server has come.
    ///
    /// - Parameters:
    ///   - pageToken: `nextPageToken` of the page before; empty: the first page.
    ///   - pageSize: How many queued customers at most, 1,000 at most; 0 = 100.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: A page of the queue, and all else.
    /// - Throws: `ClientError`; `.refused` with INVALID_FIELD for a token that is none.
    public func reconciliation(
        pageToken: String = "", pageSize: Int = 0, scope: Scope? = nil, timeout: Duration? = nil
    ) async throws(ClientError) -> Reconciliation {
        var request = Message.GetReconciliationRequest()
        request.pageToken = Text(pageToken)
        request.pageSize = UInt32(clamping: pageSize)
        request.scope = wireScope(scope)
        let result = try await perform(
            .getReconciliation(request), timeout: timeout, isRepeatable: true)
        guard case .getReconciliation(let response) = result else { throw .unasked }
        return Reconciliation(response)
    }
}
