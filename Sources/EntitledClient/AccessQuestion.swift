/// One app in one environment: a world of its own.
public struct Scope: Hashable, Sendable {
    /// The app's bundle id; empty = the only app that the server knows.
    public var bundleID: String
    /// The environment.
    public var environment: StoreEnvironment

    /// A scope.
    public init(bundleID: String = "", environment: StoreEnvironment = .production) {
        self.bundleID = bundleID
        self.environment = environment
    }
}

/// One person in one scope, by any of his names.
public enum CustomerReference: Hashable, Sendable {
    /// The app backend's own user id.
    case customer(String)
    /// The UUID that the app gave with a purchase; compares without case.
    case appAccountToken(String)
    /// Apple's appTransactionId.
    case appTransaction(String)
    /// Apple's originalTransactionId.
    case originalTransaction(String)
}

/// What a check asks about.
public enum AccessSubject: Hashable, Sendable {
    /// A product by its App Store id.
    case product(String)
    /// A name from the server's catalog.
    case entitlement(String)
}

/// May this customer use this?
public struct AccessQuestion: Hashable, Sendable {
    /// Who.
    public var customer: CustomerReference
    /// What.
    public var subject: AccessSubject
    /// The instant asked about, in milliseconds since 1970; nil = now. Another instant is answered
    /// from what is known now.
    public var atMilliseconds: Int64?
    /// The answer must have seen this revision: what a write elsewhere returned. 0 = any.
    public var minRevision: UInt64
    /// Which app and environment; nil = that of the client's configuration.
    public var scope: Scope?
    /// What serving this grant costs, in the operator's own units, for the bill of a refund.
    public var units: UInt64

    /// A question about now.
    public init(
        customer: CustomerReference, subject: AccessSubject, atMilliseconds: Int64? = nil,
        minRevision: UInt64 = 0, scope: Scope? = nil, units: UInt64 = 0
    ) {
        self.customer = customer
        self.subject = subject
        self.atMilliseconds = atMilliseconds
        self.minRevision = minRevision
        self.scope = scope
        self.units = units
    }
}

/// Yes or no, and why.
public struct AccessAnswer: Hashable, Sendable {
    /// Yes or no.
    public var isGranted: Bool
    /// Why.
    public var reason: AccessReason
    /// Of the transaction that decided.
    public var ownership: Ownership
    /// When `isGranted` flips by itself on what is known now, in milliseconds since 1970; nil =
    /// never.
    public var validUntilMilliseconds: Int64?
    /// The product that decided; empty = none.
    public var productID: String
    /// The transaction that decided; empty = none.
    public var transactionID: String
    /// Its chain; empty = none.
    public var originalTransactionID: String
    /// The last revision that this answer has seen.
    public var revision: UInt64

    /// An answer, for those who test without a server.
    public init(
        isGranted: Bool, reason: AccessReason, ownership: Ownership = .unspecified,
        validUntilMilliseconds: Int64? = nil, productID: String = "", transactionID: String = "",
        originalTransactionID: String = "", revision: UInt64 = 0
    ) {
        self.isGranted = isGranted
        self.reason = reason
        self.ownership = ownership
        self.validUntilMilliseconds = validUntilMilliseconds
        self.productID = productID
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.revision = revision
    }
}

/// The answers to a batch of questions.
public struct AccessAnswers: Hashable, Sendable {
    /// In the order of the questions.
    public var answers: [AccessAnswer]
    /// One revision for all of them.
    public var revision: UInt64
}
