/// All that the server knows of one customer. Times are milliseconds since 1970.
public struct Customer: Hashable, Sendable {
    /// The app backend's own user id, or Apple's name while nobody has said who it is.
    public var customerID: String
    /// His access, product by product.
    public var entitlements: [Entitlement]
    /// His transactions, the newest copy of each.
    public var transactions: [TransactionRecord]
    /// The notifications that were taken in for him, in order.
    public var notifications: [NotificationRecord]
    /// The names under which he is found, as `kind:name`.
    public var identities: [String]
    /// The declared household; nil = none.
    public var householdID: String?
    /// What was said of him and what contradicts it, in order.
    public var audit: [AuditEntry]
    /// The last revision that this has seen.
    public var revision: UInt64
    /// When Apple's history of him was last fetched whole; nil = never.
    public var refreshedAtMilliseconds: Int64?
    /// The fetch from Apple that he waits for; nil = none.
    public var queuedRefresh: QueuedRefresh?
    /// What was linked to him in so many words, apart from the chains that he has: those are
    /// `isChainLinked`.
    public var links: [LinkedIdentity]
}

/// One customer's access to one product, and why.
public struct Entitlement: Hashable, Sendable {
    /// The product.
    public var productID: String
    /// The catalog's entitlements that it counts for.
    public var names: [String]
    /// Yes or no.
    public var isGranted: Bool
    /// Why.
    public var reason: AccessReason
    /// Of the transaction that decided.
    public var ownership: Ownership
    /// When `isGranted` flips by itself; nil = never.
    public var validUntilMilliseconds: Int64?
    /// The transaction that decided; empty = none.
    public var transactionID: String
    /// Its chain; empty = none.
    public var originalTransactionID: String
    /// From when on it was revoked; nil = not.
    public var revokedAtMilliseconds: Int64?
    /// A payment went back to the buyer.
    public var isPaymentReversed: Bool
    /// False where the signed data leave the cause open.
    public var isCauseCertain: Bool
    /// How the refunded purchase behind a family copy was found. Where access is granted it goes on
    /// although that payment went back.
    public var familyConfidence: FamilyConfidence
    /// That purchase; empty where none is known, and while its payment stands.
    public var familyTransactionID: String
}

/// One signed transaction, its newest copy; names and units are Apple's.
public struct TransactionRecord: Hashable, Sendable {
    /// Apple's transactionId.
    public var transactionID: String
    /// Apple's originalTransactionId.
    public var originalTransactionID: String
    /// Apple's productId.
    public var productID: String
    /// Apple's type, verbatim.
    public var type: String
    /// How it came to its customer.
    public var ownership: Ownership
    /// When it was bought.
    public var purchaseDateMilliseconds: Int64
    /// The end of the paid time; nil = none.
    public var expiresDateMilliseconds: Int64?
    /// When Apple revoked it; nil = not revoked.
    public var revocationDateMilliseconds: Int64?
    /// Apple's revocationReason; means something only with a revocation.
    public var revocationReason: Int32
    /// Apple's revocationType, verbatim; empty = none.
    public var revocationType: String
    /// Apple's revocationPercentage, in thousandths of a percent.
    public var revocationPercentage: Int32
    /// Apple's isUpgraded.
    public var isUpgraded: Bool
    /// When Apple signed this copy.
    public var signedDateMilliseconds: Int64
    /// Apple's appAccountToken; empty = none.
    public var appAccountToken: String
    /// Apple's appTransactionId; empty = none.
    public var appTransactionID: String
    /// Apple's webOrderLineItemId; empty = none.
    public var webOrderLineItemID: String
    /// In thousandths of the currency's unit.
    public var priceMilliunits: Int64
    /// ISO 4217; empty = none.
    public var currency: String
    /// Apple's inAppOwnershipType, verbatim.
    public var rawOwnership: String
    /// Ended by a REVOKE that carried no date.
    public var isOverridden: Bool
    /// Cut with its household.
    public var isSuspended: Bool
    /// The JWS as received; empty when it was not asked for and did not fit.
    public var signedPayload: String
    /// What notifications said of it.
    public var evidence: TransactionEvidence
    /// The JWS of the renewal info of its chain, on the chain's newest purchase where all payloads
    /// were asked for; else empty.
    public var signedRenewal: String
    /// Whether its chain was linked to the customer in so many words.
    public var isChainLinked: Bool
}

/// One notification that was taken in.
public struct NotificationRecord: Hashable, Sendable {
    /// Apple's notificationUUID.
    public var notificationUUID: String
    /// As Apple named it.
    public var notificationType: String
    /// As Apple named it; empty = none.
    public var subtype: String
    /// When Apple signed it.
    public var signedDateMilliseconds: Int64
    /// When the server received it.
    public var receivedAtMilliseconds: Int64
    /// What became of it.
    public var disposition: Disposition
    /// The transaction that it carried; empty = none.
    public var transactionID: String
    /// The revision that contains it.
    public var revision: UInt64
}

/// Something that people said of a customer, or that contradicts what they said.
public struct AuditEntry: Hashable, Sendable {
    /// When, by the server's clock.
    public var atMilliseconds: Int64
    /// LINKED, TRANSFERRED, IDENTITY_CONFLICT and so on; open.
    public var action: String
    /// The customer whom it concerns.
    public var customerID: String
    /// The names involved, for people.
    public var detail: String
}

/// The server and what it serves.
public struct ServerInfo: Hashable, Sendable {
    /// The release.
    public var version: String
    /// The commit that it was built from.
    public var commit: String
    /// The last committed revision.
    public var revision: UInt64
    /// Since its start, in milliseconds.
    public var uptimeMilliseconds: UInt64
    /// The configured apps and environments.
    public var scopes: [Scope]
    /// How many customers are stored.
    public var customerCount: UInt64
    /// How many transactions are stored.
    public var transactionCount: UInt64
    /// Whether rebuilds may read Apple's history.
    public var isAppStoreAPIConfigured: Bool
    /// The version of the wire contract.
    public var protocolVersion: UInt32
}
