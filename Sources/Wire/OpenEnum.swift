/// An enum of the wire contract: a number, and a name where this release knows one.
///
/// A number that another release sent is kept as it is.
package protocol OpenEnum: RawRepresentable, Hashable, Sendable, CustomStringConvertible
where RawValue == Int32 {
    /// The value with this number, known or not.
    init(rawValue: Int32)

    /// The names known to this release, without the enum's prefix, by number.
    static var names: [Int32: String] { get }
}

extension OpenEnum {
    /// The name without its enum's prefix (`ACTIVE` of `REASON_ACTIVE`); nil where it is unknown.
    package var name: String? { Self.names[rawValue] }

    /// For people: the name, or the number.
    package var description: String { name ?? String(rawValue) }
}

extension Message {
    /// gRPC's canonical status codes.
    package struct Status: OpenEnum {
        /// The number on the wire.
        package let rawValue: Int32

        /// The value with this number, known or not.
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// OK
        package static let ok = Status(rawValue: 0)
        /// CANCELLED
        package static let cancelled = Status(rawValue: 1)
        /// UNKNOWN
        package static let unknown = Status(rawValue: 2)
        /// INVALID_ARGUMENT
        package static let invalidArgument = Status(rawValue: 3)
        /// DEADLINE_EXCEEDED
        package static let deadlineExceeded = Status(rawValue: 4)
        /// NOT_FOUND
        package static let notFound = Status(rawValue: 5)
        /// ALREADY_EXISTS
        package static let alreadyExists = Status(rawValue: 6)
        /// PERMISSION_DENIED
        package static let permissionDenied = Status(rawValue: 7)
        /// RESOURCE_EXHAUSTED
        package static let resourceExhausted = Status(rawValue: 8)
        /// FAILED_PRECONDITION
        package static let failedPrecondition = Status(rawValue: 9)
        /// ABORTED
        package static let aborted = Status(rawValue: 10)
        /// OUT_OF_RANGE
        package static let outOfRange = Status(rawValue: 11)
        /// UNIMPLEMENTED
        package static let unimplemented = Status(rawValue: 12)
        /// INTERNAL
        package static let internalError = Status(rawValue: 13)
        /// UNAVAILABLE
        package static let unavailable = Status(rawValue: 14)
        /// DATA_LOSS
        package static let dataLoss = Status(rawValue: 15)
        /// UNAUTHENTICATED
        package static let unauthenticated = Status(rawValue: 16)

        /// The names known to this release, by number.
        package static let names: [Int32: String] = [
            0: "OK",
            1: "CANCELLED",
            2: "UNKNOWN",
            3: "INVALID_ARGUMENT",
            4: "DEADLINE_EXCEEDED",
            5: "NOT_FOUND",
            6: "ALREADY_EXISTS",
            7: "PERMISSION_DENIED",
            8: "RESOURCE_EXHAUSTED",
            9: "FAILED_PRECONDITION",
            10: "ABORTED",
            11: "OUT_OF_RANGE",
            12: "UNIMPLEMENTED",
            13: "INTERNAL",
            14: "UNAVAILABLE",
            15: "DATA_LOSS",
            16: "UNAUTHENTICATED",
        ]
    }

    /// Apple's environments; unspecified counts as Production.
    package struct Environment: OpenEnum {
        /// The number on the wire.
        package let rawValue: Int32

        /// The value with this number, known or not.
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// UNSPECIFIED
        package static let unspecified = Environment(rawValue: 0)
        /// PRODUCTION
        package static let production = Environment(rawValue: 1)
        /// SANDBOX
        package static let sandbox = Environment(rawValue: 2)

        /// The names known to this release, by number.
        package static let names: [Int32: String] = [
            0: "UNSPECIFIED",
            1: "PRODUCTION",
            2: "SANDBOX",
        ]
    }

    /// How a transaction came to its customer.
    package struct Ownership: OpenEnum {
        /// The number on the wire.
        package let rawValue: Int32

        /// The value with this number, known or not.
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// UNSPECIFIED
        package static let unspecified = Ownership(rawValue: 0)
        /// PURCHASED
        package static let purchased = Ownership(rawValue: 1)
        /// FAMILY_SHARED
        package static let familyShared = Ownership(rawValue: 2)
        /// ASSIGNED
        package static let assigned = Ownership(rawValue: 3)
        /// OTHER
        package static let other = Ownership(rawValue: 4)

        /// The names known to this release, by number.
        package static let names: [Int32: String] = [
            0: "UNSPECIFIED",
            1: "PURCHASED",
            2: "FAMILY_SHARED",
            3: "ASSIGNED",
            4: "OTHER",
        ]
    }

    /// Why access is granted (below 10) or not (10 and above).
    package struct Reason: OpenEnum {
        /// The number on the wire.
        package let rawValue: Int32

        /// The value with this number, known or not.
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// UNSPECIFIED
        package static let unspecified = Reason(rawValue: 0)
        /// ACTIVE
        package static let active = Reason(rawValue: 1)
        /// GRACE_PERIOD
        package static let gracePeriod = Reason(rawValue: 2)
        /// UNKNOWN_CUSTOMER
        package static let unknownCustomer = Reason(rawValue: 10)
        /// NO_PURCHASE
        package static let noPurchase = Reason(rawValue: 11)
        /// EXPIRED
        package static let expired = Reason(rawValue: 12)
        /// BILLING_RETRY
        package static let billingRetry = Reason(rawValue: 13)
        /// UPGRADED
        package static let upgraded = Reason(rawValue: 14)
        /// REFUNDED
        package static let refunded = Reason(rawValue: 15)
        /// FAMILY_REFUNDED
        package static let familyRefunded = Reason(rawValue: 16)
        /// FAMILY_LEFT
        package static let familyLeft = Reason(rawValue: 17)
        /// FAMILY_SUSPENDED
        package static let familySuspended = Reason(rawValue: 18)
        /// NOT_STARTED
        package static let notStarted = Reason(rawValue: 19)
        /// NOT_SHAREABLE
        package static let notShareable = Reason(rawValue: 20)
        /// CONSUMABLE
        package static let consumable = Reason(rawValue: 21)
        /// INCOMPLETE
        package static let incomplete = Reason(rawValue: 22)
        /// ASSIGNMENT_ENDED
        package static let assignmentEnded = Reason(rawValue: 23)

        /// The names known to this release, by number.
        package static let names: [Int32: String] = [
            0: "UNSPECIFIED",
            1: "ACTIVE",
            2: "GRACE_PERIOD",
            10: "UNKNOWN_CUSTOMER",
            11: "NO_PURCHASE",
            12: "EXPIRED",
            13: "BILLING_RETRY",
            14: "UPGRADED",
            15: "REFUNDED",
            16: "FAMILY_REFUNDED",
            17: "FAMILY_LEFT",
            18: "FAMILY_SUSPENDED",
            19: "NOT_STARTED",
            20: "NOT_SHAREABLE",
            21: "CONSUMABLE",
            22: "INCOMPLETE",
            23: "ASSIGNMENT_ENDED",
        ]
    }

    /// What became of a notification.
    package struct Disposition: OpenEnum {
        /// The number on the wire.
        package let rawValue: Int32

        /// The value with this number, known or not.
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// UNSPECIFIED
        package static let unspecified = Disposition(rawValue: 0)
        /// APPLIED
        package static let applied = Disposition(rawValue: 1)
        /// DUPLICATE
        package static let duplicate = Disposition(rawValue: 2)
        /// STALE
        package static let stale = Disposition(rawValue: 3)
        /// NO_EFFECT
        package static let noEffect = Disposition(rawValue: 4)
        /// STORED_UNKNOWN
        package static let storedUnknown = Disposition(rawValue: 5)

        /// The names known to this release, by number.
        package static let names: [Int32: String] = [
            0: "UNSPECIFIED",
            1: "APPLIED",
            2: "DUPLICATE",
            3: "STALE",
            4: "NO_EFFECT",
            5: "STORED_UNKNOWN",
        ]
    }

    /// Where a rebuild reads the history.
    package struct Source: OpenEnum {
        /// The number on the wire.
        package let rawValue: Int32

        /// The value with this number, known or not.
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// UNSPECIFIED
        package static let unspecified = Source(rawValue: 0)
        /// STORED_FACTS
        package static let storedFacts = Source(rawValue: 1)
        /// APP_STORE
        package static let appStore = Source(rawValue: 2)

        /// The names known to this release, by number.
        package static let names: [Int32: String] = [
            0: "UNSPECIFIED",
            1: "STORED_FACTS",
            2: "APP_STORE",
        ]
    }

    /// How sure it is that a family copy came from a purchase.
    package struct Confidence: OpenEnum {
        /// The number on the wire.
        package let rawValue: Int32

        /// The value with this number, known or not.
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// UNSPECIFIED
        package static let unspecified = Confidence(rawValue: 0)
        /// AMBIGUOUS
        package static let ambiguous = Confidence(rawValue: 1)
        /// LIKELY
        package static let likely = Confidence(rawValue: 2)
        /// STRONG
        package static let strong = Confidence(rawValue: 3)
        /// DECLARED
        package static let declared = Confidence(rawValue: 4)

        /// The names known to this release, by number.
        package static let names: [Int32: String] = [
            0: "UNSPECIFIED",
            1: "AMBIGUOUS",
            2: "LIKELY",
            3: "STRONG",
            4: "DECLARED",
        ]
    }
}
