/// gRPC's canonical status codes, with gRPC's numbers.
///
/// See: https://grpc.io/docs/guides/status-codes/
package enum StatusCode: Int32, Hashable, Sendable {
    case ok = 0
    case cancelled = 1
    case unknown = 2
    case invalidArgument = 3
    case deadlineExceeded = 4
    case notFound = 5
    case alreadyExists = 6
    case permissionDenied = 7
    case resourceExhausted = 8
    case failedPrecondition = 9
    case aborted = 10
    case outOfRange = 11
    case unimplemented = 12
    case `internal` = 13
    case unavailable = 14
    case dataLoss = 15
    case unauthenticated = 16
}

/// Why a call was refused, for machines; the raw values stand on the wire and never change.
package enum RefusalReason: String, Hashable, CaseIterable, Sendable {
    case malformedFrame = "MALFORMED_FRAME"
    case frameTooLarge = "FRAME_TOO_LARGE"
    case unknownCall = "UNKNOWN_CALL"
    case invalidIdentifier = "INVALID_IDENTIFIER"
    case invalidField = "INVALID_FIELD"
    case unknownScope = "UNKNOWN_SCOPE"
    case mixedScope = "MIXED_SCOPE"
    case malformedPayload = "MALFORMED_PAYLOAD"
    case missingClaim = "MISSING_CLAIM"
    case wrongAlgorithm = "WRONG_ALGORITHM"
    case chainLength = "CHAIN_LENGTH"
    case untrustedChain = "UNTRUSTED_CHAIN"
    case markerOIDMissing = "MARKER_OID_MISSING"
    case certificateExpired = "CERTIFICATE_EXPIRED"
    case badSignature = "BAD_SIGNATURE"
    case wrongApp = "WRONG_APP"
    case wrongEnvironment = "WRONG_ENVIRONMENT"
    case renewalMismatch = "RENEWAL_MISMATCH"
    case identityConflict = "IDENTITY_CONFLICT"
    case unknownCustomer = "UNKNOWN_CUSTOMER"
    case appStoreNotConfigured = "APP_STORE_NOT_CONFIGURED"
    case appStoreThrottled = "APP_STORE_THROTTLED"
    case appStoreIncomplete = "APP_STORE_INCOMPLETE"
    case appStoreUnauthorized = "APP_STORE_UNAUTHORIZED"
    case v1Unauthenticated = "V1_UNAUTHENTICATED"
    case draining = "DRAINING"
    case storeUnavailable = "STORE_UNAVAILABLE"
    case storeDamaged = "STORE_DAMAGED"
    case overloaded = "OVERLOADED"
    case deadline = "DEADLINE"
    case revisionNotReached = "REVISION_NOT_REACHED"
    case keyMissing = "KEY_MISSING"
    case keyUnknown = "KEY_UNKNOWN"
    case keyExpired = "KEY_EXPIRED"
    case keyRevoked = "KEY_REVOKED"
    case roleMissing = "ROLE_MISSING"
    case appNotAllowed = "APP_NOT_ALLOWED"
    case backupNotConfigured = "BACKUP_NOT_CONFIGURED"
    case backupRunning = "BACKUP_RUNNING"
    case backupExists = "BACKUP_EXISTS"
    case unknownBackup = "UNKNOWN_BACKUP"
    case backupFailed = "BACKUP_FAILED"

    /// The status that goes with it.
    package var status: StatusCode {
        switch self {
        case .unknownCall: .unimplemented
        case .identityConflict, .appStoreNotConfigured, .appStoreUnauthorized,
            .backupNotConfigured, .backupRunning:
            .failedPrecondition
        case .unknownCustomer, .unknownBackup: .notFound
        case .backupExists: .alreadyExists
        case .backupFailed: .internal
        case .v1Unauthenticated, .keyMissing, .keyUnknown, .keyExpired, .keyRevoked:
            .unauthenticated
        case .roleMissing, .appNotAllowed: .permissionDenied
        case .draining, .storeUnavailable, .appStoreThrottled, .appStoreIncomplete: .unavailable
        case .storeDamaged: .dataLoss
        case .overloaded: .resourceExhausted
        case .deadline, .revisionNotReached: .deadlineExceeded
        default: .invalidArgument
        }
    }

    /// Whether it is about who calls, and not about what is asked.
    package var isAboutCaller: Bool {
        switch self {
        case .keyMissing, .keyUnknown, .keyExpired, .keyRevoked, .roleMissing, .appNotAllowed: true
        default: false
        }
    }
}

/// A call that was not carried out: nothing of it was stored.
package struct Refusal: Error, Hashable, Sendable {
    /// Why, for machines.
    package let reason: RefusalReason
    /// What was wrong and what was expected, for people; never a payload, token or key.
    package let message: String
    /// How long to wait before trying again, in milliseconds; 0 when trying again does not help.
    package let retryAfterMilliseconds: UInt64

    /// A refusal.
    package init(_ reason: RefusalReason, _ message: String, retryAfterMilliseconds: UInt64 = 0) {
        self.reason = reason
        self.message = message
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    /// The status that goes with the reason.
    package var status: StatusCode { reason.status }
}
