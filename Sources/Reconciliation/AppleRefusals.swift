internal import AppStore
internal import AppStoreServerAPI
internal import Entitlements
internal import Service

extension Refusal {
    /// Why Apple did not answer, as a client is told it; `retry_after_ms` counts from `now`.
    init(_ error: AppStoreServerError, at now: Timestamp) {
        switch error {
        case .throttled(let until):
            self.init(
                .appStoreThrottled, error.message, retryAfterMilliseconds: Self.wait(until, now))
        case .unavailable(_, let retryAt):
            self.init(
                .appStoreIncomplete, error.message, retryAfterMilliseconds: Self.wait(retryAt, now))
        case .malformed:
            // A page of a proxy, an answer cut short: it may be whole the next time.
            self.init(.appStoreIncomplete, error.message, retryAfterMilliseconds: 60_000)
        case .unauthorized:
            self.init(.appStoreUnauthorized, error.message)
        case .notFound(let code, _), .rejected(let code, _):
            guard !Self.badQuestions.contains(code) else {
                self.init(.invalidField, error.message)
                return
            }
            // UNAVAILABLE without a time reads as "try again now", and asking again soon does not
            // help here.
            self.init(
                .appStoreIncomplete, error.message,
                retryAfterMilliseconds: Self.hopelessWaitMilliseconds)
        }
    }

    /// Dates, page tokens and test tokens that Apple does not take: they came from the caller.
    ///
    /// See: https://developer.apple.com/documentation/appstoreserverapi/error-codes
    private static let badQuestions: Set<Int64> = [
        4_000_012, 4_000_013, 4_000_014, 4_000_015, 4_000_016, 4_000_017, 4_000_020, 4_040_008,
    ]

    /// For an answer of Apple's that will be the same for long.
    private static let hopelessWaitMilliseconds: UInt64 = 3_600_000

    private static func wait(_ instant: Timestamp, _ now: Timestamp) -> UInt64 {
        let (milliseconds, overflow) = instant.milliseconds.subtractingReportingOverflow(
            now.milliseconds)
        return overflow ? 1 : UInt64(max(1, milliseconds))
    }

    /// An item of Apple's that was not believed.
    init(_ problem: AppleHistory.Problem) {
        let reason = RefusalReason(rawValue: problem.error.reason) ?? .malformedPayload
        self.init(reason, "\(problem.place): \(problem.error.message)")
    }

    /// The server is going down.
    static let givingUp = Refusal(
        .draining, "this server is shutting down; use another one",
        retryAfterMilliseconds: 1_000)

    /// Whether the server's own state refused it, so that the same may be taken later.
    var isPassing: Bool {
        switch reason {
        case .draining, .storeUnavailable, .overloaded, .deadline: true
        default: false
        }
    }
}
