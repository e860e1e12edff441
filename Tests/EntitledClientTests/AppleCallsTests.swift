import EventLoop
import Testing
import Wire

@testable import EntitledClient

/// Every call before whose answer the server asks Apple, and the queue.
@Suite(.timeLimit(.minutes(1))) struct AppleCallsTests {
    @Test func `a backfill carries its interval and brings what was missed`() async throws {
        var record = Message.NotificationRecord()
        record.notificationUUID = "u"
        var problem = Message.ItemProblem()
        problem.reason = "BAD_SIGNATURE"
        problem.message = "m"
        var response = Message.BackfillNotificationsResponse()
        response.notificationsRead = 20
        response.recovered = [record]
        response.changes = [.init()]
        response.problems = [problem]
        response.nextPageToken = "n"
        response.revision = 5
        let request = try await FakeServer.sent(answering: .backfillNotifications(response)) {
            client in
            let page = try await client.backfillNotifications(
                Backfill(
                    fromMilliseconds: 1, toMilliseconds: 2, isOnlyFailures: true, isDryRun: true,
                    scope: Scope(bundleID: "b", environment: .sandbox)), pageToken: "t")
            #expect(page.notificationCount == 20 && page.revision == 5)
            #expect(page.recovered.map(\.notificationUUID) == ["u"] && page.changes.count == 1)
            #expect(page.problems == [ItemProblem(reason: "BAD_SIGNATURE", message: "m")])
            #expect(page.nextPageToken == "n")
        }
        var expected = Message.BackfillNotificationsRequest()
        expected.scope = Message.Scope(bundleID: "b", environment: .sandbox)
        (expected.fromMilliseconds, expected.toMilliseconds) = (1, 2)
        expected.pageToken = "t"
        expected.onlyFailures = true
        expected.dryRun = true
        #expect(request.call == .backfillNotifications(expected))
        #expect(request.timeoutMilliseconds > 50_000, "Apple gets the time that she needs")
    }

    @Test func `a test notification is asked for, and asked about by its token`() async throws {
        var attempt = Message.SendAttempt()
        attempt.atMilliseconds = 3
        attempt.result = "SOMETHING_NEW"
        var response = Message.TestNotificationResponse()
        response.token = "k"
        response.attempts = [attempt]
        response.received = true
        for token in ["", "k"] {
            let request = try await FakeServer.sent(answering: .testNotification(response)) {
                client in
                let test = try await client.testNotification(token: token)
                #expect(test.token == "k" && test.isReceived)
                #expect(
                    test.attempts == [.init(atMilliseconds: 3, result: "SOMETHING_NEW")])
            }
            var expected = Message.TestNotificationRequest()
            expected.token = Text(token)
            #expect(request.call == .testNotification(expected))
        }
    }

    @Test(arguments: [false, true])
    func `a queue comes with its marks and its last failure`(hasFailed: Bool) async throws {
        var queued = Message.QueuedRefresh()
        queued.customerID = "c"
        queued.trigger = "REVOKE"
        (queued.queuedAtMilliseconds, queued.notBeforeMilliseconds, queued.attempts) = (1, 2, 3)
        (queued.lastReason, queued.lastMessage) = ("R", "M")
        var response = Message.GetReconciliationResponse()
        response.appStoreAPIConfigured = true
        response.queued = 4
        response.refreshes = [queued]
        response.nextPageToken = "n"
        response.notificationsCompleteUntilMilliseconds = 5
        (response.refreshesSucceeded, response.refreshesFailed) = (6, 7)
        if hasFailed {
            response.lastFailureReason = "APP_STORE_THROTTLED"
            response.lastFailureMessage = "slow"
            response.lastFailureAtMilliseconds = 8
        }
        let request = try await FakeServer.sent(answering: .getReconciliation(response)) {
            client in
            let state = try await client.reconciliation(pageToken: "t", pageSize: 9)
            #expect(state.isAppStoreAPIConfigured && state.queuedCount == 4)
            #expect(
                state.refreshes == [
                    QueuedRefresh(
                        customerID: "c", trigger: "REVOKE", queuedAtMilliseconds: 1,
                        notBeforeMilliseconds: 2, attemptCount: 3, lastReason: "R",
                        lastMessage: "M")
                ])
            #expect(state.nextPageToken == "n" && state.sweepFinishedAtMilliseconds == nil)
            #expect(state.notificationsCompleteUntilMilliseconds == 5)
            #expect(state.succeededCount == 6 && state.failedCount == 7)
            let failure = Reconciliation.Failure(
                atMilliseconds: 8, reason: "APP_STORE_THROTTLED", message: "slow")
            #expect(state.lastFailure == (hasFailed ? failure : nil))
        }
        var expected = Message.GetReconciliationRequest()
        expected.pageToken = "t"
        expected.pageSize = 9
        #expect(request.call == .getReconciliation(expected))
    }

    @Test func `a rebuild waits for Apple unless only stored facts are read`() async throws {
        var response = Message.RebuildCustomerResponse()
        var problem = Message.ItemProblem()
        problem.reason = "WRONG_APP"
        response.problems = [problem]
        for (source, isLong) in [
            (RebuildSource.automatic, true), (.appStore, true), (.storedFacts, false),
        ] {
            let request = try await FakeServer.sent(answering: .rebuildCustomer(response)) {
                client in
                let result = try await client.rebuildCustomer(.customer("u"), source: source)
                #expect(result.problems.map(\.reason) == ["WRONG_APP"])
            }
            #expect((request.timeoutMilliseconds > 50_000) == isLong)
        }
    }

    @Test func `silence means nothing while the server asks Apple`() async throws {
        let asked = Locked<FakeServer.Later?>(nil)
        let server = try FakeServer { received in
            if case .testNotification? = received.request.call {
                asked.withLock { $0 = received.later }
            }
            // Nobody else gets an answer.
        }
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.timeout = .seconds(60)
        configuration.silenceLimit = .milliseconds(50)
        configuration.connectionCountMax = 1
        configuration.attemptCountMax = 1
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        async let patient = Samples.error { () async throws(ClientError) in
            try await client.testNotification()
        }
        while asked.withLock({ $0 == nil }) { await Task.yield() }
        // A call that is due at once ends its connection after the limit, and not before: the
        // silence from before it was sent does not count.
        let error = await Samples.error { () async throws(ClientError) in
            try await client.serverInfo()
        }
        #expect(error == .connectionLost)
        let lost = await patient
        #expect(lost == .connectionLost)
    }

    @Test func `an answer that took Apple longer than the limit of silence is taken`() async throws
    {
        let asked = Locked<FakeServer.Later?>(nil)
        let server = try FakeServer { received in asked.withLock { $0 = received.later } }
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.silenceLimit = .milliseconds(20)
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        async let patient = client.testNotification()
        while asked.withLock({ $0 == nil }) { await Task.yield() }
        // Many times the limit: were silence counted, the connection would be gone.
        try await Task.sleep(for: .milliseconds(300))
        let later = try #require(asked.withLock { $0 })
        server.answer(later, .testNotification(.init()))
        let test = try await patient
        #expect(test.token.isEmpty)
        #expect(server.connectionCount == 1)
    }
}
