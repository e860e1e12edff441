internal import AppStore
package import Entitlements

extension AppStoreServerClient {
    /// One page of the notifications that Apple sent.
    package struct NotificationPage: Hashable, Sendable {
        /// Outer compact JWS, as first sent; not verified.
        package var signedPayloads: [[UInt8]]
        /// Items without a signedPayload.
        package var unreadableCount: Int
        /// Empty after the last page.
        package var nextPageToken: String

        /// A page.
        package init(signedPayloads: [[UInt8]], unreadableCount: Int, nextPageToken: String) {
            self.signedPayloads = signedPayloads
            self.unreadableCount = unreadableCount
            self.nextPageToken = nextPageToken
        }
    }

    /// Fetches one page of the notification history: what Apple sent, in the state of when it was
    /// first sent.
    ///
    /// - Parameters:
    ///   - scope: The app and environment.
    ///   - dates: Half-open; at most 180 days back. None are asked for where it is empty.
    ///   - isOnlyFailures: Whether to leave out what Apple delivered.
    ///   - pageToken: Empty: the first page; else that of the page before, with all else the same.
    ///   - deadline: By the wall clock.
    /// - Returns: At most 20 notifications.
    /// - Throws: `malformed` also for a token that does not move.
    package func notifications(
        in scope: Scope, dates: Range<Timestamp>, isOnlyFailures: Bool, pageToken: String,
        deadline: Timestamp
    ) throws(AppStoreServerError) -> NotificationPage {
        let endpoint = AppStoreEndpoint.notificationHistory
        guard !dates.isEmpty else {
            return NotificationPage(signedPayloads: [], unreadableCount: 0, nextPageToken: "")
        }
        var members: [(name: String, value: JSONText.Value)] = [
            ("startDate", .integer(dates.lowerBound.milliseconds)),
            ("endDate", .integer(dates.upperBound.milliseconds)),
        ]
        if isOnlyFailures { members.append(("onlyFailures", .boolean(true))) }
        let question = AppStoreQuestion(
            endpoint, in: scope,
            query: pageToken.isEmpty ? [] : [("paginationToken", pageToken)],
            body: JSONText.object(members))
        let page = SignedPage(
            try runner.answer(to: question, deadline: deadline), list: "notificationHistory")
        let items = try page.values(of: endpoint)
        let payloads = items.compactMap { page.object($0)?.bytes("signedPayload") }
        let next = try page.next("paginationToken", of: endpoint) ?? ""
        guard next.isEmpty || !isSame(next, pageToken) else {
            throw .malformed("\(endpoint.title): the paginationToken does not move")
        }
        return NotificationPage(
            signedPayloads: payloads, unreadableCount: items.count - payloads.count,
            nextPageToken: next)
    }

    /// Asks for a test notification.
    ///
    /// - Returns: The token to ask for its status with.
    /// - Throws: `notFound` with 4040007 when App Store Connect has no URL for notifications.
    package func requestTestNotification(
        in scope: Scope, deadline: Timestamp
    ) throws(AppStoreServerError) -> String {
        let answer = try runner.answer(
            to: AppStoreQuestion(.testNotification, in: scope), deadline: deadline)
        guard let token = answer.string("testNotificationToken"), !token.isEmpty else {
            throw .malformed(
                "\(AppStoreEndpoint.testNotification.title): testNotificationToken is absent")
        }
        return token
    }

    /// What became of a test notification.
    package struct TestNotificationStatus: Hashable, Sendable {
        /// The outer compact JWS; not verified.
        package var signedPayload: [UInt8]
        /// Apple's attempts: when and with what result, verbatim.
        package var attempts: [(at: Timestamp, result: String)]

        /// A status.
        package init(signedPayload: [UInt8], attempts: [(at: Timestamp, result: String)]) {
            self.signedPayload = signedPayload
            self.attempts = attempts
        }

        package static func == (left: Self, right: Self) -> Bool {
            left.signedPayload == right.signedPayload
                && left.attempts.elementsEqual(right.attempts, by: ==)
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(signedPayload) }
    }

    /// Asks what became of a test notification.
    ///
    /// - Throws: `notFound` with 4040008 for a token that Apple does not know, or not yet.
    package func testNotificationStatus(
        token: String, in scope: Scope, deadline: Timestamp
    ) throws(AppStoreServerError) -> TestNotificationStatus {
        let endpoint = AppStoreEndpoint.testNotificationStatus
        let answer = try runner.answer(
            to: AppStoreQuestion(endpoint, about: token, in: scope), deadline: deadline)
        guard let payload = answer.bytes("signedPayload") else {
            throw .malformed("\(endpoint.title): signedPayload is absent")
        }
        let attempts = (answer.array("sendAttempts") ?? []).compactMap { answer.object($0) }
        return TestNotificationStatus(
            signedPayload: payload,
            attempts: attempts.map { attempt in
                (
                    Timestamp(milliseconds: attempt.integer("attemptDate") ?? 0),
                    printable(attempt.text("sendAttemptResult") ?? "")
                )
            })
    }
}
