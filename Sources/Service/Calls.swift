package import Entitlements

/// Which configured app and environment a call speaks of; see `EntitlementService.scope`.
@usableFromInline package struct ScopeIndex: Hashable, Sendable {
    @usableFromInline package let value: Int

    /// The world at a position.
    @inlinable
    package init(value: Int) { self.value = value }

    /// The first of all.
    package static var first: ScopeIndex { ScopeIndex(value: 0) }
}

/// Signed data that an app hands in.
package struct TransactionUpload: Hashable, Sendable {
    /// Whom they belong to; empty: not known yet.
    package var customerID: String
    /// Compact JWS, ASCII.
    package var signedTransactions: [[UInt8]]
    /// Compact JWS, ASCII.
    package var signedRenewals: [[UInt8]]
    /// Compact JWS, ASCII; empty: none.
    package var signedAppTransaction: [UInt8]
    /// Whether another named customer's transactions are to be moved.
    package var isTransfer: Bool

    /// An upload.
    package init(
        customerID: String = "", signedTransactions: [[UInt8]] = [],
        signedRenewals: [[UInt8]] = [], signedAppTransaction: [UInt8] = [],
        isTransfer: Bool = false
    ) {
        self.customerID = customerID
        self.signedTransactions = signedTransactions
        self.signedRenewals = signedRenewals
        self.signedAppTransaction = signedAppTransaction
        self.isTransfer = isTransfer
    }
}

/// What the app says about who somebody is and who shares.
package struct LinkRequest: Hashable, Sendable {
    /// The app backend's own user id.
    package var customerID: String
    /// What belongs to him; nil when only the household is said.
    package var identity: CustomerReference?
    /// The world.
    package var scope: ScopeIndex
    /// Whether another named customer's identity is to be moved.
    package var isTransfer: Bool
    /// The household that he joins; empty: unchanged.
    package var householdID: String
    /// Whether he leaves his household.
    package var leavesHousehold: Bool

    /// A statement about a customer.
    package init(
        customerID: String, identity: CustomerReference? = nil, scope: ScopeIndex,
        isTransfer: Bool = false, householdID: String = "", leavesHousehold: Bool = false
    ) {
        self.customerID = customerID
        self.identity = identity
        self.scope = scope
        self.isTransfer = isTransfer
        self.householdID = householdID
        self.leavesHousehold = leavesHousehold
    }
}

/// Where a rebuild takes its facts from; the raw values are those of the wire.
package enum RebuildSource: Int32, Hashable, Sendable {
    case unspecified = 0
    case storedFacts = 1
    case appStore = 2
}

/// A rebuild of one customer's entitlements from the whole history.
package struct RebuildRequest: Hashable, Sendable {
    /// Who.
    package var customer: CustomerReference
    /// Where from.
    package var source: RebuildSource
    /// Whether only the difference is shown.
    package var isDryRun: Bool
    /// The world.
    package var scope: ScopeIndex

    /// A rebuild.
    package init(
        customer: CustomerReference, source: RebuildSource = .unspecified, isDryRun: Bool = false,
        scope: ScopeIndex
    ) {
        self.customer = customer
        self.source = source
        self.isDryRun = isDryRun
        self.scope = scope
    }
}

/// A question about all that is known of one customer.
package struct CustomerQuery: Hashable, Sendable {
    /// Who.
    package var customer: CustomerReference
    /// The world.
    package var scope: ScopeIndex
    /// `CustomerView.nextPageToken` of the page before; empty: the first page.
    package var pageToken: String
    /// About how many bytes a page may hold; at least one transaction comes.
    package var byteCountMax: Int
    /// Whether each transaction comes with its payload, however few fit a page then.
    package var wantsAllPayloads: Bool

    /// A question.
    package init(
        customer: CustomerReference, scope: ScopeIndex, pageToken: String = "",
        byteCountMax: Int = 512 * 1_024, wantsAllPayloads: Bool = false
    ) {
        self.customer = customer
        self.scope = scope
        self.pageToken = pageToken
        self.byteCountMax = byteCountMax
        self.wantsAllPayloads = wantsAllPayloads
    }
}

/// A call that may change state.
package enum WriteCall: Sendable {
    /// The HTTP body as Apple posted it, or a bare JWS.
    case notification(payload: [UInt8])
    case transactions(TransactionUpload)
    case link(LinkRequest)
    case rebuild(RebuildRequest)
    case importing(ImportRequest)
    case forget(ForgetRequest)
}

/// A product whose answer flipped.
package struct EntitlementChange: Hashable, Sendable {
    /// The app's name of the customer, or Apple's while nobody has said who it is.
    package var customerID: String
    /// The product.
    package var productID: String
    /// The answer before the event.
    package var wasGranted: Bool
    /// The answer after it.
    package var isGranted: Bool
    /// Its reason.
    package var reason: AccessReason
}

/// The answer about one product, with the cause.
package struct EntitlementStatus: Hashable, Sendable {
    /// The product.
    package var productID: String
    /// The names that it unlocks besides its id.
    package var names: [String]
    /// Granted or why not.
    package var reason: AccessReason
    /// The ownership of the transaction behind it.
    package var ownership: Ownership
    /// When the answer flips by itself, in ms; 0: never.
    package var validUntil: Int64
    /// The transaction behind it; empty without one.
    package var transactionID: String
    /// Its chain.
    package var originalTransactionID: String
    /// From when on it was revoked, overridden or suspended, in ms; 0: not.
    package var revokedAt: Int64
    /// Whether that reversed a payment.
    package var isPaymentReversed: Bool
    /// Whether the evidence proves the cause.
    package var isCauseCertain: Bool
    /// How the refunded purchase behind a family copy was found; also of one that still grants.
    package var familyConfidence: FamilyConfidence = .none
    /// That purchase; empty where none is known, and while its payment stands.
    package var familyTransactionID = ""
}

/// The answer to an ingested notification.
package struct NotificationReply: Hashable, Sendable {
    package var notificationUUID: String
    package var type: String
    package var subtype: String
    package var disposition: Disposition
    package var changes: [EntitlementChange]
    /// The revision that contains it.
    package var revision: UInt64
}

/// The answer to a rebuild.
package struct RebuildReply: Hashable, Sendable {
    /// Where the facts came from.
    package var source: RebuildSource
    /// How many transactions were read.
    package var transactionCount: Int
    /// What flipped, or would flip.
    package var changes: [EntitlementChange]
    /// The answers afterwards.
    package var entitlements: [EntitlementStatus]
    package var revision: UInt64
    /// Items of Apple's that were not believed.
    package var problems: [Refusal] = []
}

/// The answer to a call that may change state.
package enum WriteReply: Hashable, Sendable {
    case notification(NotificationReply)
    case transactions(changes: [EntitlementChange], revision: UInt64)
    case link(changes: [EntitlementChange], revision: UInt64)
    case rebuild(RebuildReply)
    case imported(ImportReply)
    case forgotten(ForgetReply)
    /// Something of the server's own was noted: a job of the queue, a mark, use.
    case noted(revision: UInt64)
}
