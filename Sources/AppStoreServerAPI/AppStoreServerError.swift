package import AppStore
package import Entitlements

/// Why Apple's servers did not answer as asked.
package enum AppStoreServerError: Error, Hashable, Sendable {
    /// Too many requests, by Apple's word (429) or by our own budget.
    case throttled(until: Timestamp)
    /// The credentials are not accepted: key revoked, wrong issuer or app, clock off; the message
    /// says what to do.
    case unauthorized(String)
    /// Apple does not know what was asked for, in the environment that was asked.
    case notFound(code: Int64, message: String)
    /// Apple refuses the request for good.
    case rejected(code: Int64, message: String)
    /// Network, time-out, 5xx or an error that Apple calls retryable.
    case unavailable(message: String, retryAt: Timestamp)
    /// The answer is not what Apple documents.
    case malformed(String)
}

extension AppStoreServerError {
    /// One sentence for people; never a token or a payload.
    package var message: String {
        switch self {
        case .throttled(let until):
            "Apple's rate limit, or our budget below it, is used up until "
                + "\(until.milliseconds) (milliseconds since 1970)"
        case .unauthorized(let message), .notFound(_, let message), .rejected(_, let message),
            .unavailable(let message, _), .malformed(let message):
            message
        }
    }

    /// When to try again, where that may help and somebody knows.
    package var retryAt: Timestamp? {
        switch self {
        case .throttled(let until): until
        case .unavailable(_, let retryAt): retryAt
        case .unauthorized, .notFound, .rejected, .malformed: nil
        }
    }
}

/// A fetch that broke off: what had been read and verified by then is not lost.
package struct HistoryFailure: Error, Hashable, Sendable {
    /// What went wrong.
    package var error: AppStoreServerError
    /// What was read before.
    package var partial: AppleHistory

    /// A failure.
    package init(error: AppStoreServerError, partial: AppleHistory) {
        self.error = error
        self.partial = partial
    }
}
