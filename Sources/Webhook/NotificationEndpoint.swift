package import HTTP
package import Service
internal import Storage
package import Entitlements

/// `POST /apple/notifications`: takes what Apple posts, V2 and V1.
///
/// 200 is a promise: what was sent is on disk and visible, now or already before. After a 200 Apple
/// never sends it again; after everything else it does, up to five times within a week in
/// Production and never in Sandbox. So 4xx is only for what no attempt can make right, and 503 for
/// what somebody or something can put right in the meantime:
///
/// | status | reasons |
/// | --- | --- |
/// | 200 | stored, or stored already; whatever came of it |
/// | 400 | not Apple's, not whole, or of an app that is none of ours |
/// | 401 | a V1 body without the shared secret |
/// | 413 | too long; the listener answers it mostly |
/// | 500 | a record of the store is damaged: repeats may find it repaired |
/// | 503 | the store, the load, the end of the process; an environment that is not configured
/// (Apple signed it for our app, and a corrected configuration takes the repeat); renewal info
/// whose chain may still come |
///
/// See: https://developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications
package struct NotificationEndpoint: Sendable {
    /// Verifies and commits a body, and returns when it is durable and visible; blocking.
    package typealias Ingest = @Sendable ([UInt8]) -> Result<WriteReply, Refusal>

    private let ingest: Ingest

    /// An endpoint over what ingests.
    package init(ingest: @escaping Ingest) {
        self.ingest = ingest
    }

    /// Answers one POST; blocks until the notification is durable. The Content-Type is not looked
    /// at: the signature says more.
    package func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch ingest(request.body) {
        case .success(let reply): Self.response(to: reply)
        case .failure(let refusal): Self.response(to: refusal)
        }
    }

    private static func response(to reply: WriteReply) -> HTTPResponse {
        let name =
            if case .notification(let reply) = reply { Self.name(of: reply.disposition) } else {
                "APPLIED"
            }
        return HTTPResponse(
            status: 200, fields: [HTTPField("Content-Type", "application/json")],
            body: JSONText.object(["disposition": name]))
    }

    /// The word of the protocol for a disposition.
    package static func name(of disposition: Disposition) -> String {
        switch disposition {
        case .applied: "APPLIED"
        case .duplicate: "DUPLICATE"
        case .stale: "STALE"
        case .noEffect: "NO_EFFECT"
        case .storedUnknown: "STORED_UNKNOWN"
        }
    }

    /// The answer to what was not stored: status, reason and message; nothing of what was sent.
    package static func response(to refusal: Refusal) -> HTTPResponse {
        let status = status(of: refusal.reason)
        var fields = [HTTPField("Content-Type", "application/json")]
        if status == 503 {
            fields.append(HTTPField("Retry-After", "\(retryAfterSeconds(refusal))"))
        }
        if status == 401 {
            // RFC 9110 15.5.2 wants a challenge; this one names what the body must carry.
            fields.append(HTTPField("WWW-Authenticate", "SharedSecret"))
        }
        return HTTPResponse(
            status: status, fields: fields,
            body: JSONText.object(["reason": refusal.reason.rawValue, "message": refusal.message]))
    }

    private static func status(of reason: RefusalReason) -> Int {
        switch reason {
        case .malformedFrame, .invalidIdentifier, .invalidField, .mixedScope, .malformedPayload,
            .missingClaim, .wrongAlgorithm, .chainLength, .untrustedChain, .markerOIDMissing,
            .certificateExpired, .badSignature, .wrongApp:
            400
        case .v1Unauthenticated, .keyMissing, .keyUnknown, .keyExpired, .keyRevoked: 401
        case .roleMissing, .appNotAllowed: 403
        case .frameTooLarge: 413
        // None of them is an answer to a notification; and a mistake of ours is no fault of
        // Apple's, who must send again.
        case .unknownCall, .storeDamaged, .identityConflict, .unknownCustomer,
            .backupNotConfigured, .backupRunning, .backupExists, .unknownBackup, .backupFailed:
            500
        case .unknownScope, .wrongEnvironment, .renewalMismatch, .appStoreNotConfigured,
            .appStoreThrottled, .appStoreIncomplete, .appStoreUnauthorized, .draining,
            .storeUnavailable, .overloaded, .deadline, .revisionNotReached:
            503
        }
    }

    /// Whole seconds; an hour for what people have to put right.
    private static func retryAfterSeconds(_ refusal: Refusal) -> UInt64 {
        switch refusal.reason {
        case .unknownScope, .wrongEnvironment, .renewalMismatch, .appStoreNotConfigured,
            .appStoreUnauthorized:
            3_600
        default: max(1, refusal.retryAfterMilliseconds.dividedRoundingUp(by: 1_000))
        }
    }
}

extension UInt64 {
    fileprivate func dividedRoundingUp(by divisor: UInt64) -> UInt64 {
        self / divisor + (self % divisor == 0 ? 0 : 1)
    }
}
