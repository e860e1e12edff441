internal import Entitlements
internal import HTTP
package import Service
package import Storage

/// The closed lists of label values: what a scraper has seen once it sees from the start.
package enum MetricsLabels {
    /// Why a call was refused before it was begun.
    /// Which limit closed a connection.
    package static let closures = ["connections", "peer", "memory"]
    /// How a TLS handshake ended.
    package static let handshakes = ["ok", "failed"]
    package static let rejections = ["deadline", "overload", "frame_size", "auth", "draining"]
    /// What came of checking a signature.
    package static let verifications = [
        "ok", "bad_signature", "bad_chain", "expired", "unreachable",
    ]
    /// Why access was revoked.
    package static let causes = ["refund", "refund_prorated", "family_leave", "unknown"]
    /// What asked for a rebuild.
    package static let triggers = RefreshTrigger.allCases.map { trigger(of: $0) }
    /// What came of a rebuild.
    package static let rebuildResults = ["succeeded", "failed"]
    /// How a rebuild flipped an answer; "none": it flipped none.
    package static let directions = ["granted", "revoked", "none"]
    /// The status classes of Apple's responses, and "error" for none.
    package static let statusClasses = ["2xx", "3xx", "4xx", "5xx", "error"]
    /// The types of notifications in both versions, in order.
    package static let notificationTypes =
        Notification.types.union(v1Types).sorted() + [otherType]

    /// What every unknown type counts as: its name is a stranger's to choose.
    package static let otherType = "other"

    /// V1's types that V2 does not have.
    private static let v1Types: Set<String> = [
        "INITIAL_BUY", "INTERACTIVE_RENEWAL", "DID_RECOVER", "CANCEL", "PRICE_INCREASE_CONSENT",
        "RENEWAL",
    ]

    /// Apple's name where it is on the list, else "other".
    package static func notificationType(_ type: String) -> String {
        known.contains(type) ? type : otherType
    }

    private static let known = Set(notificationTypes)

    /// The name of what asked for a rebuild, in lower case: "family_refund".
    package static func trigger(of trigger: RefreshTrigger) -> String {
        trigger.rawValue.lowercased()
    }

    /// The class of a status: 404 -> "4xx".
    package static func statusClass(_ status: Int) -> String {
        (100..<600).contains(status) ? "\(status / 100)xx" : "error"
    }

    /// What a refused notification counts as.
    package static func outcome(of refusal: Refusal) -> MetricsSnapshot.Ingest.Outcome {
        NotificationEndpoint.response(to: refusal).status < 500 ? .rejected : .deferred
    }

    /// What the signature's part in a refusal counts as; nil when the signature was not at fault.
    package static func verification(of reason: RefusalReason) -> String? {
        switch reason {
        case .badSignature, .wrongAlgorithm: "bad_signature"
        case .chainLength, .untrustedChain, .markerOIDMissing: "bad_chain"
        case .certificateExpired: "expired"
        default: nil
        }
    }

    /// A reason in lower case, as labels have it: "family_left".
    static func name(of reason: AccessReason) -> String {
        switch reason {
        case .unspecified: "unspecified"
        case .active: "active"
        case .gracePeriod: "grace_period"
        case .unknownCustomer: "unknown_customer"
        case .noPurchase: "no_purchase"
        case .expired: "expired"
        case .billingRetry: "billing_retry"
        case .upgraded: "upgraded"
        case .refunded: "refunded"
        case .familyRefunded: "family_refunded"
        case .familyLeft: "family_left"
        case .familySuspended: "family_suspended"
        case .notStarted: "not_started"
        case .notShareable: "not_shareable"
        case .consumable: "consumable"
        case .incomplete: "incomplete"
        case .assignmentEnded: "assignment_ended"
        }
    }

    /// The reasons for a *no*.
    static let denials = AccessReason.allCases.filter { !$0.isGranted && $0 != .unspecified }
}
