internal import Service
internal import Wire

extension Refusal {
    /// Bytes that are no frame, or no message, or too much of one.
    init(_ error: WireError) {
        switch error {
        case .emptyFrame, .malformedMessage: self.init(.malformedFrame, "\(error)")
        case .frameTooLarge: self.init(.frameTooLarge, "\(error)")
        case .messageTooComplex: self.init(.invalidField, "\(error)")
        }
    }

    /// The server is going down.
    static let draining = Refusal(
        .draining, "this server is shutting down; use another connection",
        retryAfterMilliseconds: 1000)
    /// A call of a later release, or none.
    static let unknownCall = Refusal(.unknownCall, "the request carries no call known here")
    /// Too much is waiting on this connection.
    static let tooManyInFlight = Refusal(
        .overloaded, "too many requests are in flight on this connection",
        retryAfterMilliseconds: 100)
    /// The client stopped waiting.
    static let deadline = Refusal(.deadline, "the deadline came before the call was begun")
    /// An app or environment that is not configured here.
    static let unknownScope = Refusal(
        .unknownScope, "this app and environment are not configured on this server")
    static let invalidCustomer = invalidIdentifier("customer")
    static let missingSubject = Refusal(
        .invalidField, "neither product_id nor entitlement is given")
    static let invalidSubject = invalidIdentifier("product_id or entitlement")
    static let negativeInstant = Refusal(.invalidField, "at_ms is negative")
    static let emptyInterval = Refusal(.invalidField, "from_ms is not before to_ms")
    /// Nobody here can ask Apple.
    static let appStoreNotConfigured = Refusal(
        .appStoreNotConfigured, "the App Store Server API is not configured on this server")

    /// An identifier that is none.
    static func invalidIdentifier(_ field: String) -> Refusal {
        Refusal(.invalidIdentifier, "\(field) is not UTF-8 text of 1 to 128 bytes")
    }

    /// More checks than a batch may have.
    static func batchTooLarge(_ limits: Limits) -> Refusal {
        Refusal(.invalidField, "a batch has at most \(limits.batchCountMax) checks")
    }

    /// An answer that no frame can carry.
    static func answerTooLarge(_ limits: Limits) -> Refusal {
        Refusal(
            .overloaded, "the answer does not fit a frame of \(limits.frameByteCountMax) bytes")
    }

    /// The revision that a check waits for did not come.
    static func revisionNotReached(_ revision: UInt64) -> Refusal {
        Refusal(.revisionNotReached, "revision \(revision) was not reached before the deadline")
    }

    /// A frame that does not end.
    static func frameDeadline(_ limits: Limits) -> Refusal {
        Refusal(.deadline, "a frame was not whole within \(limits.frameMillisecondsMax) ms")
    }
}
