/// Why a call has no result.
public enum ClientError: Error, Hashable, Sendable {
    /// The server answered, and it answered no.
    case refused(Refusal)
    /// The call's time was over. A write may or may not have been carried out.
    case deadlineExceeded
    /// The server could not be reached; the call never left. The text says what was tried.
    case connectionFailed(String)
    /// The connection ended before the answer came. A write may or may not have been carried out.
    case connectionLost
    /// The server sent what this release cannot take as an answer. The text says what.
    case protocolViolation(String)
    /// The request does not fit a frame; `byteCount` is its size where it is known, else 0.
    case requestTooLarge(byteCount: Int, limit: Int)
    /// The text given as an address is none. The text says why.
    case invalidAddress(String)
    /// A certificate or a key that the client was given cannot be used. The text says why.
    case invalidCredentials(String)
    /// The task that waited was cancelled. A write may or may not have been carried out.
    case cancelled
    /// The client was closed.
    case closed
}

extension ClientError: CustomStringConvertible {
    /// For people: what failed; never a payload or a token.
    public var description: String {
        switch self {
        case .refused(let refusal): refusal.description
        case .deadlineExceeded: "no answer came in time"
        case .connectionFailed(let message): "the server cannot be reached: \(message)"
        case .connectionLost: "the connection ended before the answer came"
        case .protocolViolation(let message): "the server's answer cannot be understood: \(message)"
        case .requestTooLarge(let byteCount, let limit) where byteCount > 0:
            "the request has \(byteCount) bytes; at most \(limit) are sent"
        case .requestTooLarge(_, let limit):
            "the request is too large; at most \(limit) bytes are sent"
        case .invalidAddress(let message): message
        case .invalidCredentials(let message): message
        case .cancelled: "the call was cancelled"
        case .closed: "the client is closed"
        }
    }
}

/// A server's *no* to a call. That a customer has no access is no refusal but an answer.
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// How it went, in gRPC's terms.
    public var status: StatusCode
    /// UPPER_SNAKE, for machines: `UNKNOWN_CUSTOMER`, `BAD_SIGNATURE`, ...
    public var reason: String
    /// What was wrong and what was expected, for people.
    public var message: String
    /// When to try again, in milliseconds from the answer on; 0 = nothing said.
    public var retryAfterMilliseconds: UInt64

    /// A refusal.
    public init(
        status: StatusCode, reason: String, message: String, retryAfterMilliseconds: UInt64 = 0
    ) {
        self.status = status
        self.reason = reason
        self.message = message
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    /// For people: message, status and reason.
    public var description: String {
        let codes = reason.isEmpty ? status.name : "\(status.name), \(reason)"
        return message.isEmpty ? codes : "\(message) (\(codes))"
    }
}
