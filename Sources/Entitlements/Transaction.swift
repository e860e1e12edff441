/// What a product is; open, because Apple may add types.
@usableFromInline package enum ProductType: UInt8, Hashable, Sendable, BitwiseCopyable {
    case unknown = 0
    case autoRenewable = 1
    case nonConsumable = 2
    case consumable = 3
    case nonRenewing = 4

    /// The type of this name in a payload.
    ///
    /// See: https://developer.apple.com/documentation/appstoreserverapi/type
    package init(name: String) {
        switch name {
        case "Auto-Renewable Subscription": self = .autoRenewable
        case "Non-Consumable": self = .nonConsumable
        case "Consumable": self = .consumable
        case "Non-Renewing Subscription": self = .nonRenewing
        default: self = .unknown
        }
    }

    /// The type of this raw value; unknown where there is none. Unlike `init(rawValue:)` it can be
    /// inlined into other modules.
    @inlinable
    package init(code: UInt8) {
        switch code {
        case 1: self = .autoRenewable
        case 2: self = .nonConsumable
        case 3: self = .consumable
        case 4: self = .nonRenewing
        default: self = .unknown
        }
    }
}

/// Whether the customer paid or had a purchase shared with him; the raw values stand in snapshots.
///
/// See: https://developer.apple.com/documentation/appstoreserverapi/inappownershiptype
@usableFromInline package enum Ownership: UInt8, Hashable, Sendable, BitwiseCopyable {
    case unspecified = 0
    case purchased = 1
    case familyShared = 2
    case assigned = 3
    /// A value that this release does not know; the payload keeps it.
    case other = 4

    /// The ownership of this name in a payload.
    package init(name: String) {
        switch name {
        case "PURCHASED": self = .purchased
        case "FAMILY_SHARED": self = .familyShared
        case "ASSIGNED": self = .assigned
        default: self = .other
        }
    }

    /// The ownership of this raw value; other where there is none. Unlike `init(rawValue:)` it can
    /// be inlined into other modules.
    @inlinable
    package init(code: UInt8) {
        switch code {
        case 0: self = .unspecified
        case 1: self = .purchased
        case 2: self = .familyShared
        case 3: self = .assigned
        default: self = .other
        }
    }

    /// The raw value, for other modules as well.
    @inlinable
    package var code: UInt8 {
        switch self {
        case .unspecified: 0
        case .purchased: 1
        case .familyShared: 2
        case .assigned: 3
        case .other: 4
        }
    }
}

/// One signed copy of a transaction, decoded.
///
/// Fields carry Apple's meaning; an absent field and a JSON null are both nil.
/// See: https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
package struct Transaction: Hashable, Sendable {
    /// Unique per purchase, renewal or restore; never parsed as a number.
    package var transactionID: String
    /// Constant through the renewals of one chain.
    package var originalTransactionID: String
    /// The product that it grants.
    package var productID: String
    /// Apple's name of the product type, verbatim.
    package var rawType: String
    /// Apple's name of the ownership, verbatim.
    package var rawOwnership: String
    /// When charged, restored or renewed.
    package var purchaseDate: Timestamp?
    /// The end of the period; auto-renewables only.
    package var expiresDate: Timestamp?
    /// Set while refunded or revoked from Family Sharing.
    package var revocationDate: Timestamp?
    /// 1: a problem with the app; 0: other.
    package var revocationReason: Int32?
    /// REFUND_FULL, REFUND_PRORATED, FAMILY_REVOKE, ASSIGNMENT_REVOKE, or what is not known yet.
    package var revocationType: String?
    /// Thousandths of a percent, 0...100,000.
    package var revocationPercentage: Int32?
    /// Whether the customer moved on to another product of the group.
    package var isUpgraded: Bool
    /// When this copy was signed: the version of the record.
    package var signedDate: Timestamp
    /// The app's UUID of the person, in lower case.
    package var appAccountToken: String?
    /// One Apple Account in one app.
    package var appTransactionID: String?
    /// One subscription purchase event.
    package var webOrderLineItemID: String?
    /// The group within which products replace each other.
    package var subscriptionGroupID: String?
    /// Thousandths of the currency's unit.
    package var price: Int64?
    /// ISO 4217.
    package var currency: String?

    /// A transaction with the fields that every payload has; the others are set afterwards.
    package init(
        transactionID: String, originalTransactionID: String, productID: String,
        rawType: String, rawOwnership: String, purchaseDate: Timestamp?, signedDate: Timestamp
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.rawType = rawType
        self.rawOwnership = rawOwnership
        self.purchaseDate = purchaseDate
        self.signedDate = signedDate
        self.isUpgraded = false
    }

    /// The product type.
    package var type: ProductType { ProductType(name: rawType) }

    /// The ownership type.
    package var ownership: Ownership { Ownership(name: rawOwnership) }

    /// From when on this copy says that the transaction is revoked; nil when it does not.
    ///
    /// A copy signed before its own revocationDate counts from its signing on: Apple knew by then.
    package var revokedFrom: Timestamp? {
        revocationDate.map { min($0, signedDate) }
    }

    /// The period that was bought, half-open; nil without a purchase date.
    package var period: Range<Timestamp>? {
        guard let start = purchaseDate else { return nil }
        let end = type == .autoRenewable ? (expiresDate ?? .distantFuture) : .distantFuture
        return start..<max(start, end)
    }

    /// Whether `self` is the more recent purchase: by purchaseDate, then signedDate, then id.
    package func isNewerPurchase(than other: Transaction) -> Bool {
        let (left, right) = (purchaseDate ?? .distantPast, other.purchaseDate ?? .distantPast)
        if left != right { return left > right }
        if signedDate != other.signedDate { return signedDate > other.signedDate }
        return isGreaterTransactionID(transactionID, than: other.transactionID)
    }
}

/// A decoded transaction with the very bytes that Apple signed.
package struct SignedTransaction: Hashable, Sendable {
    /// The decoded fields.
    package let transaction: Transaction
    /// The compact JWS, ASCII.
    package let payload: [UInt8]

    /// Pairs what was decoded with what was signed.
    package init(transaction: Transaction, payload: [UInt8]) {
        self.transaction = transaction
        self.payload = payload
    }

    /// Whether this copy replaces `stored`, whole.
    ///
    /// The newest signedDate wins. At the same signedDate a copy with other content wins when it is
    /// the only revoked one, else when the bytes of its payload segment are greater; arrival never
    /// decides. Header and signature are left out: signing again does not change what is said, and
    /// an order that looked at them for some pairs only would have cycles.
    package func supersedes(_ stored: SignedTransaction) -> Bool {
        let (new, old) = (transaction, stored.transaction)
        if new.signedDate != old.signedDate { return new.signedDate > old.signedDate }
        let (isNewRevoked, isOldRevoked) = (new.revocationDate != nil, old.revocationDate != nil)
        if isNewRevoked != isOldRevoked { return isNewRevoked }
        return payloadSegment(stored.payload).lexicographicallyPrecedes(payloadSegment(payload))
    }
}

/// The middle segment of a compact JWS, which alone says something; the whole of what is none.
func payloadSegment(_ jws: [UInt8]) -> ArraySlice<UInt8> {
    let dot = UInt8(ascii: ".")
    guard let first = jws.firstIndex(of: dot),
        let second = jws[(first + 1)...].firstIndex(of: dot)
    else { return jws[...] }
    return jws[(first + 1)..<second]
}
