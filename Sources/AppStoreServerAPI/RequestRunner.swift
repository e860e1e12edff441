internal import AppStore
internal import Entitlements
internal import HTTP
internal import OpenSSL

/// Puts one question to Apple's servers and stays with it until there is an answer, an error that
/// asking again does not cure, or no time left.
///
/// ```
/// budget -> token -> send -> 2xx        done
///    ^                       401        a new token, once; then unauthorized
///    |<---- pause ---------- 429        until Apple's instant, else our own back-off
///    |<---- back-off ------- 5xx, network, "retryable"
///                            the rest   an error
/// ```
struct RequestRunner: Sendable {
    let tokens: TokenStore
    let budget: RateBudget
    let configuration: AppStoreServerConfiguration
    let surroundings: AppStoreServerSurroundings
    let onRequest: @Sendable (RequestRecord) -> Void

    /// Asks, with repeats.
    ///
    /// - Parameters:
    ///   - question: What to ask.
    ///   - deadline: A wait that would pass it is not begun.
    /// - Returns: The object in the body.
    /// - Throws: what asking again does not cure, or not in time.
    func answer(
        to question: AppStoreQuestion, deadline: Timestamp
    ) throws(AppStoreServerError) -> JSONObject {
        var attempts = Attempts()
        while true {
            let throttled = try waitForBudget(of: question, deadline: deadline)
            let token = try token(for: question)
            let answer = try send(
                question, token, deadline: deadline, throttledMilliseconds: throttled)
            let key = RateBudget.Key(question)
            if case .throttled = answer.meaning {} else { budget.answered(key) }
            switch answer.meaning {
            case .object(let object): return object
            case .unauthorized:
                tokens.discard(token, for: question.scope.bundleID)
                guard !attempts.hasNewToken else {
                    throw .unauthorized(unauthorized(question, answer.fields))
                }
                attempts.hasNewToken = true
            case .throttled:
                try pause(key, answer.fields, &attempts, deadline: deadline)
            case .retryable(let message):
                try backOff(message, &attempts, deadline: deadline)
            case .failed(let message):
                throw .unavailable(
                    message: message,
                    retryAt: surroundings.now().adding(milliseconds: Backoff.mostMilliseconds))
            case .final(let error): throw error
            }
        }
    }

    private struct Attempts {
        var failureCount = 0
        var hasNewToken = false
    }

    private struct Answer {
        var meaning: AppStoreAnswer
        var fields: [HTTPField]
    }

    /// Waits for a place in the budget.
    ///
    /// - Returns: How long that took, in milliseconds.
    private func waitForBudget(
        of question: AppStoreQuestion, deadline: Timestamp
    ) throws(AppStoreServerError) -> Int64 {
        let key = RateBudget.Key(question)
        var waited: Int64 = 0
        while true {
            let now = surroundings.now()
            guard let instant = budget.take(key, at: now) else { return waited }
            guard instant < deadline else { throw .throttled(until: instant) }
            let wait = max(1, milliseconds(from: now, to: instant))
            guard surroundings.sleep(wait) else { throw stopped() }
            waited += wait
        }
    }

    private func token(for question: AppStoreQuestion) throws(AppStoreServerError) -> APIToken {
        do throws(OpenSSLError) {
            return try tokens.token(for: question.scope.bundleID, at: surroundings.now())
        } catch {
            throw .unauthorized("a token cannot be signed with the key: \(error)")
        }
    }

    private func send(
        _ question: AppStoreQuestion, _ token: APIToken, deadline: Timestamp,
        throttledMilliseconds: Int64
    ) throws(AppStoreServerError) -> Answer {
        let left = milliseconds(from: surroundings.now(), to: deadline)
        guard left > 0 else {
            throw .unavailable(
                message: "\(question.endpoint.title): no time was left to ask",
                retryAt: surroundings.now())
        }
        let request = question.request(
            baseURL: configuration.baseURL(of: question.scope.environment), token: token.text)
        let start = ContinuousClock.now
        var record = RequestRecord(
            endpoint: question.endpoint, environment: question.scope.environment,
            statusClass: .unreachable, durationMilliseconds: 0,
            throttledMilliseconds: throttledMilliseconds)
        defer {
            record.durationMilliseconds = (ContinuousClock.now - start).wholeMilliseconds
            onRequest(record)
        }
        do throws(SendFailure) {
            let response = try surroundings.send(
                request, min(left, configuration.requestTimeoutMilliseconds))
            record.statusClass = .init(status: response.status)
            return Answer(
                meaning: AppStoreAnswer(response, to: question.endpoint), fields: response.fields)
        } catch {
            return Answer(meaning: try meaning(of: error, question), fields: [])
        }
    }

    private func meaning(
        of failure: SendFailure, _ question: AppStoreQuestion
    ) throws(AppStoreServerError) -> AppStoreAnswer {
        let title = question.endpoint.title
        switch failure {
        case .unreachable(let message, mayRetryHelp: true):
            return .retryable("\(title): \(message)")
        case .unreachable(let message, mayRetryHelp: false):
            return .failed("\(title): \(message)")
        case .unusable(let message): return .final(.malformed("\(title): \(message)"))
        case .cancelled: throw stopped()
        }
    }

    /// Pauses the bucket after a 429; the wait itself is the budget's.
    private func pause(
        _ key: RateBudget.Key, _ fields: [HTTPField], _ attempts: inout Attempts,
        deadline: Timestamp
    ) throws(AppStoreServerError) {
        let now = surroundings.now()
        let until = budget.refused(
            key, until: RetryAfter.instant(fields, at: now), at: now,
            fraction: surroundings.fraction())
        attempts.failureCount += 1
        guard attempts.failureCount < configuration.attemptCountMax, until < deadline else {
            throw .throttled(until: until)
        }
    }

    private func backOff(
        _ message: String, _ attempts: inout Attempts, deadline: Timestamp
    ) throws(AppStoreServerError) {
        let wait = Backoff.milliseconds(
            after: attempts.failureCount, fraction: surroundings.fraction())
        let instant = surroundings.now().adding(milliseconds: wait)
        attempts.failureCount += 1
        guard attempts.failureCount < configuration.attemptCountMax, instant < deadline else {
            throw .unavailable(message: message, retryAt: instant)
        }
        guard surroundings.sleep(wait) else { throw stopped() }
    }

    private func stopped() -> AppStoreServerError {
        .unavailable(message: "the server is stopping", retryAt: surroundings.now())
    }

    /// What to check after a 401: Apple gives no reason.
    private func unauthorized(_ question: AppStoreQuestion, _ fields: [HTTPField]) -> String {
        let scope = question.scope
        let key = tokens.key
        var text =
            "Apple does not accept our token for \(scope.bundleID) in \(scope.environment.name): "
            + "check apple.api.keyId (\(key.keyID)) and apple.api.issuerId "
            + "(\(key.issuerID)), that the key is an In-App Purchase key of this app's team and "
            + "has not been revoked, and the bundle id"
        text += "; " + clockComparison(fields)
        if scope.environment == .production {
            text += "; for an app that was never released Apple answers so in Production"
        }
        return text
    }

    /// How our clock compares with the `Date` of a response, which has whole seconds.
    private func clockComparison(_ fields: [HTTPField]) -> String {
        guard let date = fields.value("Date").flatMap(HTTPDate.instant) else {
            return "check this machine's clock"
        }
        let ahead = milliseconds(from: date, to: surroundings.now()) / 1_000
        if ahead > 5 { return "our clock is \(ahead) s ahead of Apple's: set it" }
        if ahead < -5 { return "our clock is \(-ahead) s behind Apple's: set it" }
        return "our clock agrees with Apple's"
    }
}

extension Duration {
    /// Whole milliseconds, floored.
    var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
