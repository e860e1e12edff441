/// One customer's access to one product, changed by a write.
public struct AccessChange: Hashable, Sendable {
    /// Whose access: the app backend's own user id, or Apple's name while nobody has said who it
    /// is.
    public var customerID: String
    /// To which product.
    public var productID: String
    /// Access before the write.
    public var wasGranted: Bool
    /// Access after it.
    public var isGranted: Bool
    /// Why it is as it is after the write.
    public var reason: AccessReason
}

/// What became of a notification.
public struct IngestedNotification: Hashable, Sendable {
    /// Apple's notificationUUID.
    public var notificationUUID: String
    /// As Apple named it.
    public var notificationType: String
    /// As Apple named it; empty = none.
    public var subtype: String
    /// What became of it.
    public var disposition: Disposition
    /// Whose access changed.
    public var changes: [AccessChange]
    /// The revision that contains it.
    public var revision: UInt64
}

/// Signed facts of one customer, of one app in one environment; taken whole or not at all.
public struct TransactionUpload: Hashable, Sendable {
    /// Whom they belong to: the app backend's own user id; empty = unknown yet.
    public var customerID: String
    /// Signed transactions, JWS in compact form.
    public var signedTransactions: [String]
    /// Signed renewal infos, JWS in compact form.
    public var signedRenewals: [String]
    /// The signed AppTransaction, JWS in compact form; empty = none.
    public var signedAppTransaction: String
    /// Move what belongs to another named customer instead of refusing.
    public var transfersOwnership: Bool

    /// An upload.
    public init(
        customerID: String = "", signedTransactions: [String] = [], signedRenewals: [String] = [],
        signedAppTransaction: String = "", transfersOwnership: Bool = false
    ) {
        self.customerID = customerID
        self.signedTransactions = signedTransactions
        self.signedRenewals = signedRenewals
        self.signedAppTransaction = signedAppTransaction
        self.transfersOwnership = transfersOwnership
    }
}

/// Who a customer is, and with whom he shares purchases.
public struct CustomerLink: Hashable, Sendable {
    /// What to say of the household.
    public enum Household: Hashable, Sendable {
        /// Nothing: it stays as it is.
        case unchanged
        /// The customer belongs to this one.
        case join(String)
        /// The customer belongs to none.
        case leave
    }

    /// The app backend's own user id.
    public var customerID: String
    /// Apple's name for the same person; nil when only the household is said.
    public var identity: CustomerReference?
    /// The app's own word on who shares purchases.
    public var household: Household
    /// Move what the identity names when it is another named customer's.
    public var transfersOwnership: Bool
    /// Which app and environment; nil = that of the client's configuration.
    public var scope: Scope?

    /// A link.
    public init(
        customerID: String, identity: CustomerReference? = nil, household: Household = .unchanged,
        transfersOwnership: Bool = false, scope: Scope? = nil
    ) {
        self.customerID = customerID
        self.identity = identity
        self.household = household
        self.transfersOwnership = transfersOwnership
        self.scope = scope
    }
}

/// What an upload or a link changed.
public struct WriteResult: Hashable, Sendable {
    /// Whose access changed.
    public var changes: [AccessChange]
    /// The revision that contains the write.
    public var revision: UInt64
}

/// What a rebuild read, changed and left.
public struct RebuildResult: Hashable, Sendable {
    /// Where the history was read.
    public var source: RebuildSource
    /// How many transactions were read.
    public var transactionCount: Int
    /// What changed, or would change in a dry run.
    public var changes: [AccessChange]
    /// The customer's entitlements afterwards.
    public var entitlements: [Entitlement]
    /// The revision that contains the rebuild.
    public var revision: UInt64
    /// What Apple's answer held and was not taken; the rest was.
    public var problems: [ItemProblem]
}
