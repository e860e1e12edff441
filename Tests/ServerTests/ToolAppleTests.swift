import Glibc
import Synchronization
import TestSupport
import Testing
import Wire

/// The commands of `entitlectl` that make the server ask Apple, and those about what it asked.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct ToolAppleTests {
    private static func record(_ uuid: Text) -> Message.NotificationRecord {
        var record = Message.NotificationRecord()
        record.notificationUUID = uuid
        record.notificationType = "REVOKE"
        record.signedDateMilliseconds = 1_772_323_200_000
        return record
    }

    private static func page(_ uuids: [Text], next: Text) -> Response.Result {
        var page = Message.BackfillNotificationsResponse()
        page.notificationsRead = 20
        page.recovered = uuids.map(record)
        page.nextPageToken = next
        return .backfillNotifications(page)
    }

    private static func backfill(_ request: Request) -> Message.BackfillNotificationsRequest? {
        guard case .backfillNotifications(let call) = request.call else { return nil }
        return call
    }

    @Test func `a backfill goes through all pages and says which gaps it closed`() async throws {
        let throttled = Atomic(false)
        let server = try ScriptedServer { request in
            guard let call = Self.backfill(request) else { return nil }
            switch call.pageToken {
            case "": return Response(id: request.id, result: Self.page(["u-1"], next: "it's"))
            default:
                if !throttled.exchange(true, ordering: .relaxed) {
                    return Response(
                        id: request.id, status: .unavailable, reason: "APP_STORE_THROTTLED",
                        message: "slow down", retryAfterMilliseconds: 20)
                }
                return Response(id: request.id, result: Self.page(["u-2"], next: ""))
            }
        }
        let result = try await server.tool(
            ["backfill", "--from", "2026-03-01", "--only-failures"], in: TemporaryDirectory())
        #expect(result.end == .exit(0), "\(result.errorOutput)")
        #expect(result.output.contains("recovered  2026-03-01T00:00:00.000Z  REVOKE  u-1"))
        #expect(result.output.contains("u-2"))
        #expect(result.output.contains("read 40 notifications: 2 recovered"))
        let calls = server.requests.compactMap(Self.backfill)
        #expect(calls.map(\.pageToken) == ["", "it's", "it's"])
        #expect(Set(calls.map(\.toMilliseconds)).count == 1, "one end for all pages")
        #expect(calls.allSatisfy { $0.onlyFailures && !$0.dryRun })
    }

    @Test func `what was not believed is told, and the exit code says so`() async throws {
        let server = try ScriptedServer { request in
            var page = Message.BackfillNotificationsResponse()
            var problem = Message.ItemProblem()
            problem.reason = "BAD_SIGNATURE"
            problem.message = "item 7 of the page"
            page.problems = [problem]
            page.notificationsRead = 20
            return Response(id: request.id, result: .backfillNotifications(page))
        }
        let arguments = ["backfill", "--from", "2026-03-01", "--to", "2026-03-02", "--dry-run"]
        let table = try await server.tool(arguments, in: TemporaryDirectory())
        #expect(table.end == .exit(1))
        #expect(table.output.contains("not taken: item 7 of the page (BAD_SIGNATURE)"))
        let json = try await server.tool(
            arguments + ["--output", "json"], in: TemporaryDirectory())
        #expect(json.end == .exit(1))
        #expect(
            json.output == """
                {"notificationsRead":20,"recovered":[],"changes":[],"problems":[{"reason":\
                "BAD_SIGNATURE","message":"item 7 of the page"}],"resume":null}
                {"total":{"pages":1,"notificationsRead":20,"recovered":0,"changes":0,"problems":1,\
                "dryRun":true,"done":true}}

                """)
        #expect(server.requests.compactMap(Self.backfill).allSatisfy { $0.dryRun })
    }

    @Test func `a backfill that is interrupted can be gone on with`() async throws {
        let server = try ScriptedServer { request in
            guard let call = Self.backfill(request) else { return nil }
            // The second page never comes the first time.
            return call.pageToken.isEmpty
                ? Response(id: request.id, result: Self.page(["u-1"], next: "it's:2")) : nil
        }
        let directory = try TemporaryDirectory()
        let run = try ProgramRun(
            Programs.tool, ["backfill", "--from", "2026-03-01"], in: directory,
            environment: ["ENTITLECTL_ADDR": server.address])
        _ = try await eventually("the second page is asked for") {
            server.requests.count == 2 ? true : nil
        }
        run.send(SIGINT)
        #expect(try await run.waitForEnd() == .exit(130))
        #expect(run.output.contains("u-1"), "what was done is told")
        let calls = server.requests.compactMap(Self.backfill)
        let interval = "\(calls[0].fromMilliseconds):\(calls[0].toMilliseconds)"
        let resumption = "entitlectl backfill --resume '\(interval):all:it'\\''s:2'"
        #expect(run.errorOutput.contains(resumption), "\(run.errorOutput)")
        let other = try ScriptedServer { request in
            Response(id: request.id, result: Self.page([], next: ""))
        }
        let rest = try await other.tool(
            ["backfill", "--resume", "\(interval):all:it's:2"], in: directory)
        #expect(rest.end == .exit(0), "\(rest.errorOutput)")
        let resumed = try #require(other.requests.compactMap(Self.backfill).first)
        #expect(resumed == calls[1])
    }
}

extension ToolAppleTests {
    @Test func `pages that go round in a ring end a backfill`() async throws {
        let server = try ScriptedServer { request in
            guard let call = Self.backfill(request) else { return nil }
            let next: Text = call.pageToken == "a" ? "b" : "a"
            return Response(id: request.id, result: Self.page([], next: next))
        }
        let result = try await server.tool(
            ["backfill", "--from", "2026-03-01"], in: TemporaryDirectory())
        #expect(result.end != .exit(0))
        #expect(result.errorOutput.contains("ring"), "\(result.errorOutput)")
        #expect(server.requests.compactMap(Self.backfill).map(\.pageToken) == ["", "a", "b"])
    }

    @Test func `a test notification is waited for`() async throws {
        let askedCount = Atomic(0)
        let server = try ScriptedServer { request in
            var answer = Message.TestNotificationResponse()
            answer.token = "k"
            if askedCount.add(1, ordering: .relaxed).newValue > 2 {
                var attempt = Message.SendAttempt()
                attempt.result = "SUCCESS"
                answer.attempts = [attempt]
                answer.received = true
            }
            return Response(id: request.id, result: .testNotification(answer))
        }
        let result = try await server.tool(
            ["apple", "test-notification", "--wait", "1m"], in: TemporaryDirectory())
        #expect(result.end == .exit(0) && result.output.hasPrefix("received"))
        let tokens = server.requests.map { request -> Text in
            guard case .testNotification(let call) = request.call else { return "?" }
            return call.token
        }
        #expect(tokens == ["", "k", "k"])
    }

    @Test func `a test notification that does not arrive says what Apple met`() async throws {
        let server = try ScriptedServer { request in
            var answer = Message.TestNotificationResponse()
            answer.token = "k"
            var attempt = Message.SendAttempt()
            attempt.result = "TLS_ISSUE"
            answer.attempts = [attempt]
            return Response(id: request.id, result: .testNotification(answer))
        }
        let asked = try await server.tool(["apple", "test-notification"], in: TemporaryDirectory())
        #expect(asked.end == .exit(0) && asked.output.contains("certificate"))
        let waited = try await server.tool(
            ["apple", "test-notification", "--wait", "10ms"], in: TemporaryDirectory())
        #expect(waited.end == .exit(1))
    }

    @Test func `the state of the queue fits a look, and a program`() async throws {
        let server = try ScriptedServer { request in
            guard case .getReconciliation(let call) = request.call else { return nil }
            var state = Message.GetReconciliationResponse()
            state.appStoreAPIConfigured = true
            state.queued = 3
            let start = call.pageToken.isEmpty ? 0 : 2
            state.refreshes = (start..<min(3, start + min(2, Int(call.pageSize)))).map { index in
                var refresh = Message.QueuedRefresh()
                refresh.customerID = Text("u-\(index)")
                refresh.trigger = "REVOKE"
                return refresh
            }
            state.nextPageToken = start == 0 ? "2" : ""
            state.lastFailureReason = "APP_STORE_UNAUTHORIZED"
            state.lastFailureMessage = "the key is revoked"
            return Response(id: request.id, result: .getReconciliation(state))
        }
        let table = try await server.tool(["reconciliation"], in: TemporaryDirectory())
        #expect(table.end == .exit(0), "\(table.errorOutput)")
        #expect(table.output.contains("u-2") && table.output.contains("the key is revoked"))
        let cut = try await server.tool(
            ["reconciliation", "--limit", "1"], in: TemporaryDirectory())
        #expect(cut.output.contains("... and 2 more") && !cut.output.contains("u-1"))
        let json = try await server.tool(
            ["reconciliation", "--limit", "0", "--output", "json"], in: TemporaryDirectory())
        #expect(json.output.contains("\"queued\":3,\"refreshes\":[],"))
        #expect(json.output.contains("\"sweepFinishedAt\":null"))
    }
}
