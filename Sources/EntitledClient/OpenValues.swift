internal import Wire

// Numbers with names. A server newer than this library may send a number without one: it is kept
// and shown as it is, so none of these is an enum. `switch` with `default` works on them.

/// gRPC's canonical status codes.
public struct StatusCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: Int32

    /// The status with this number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// OK
    public static let ok = StatusCode(rawValue: 0)
    /// CANCELLED
    public static let cancelled = StatusCode(rawValue: 1)
    /// UNKNOWN
    public static let unknown = StatusCode(rawValue: 2)
    /// INVALID_ARGUMENT
    public static let invalidArgument = StatusCode(rawValue: 3)
    /// DEADLINE_EXCEEDED
    public static let deadlineExceeded = StatusCode(rawValue: 4)
    /// NOT_FOUND
    public static let notFound = StatusCode(rawValue: 5)
    /// ALREADY_EXISTS
    public static let alreadyExists = StatusCode(rawValue: 6)
    /// PERMISSION_DENIED
    public static let permissionDenied = StatusCode(rawValue: 7)
    /// RESOURCE_EXHAUSTED
    public static let resourceExhausted = StatusCode(rawValue: 8)
    /// FAILED_PRECONDITION
    public static let failedPrecondition = StatusCode(rawValue: 9)
    /// ABORTED
    public static let aborted = StatusCode(rawValue: 10)
    /// OUT_OF_RANGE
    public static let outOfRange = StatusCode(rawValue: 11)
    /// UNIMPLEMENTED
    public static let unimplemented = StatusCode(rawValue: 12)
    /// INTERNAL
    public static let internalError = StatusCode(rawValue: 13)
    /// UNAVAILABLE
    public static let unavailable = StatusCode(rawValue: 14)
    /// DATA_LOSS
    public static let dataLoss = StatusCode(rawValue: 15)
    /// UNAUTHENTICATED
    public static let unauthenticated = StatusCode(rawValue: 16)

    /// gRPC's name, or the number where there is none.
    public var name: String { Message.Status(rawValue: rawValue).description }

    /// The name.
    public var description: String { name }
}

/// Why access is granted (below 10) or not (10 and above).
public struct AccessReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: Int32

    /// The reason with this number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No reason was given.
    public static let unspecified = AccessReason(rawValue: 0)
    /// Paid for and running.
    public static let active = AccessReason(rawValue: 1)
    /// Unpaid, and Apple asks to go on while it tries to collect.
    public static let gracePeriod = AccessReason(rawValue: 2)
    /// Nothing is known under that name.
    public static let unknownCustomer = AccessReason(rawValue: 10)
    /// The customer has no transaction of the product.
    public static let noPurchase = AccessReason(rawValue: 11)
    /// The paid time is over.
    public static let expired = AccessReason(rawValue: 12)
    /// The paid time is over and Apple goes on trying to collect, without grace.
    public static let billingRetry = AccessReason(rawValue: 13)
    /// Replaced by another product of its subscription group.
    public static let upgraded = AccessReason(rawValue: 14)
    /// The customer's own payment went back.
    public static let refunded = AccessReason(rawValue: 15)
    /// The payment of the person who shared it went back.
    public static let familyRefunded = AccessReason(rawValue: 16)
    /// The product is no longer shared with the customer; no payment went back.
    public static let familyLeft = AccessReason(rawValue: 17)
    /// The purchase of the declared household was refunded.
    public static let familySuspended = AccessReason(rawValue: 18)
    /// The purchase begins later.
    public static let notStarted = AccessReason(rawValue: 19)
    /// A family copy of a product that cannot be shared.
    public static let notShareable = AccessReason(rawValue: 20)
    /// Consumables never grant.
    public static let consumable = AccessReason(rawValue: 21)
    /// The signed data lack what a verdict needs.
    public static let incomplete = AccessReason(rawValue: 22)
    /// A seat that was assigned was taken back.
    public static let assignmentEnded = AccessReason(rawValue: 23)

    /// UPPER_SNAKE, for machines, or the number where there is no name.
    public var name: String { Message.Reason(rawValue: rawValue).description }

    /// The name.
    public var description: String { name }
}

/// How a transaction came to its customer.
public struct Ownership: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: Int32

    /// The ownership with this number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// There is no transaction.
    public static let unspecified = Ownership(rawValue: 0)
    /// The customer paid.
    public static let purchased = Ownership(rawValue: 1)
    /// Somebody in the family paid.
    public static let familyShared = Ownership(rawValue: 2)
    /// An organisation gave out a seat.
    public static let assigned = Ownership(rawValue: 3)
    /// A kind that the server does not know.
    public static let other = Ownership(rawValue: 4)

    /// Apple's name, or the number where there is none.
    public var name: String { Message.Ownership(rawValue: rawValue).description }

    /// The name.
    public var description: String { name }
}

/// What became of a notification.
public struct Disposition: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: Int32

    /// The disposition with this number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Nothing was said.
    public static let unspecified = Disposition(rawValue: 0)
    /// Something new came in.
    public static let applied = Disposition(rawValue: 1)
    /// This notification is stored already.
    public static let duplicate = Disposition(rawValue: 2)
    /// All that it carried was known, or older than what is known.
    public static let stale = Disposition(rawValue: 3)
    /// It carried nothing of a customer.
    public static let noEffect = Disposition(rawValue: 4)
    /// The server does not know its type; what it carried was applied all the same.
    public static let storedUnknown = Disposition(rawValue: 5)

    /// UPPER_SNAKE, for machines, or the number where there is no name.
    public var name: String { Message.Disposition(rawValue: rawValue).description }

    /// The name.
    public var description: String { name }
}

/// Where a rebuild reads the history.
public struct RebuildSource: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: Int32

    /// The source with this number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Apple's history where the server can ask for it, else what is stored.
    public static let automatic = RebuildSource(rawValue: 0)
    /// What the server has stored.
    public static let storedFacts = RebuildSource(rawValue: 1)
    /// Apple's history.
    public static let appStore = RebuildSource(rawValue: 2)

    /// UPPER_SNAKE, for machines, or the number where there is no name.
    public var name: String { Message.Source(rawValue: rawValue).description }

    /// The name.
    public var description: String { name }
}

/// Apple's environments. Purchases of one never count in the other.
public struct StoreEnvironment: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: Int32

    /// The environment with this number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Real money.
    public static let production = StoreEnvironment(rawValue: 1)
    /// Test purchases.
    public static let sandbox = StoreEnvironment(rawValue: 2)

    /// UPPER_SNAKE, for machines, or the number where there is no name.
    public var name: String { Message.Environment(rawValue: rawValue).description }

    /// The name.
    public var description: String { name }
}

/// How sure it is that a family copy came from a purchase: Apple publishes no link.
public struct FamilyConfidence: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: Int32

    /// The confidence with this number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Nothing was said: no purchase is known.
    public static let unspecified = FamilyConfidence(rawValue: 0)
    /// More than one family fits: none is assumed.
    public static let ambiguous = FamilyConfidence(rawValue: 1)
    /// Product, purchase date and expiry date are the same to the millisecond.
    public static let likely = FamilyConfidence(rawValue: 2)
    /// The line item is the same too.
    public static let strong = FamilyConfidence(rawValue: 3)
    /// The app declared the household.
    public static let declared = FamilyConfidence(rawValue: 4)

    /// UPPER_SNAKE, for machines, or the number where there is no name.
    public var name: String { Message.Confidence(rawValue: rawValue).description }

    /// The name.
    public var description: String { name }
}
