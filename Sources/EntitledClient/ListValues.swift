// What lists are made of. Times are milliseconds since 1970.

/// One page of a list.
public struct ListPage<Entry: Hashable & Sendable>: Hashable, Sendable {
    /// The entries, in the order of the list.
    public var entries: [Entry]
    /// Ask with it for the next page; empty after the last.
    public var nextPageToken: String
    /// About how many entries the whole list has; nil where the server does not say.
    public var total: UInt64?
    /// The last revision that the page has seen.
    public var revision: UInt64
}

/// A customer in a list.
public struct CustomerSummary: Hashable, Sendable {
    /// By whose name to ask; nil where this release does not know that kind of name.
    public var customer: CustomerReference?
    /// How many transactions he has.
    public var transactionCount: Int
    /// The revision that changed him last.
    public var revision: UInt64
}

/// Who shares purchases with whom.
public struct Family: Hashable, Sendable {
    /// The declared household; nil = none.
    public var householdID: String?
    /// Its members.
    public var members: [FamilyMember]
    /// Families that are not declared, only likely.
    public var matched: [MatchedFamily]
    /// MORE_THAN_SIX_PEOPLE; open.
    public var warnings: [String]
    /// The last revision that this has seen.
    public var revision: UInt64
}

/// A member of a declared household.
public struct FamilyMember: Hashable, Sendable {
    /// The app backend's own user id, or Apple's name while nobody has said who it is.
    public var customerID: String
    /// His purchases and family copies of what can be shared.
    public var copies: [FamilyCopy]
}

/// One transaction of a shared purchase: the buyer's or a member's.
public struct FamilyCopy: Hashable, Sendable {
    /// Whose: the app backend's own user id, or Apple's name while nobody has said who it is.
    public var customerID: String
    /// Apple's transactionId.
    public var transactionID: String
    /// Apple's originalTransactionId.
    public var originalTransactionID: String
    /// Apple's productId.
    public var productID: String
    /// Whether it was bought or shared.
    public var ownership: Ownership
    /// Whether this transaction alone gives access now.
    public var isGranted: Bool
    /// Why.
    public var reason: AccessReason
    /// From when on it is revoked; nil = not.
    public var revokedAtMilliseconds: Int64?
}

/// Transactions that are likely one family's, or might be.
public struct MatchedFamily: Hashable, Sendable {
    /// The product that they share.
    public var productID: String
    /// When all of them were bought.
    public var purchaseDateMilliseconds: Int64
    /// When all of them expire; nil = never.
    public var expiresDateMilliseconds: Int64?
    /// How sure it is.
    public var confidence: FamilyConfidence
    /// The transactions, the purchase first.
    public var copies: [FamilyCopy]
    /// Why it is ambiguous; empty where it is not.
    public var note: String
}

/// A person who still has access on a purchase that was refunded.
public struct AccessFinding: Hashable, Sendable {
    /// What still gives access.
    public var copy: FamilyCopy
    /// The refunded purchase.
    public var purchase: FamilyCopy
    /// How sure it is that one came from the other.
    public var confidence: FamilyConfidence
    /// When the access ends by itself; nil = never.
    public var grantedUntilMilliseconds: Int64?
    /// When Apple's history of this person was last fetched whole; nil = never.
    public var refreshedAtMilliseconds: Int64?
    /// Whether a fetch is queued.
    public var isRefreshQueued: Bool
    /// In words, for people.
    public var explanation: String
}

/// One refunded payment and what it had been used for.
public struct RefundRecord: Hashable, Sendable {
    /// Apple's transactionId.
    public var transactionID: String
    /// Apple's originalTransactionId.
    public var originalTransactionID: String
    /// Apple's productId.
    public var productID: String
    /// Whose it was: the app backend's own user id, or Apple's name.
    public var customerID: String
    /// When it was bought.
    public var purchaseDateMilliseconds: Int64
    /// When it was refunded.
    public var refundedAtMilliseconds: Int64
    /// When the server learnt of it.
    public var learnedAtMilliseconds: Int64
    /// What was paid, in thousandths of the currency's unit.
    public var priceMilliunits: Int64
    /// ISO 4217; empty = unknown.
    public var currency: String
    /// How much of it went back, in thousandths of a percent; 100,000 = all.
    public var percentageMilliunits: Int32
    /// What went back, in thousandths of the currency's unit.
    public var refundedMilliunits: Int64
    /// Everybody who was served on it, the buyer first.
    public var people: [PersonUse]
    /// Whether it is a family copy whose purchase is not known: then no payment is shown.
    public var isPurchaseUnknown: Bool
}

/// What one person was served on a refunded purchase. Days are of UTC.
public struct PersonUse: Hashable, Sendable {
    /// The app backend's own user id, or Apple's name while nobody has said who it is.
    public var customerID: String
    /// The transaction that gave him access.
    public var transactionID: String
    /// Its chain.
    public var originalTransactionID: String
    /// Whether he bought it or it was shared with him.
    public var ownership: Ownership
    /// How he was found; unspecified for the buyer himself.
    public var confidence: FamilyConfidence
    /// Days with a granted check, up to and on the day of the refund.
    public var dayCount: Int
    /// Granted checks on those days.
    public var checkCount: UInt64
    /// Their units.
    public var units: UInt64
    /// Their cost, in millionths of the operator's currency.
    public var costMicros: Int64
    /// Days with a granted check after the day of the refund: the leak.
    public var leakedDayCount: Int
    /// Granted checks on those days.
    public var leakedCheckCount: UInt64
    /// Their units.
    public var leakedUnits: UInt64
    /// Their cost, in millionths of the operator's currency.
    public var leakedCostMicros: Int64
    /// Billing periods that began after the refund while access went on; the running one counts.
    public var leakedPeriodCount: Int
    /// When the server ended the access; nil = it goes on.
    public var accessEndedAtMilliseconds: Int64?
}
