internal import EntitledClient
internal import ToolSupport

/// `apple test-notification`: does what Apple sends arrive here?
enum TestNotificationCommand {
    /// Apple needs a second or two to send it.
    private static let pollInterval = Duration.seconds(1)

    static let command = Command(
        words: ["apple", "test-notification"], operands: [],
        flags: [
            .value("wait", "TIME", "wait so long for it to arrive, e.g. 30s [do not wait]"),
            .value("token", "TOKEN", "ask about one that was asked for before"),
        ],
        summary: "have Apple send a test notification, and see whether it arrives",
        details: [
            "Exit code 0 when it was asked for, or with --wait when it has arrived; 1 when it has",
            "not arrived in time.",
            "JSON: token, received, attempts (at, result); the results are Apple's words.",
        ],
        examples: [
            ("entitlectl apple test-notification --wait 30s", "is the way from Apple open?"),
            ("entitlectl apple test-notification --environment sandbox", "ask, do not wait"),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let wait = try waitingTime(invocation)
        let token = invocation.value("token") ?? ""
        let outcome = try await invocation.withClient { (client) throws(ClientError) in
            var outcome = try await client.testNotification(token: token)
            guard let wait else { return outcome }
            invocation.console.note("asked for; waiting for it to arrive")
            let end = ContinuousClock.now + wait
            while !outcome.isReceived, ContinuousClock.now < end {
                try await LongWork.sleep(pollInterval)
                let known = outcome.token
                outcome = try await LongWork.retrying("the test", invocation.console) {
                    () throws(ClientError) in try await client.testNotification(token: known)
                }
            }
            return outcome
        }
        if invocation.isJSON {
            invocation.console.print(json(outcome))
        } else {
            invocation.console.print(lines(outcome))
        }
        return wait == nil || outcome.isReceived ? .success : .failed
    }

    private static func waitingTime(_ invocation: Invocation) throws(CommandFailure) -> Duration? {
        guard let text = invocation.value("wait") else { return nil }
        guard let time = TimeSpan.parse(text) else {
            throw CommandFailure(
                .usage, "--wait: `\(text)` is no length of time such as 500ms, 30s or 2m")
        }
        return time
    }

    private static func lines(_ outcome: TestNotification) -> [Line] {
        var lines: [Line] = [
            outcome.isReceived
                ? Line("received", .good).adding("  it has reached this server")
                : Line("not received", .bad).adding("  it has not reached this server so far"),
            Line("token  ", .dim).adding(outcome.token),
        ]
        for attempt in outcome.attempts {
            lines.append(
                Line("Apple tried \(Instant.text(attempt.atMilliseconds)): \(attempt.result)")
                    .adding(Self.words(of: attempt.result), .dim))
        }
        if outcome.attempts.isEmpty { lines.append(Line("Apple reports no attempt so far")) }
        return lines
    }

    /// What Apple's word means for who looks after the way to the server.
    /// See: https://developer.apple.com/documentation/appstoreserverapi/sendattemptresult
    private static func words(of result: String) -> String {
        switch result {
        case "SUCCESS": ""
        case "TIMED_OUT": "  the server, or what stands before it, took too long"
        case "TLS_ISSUE": "  the certificate or TLS version of the URL is not to Apple's taste"
        case "CIRCULAR_REDIRECT": "  the URL redirects in a circle"
        case "NO_RESPONSE": "  nothing answered under the URL"
        case "SOCKET_ISSUE": "  the connection broke"
        case "UNSUPPORTED_CHARSET": "  the answer's character set is not supported"
        case "INVALID_RESPONSE": "  the answer was no HTTP"
        case "PREMATURE_CLOSE": "  the connection was closed before the answer"
        case "UNSUCCESSFUL_HTTP_RESPONSE_CODE": "  the answer was not 200 to 206"
        default: ""
        }
    }

    private static func json(_ outcome: TestNotification) -> JSONValue {
        .object([
            ("token", .string(outcome.token)), ("received", .boolean(outcome.isReceived)),
            (
                "attempts",
                .array(
                    outcome.attempts.map {
                        .object([
                            ("at", .instant($0.atMilliseconds)), ("result", .string($0.result)),
                        ])
                    })
            ),
        ])
    }
}
