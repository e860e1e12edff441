package import Entitlements
package import Storage

/// A question that workers answer from the store.
package enum ReadCall: Hashable, Sendable {
    case customer(CustomerQuery)
    case customers(PageQuery, changedSince: UInt64)
    case family(FamilyQuery)
    case refunds(RefundQuery)
    case audit(PageQuery)
    case reconciliation(PageQuery)
    /// Begins a backup, or tells how one goes on.
    case backup(BackupRequest)
    /// How far it is that the bytes of a forgotten customer have left the disk.
    case forgotten(ForgottenQuery)
}

/// The answer to a `ReadCall`.
package enum ReadReply: Hashable, Sendable {
    case customer(CustomerView)
    case customers(CustomerPage)
    case family(FamilyView)
    case refunds(RefundPage)
    case audit(AuditPage)
    case reconciliation(ReconciliationView)
    case backup(BackupStatus)
    case forgotten(ForgetReply)
}

/// Asks for one page of a list of a world.
package struct PageQuery: Hashable, Sendable {
    /// The world.
    package var scope: ScopeIndex
    /// `nextPageToken` of the page before; empty: the first page.
    package var pageToken: String
    /// How many entries at most; at least 1.
    package var countMax: Int

    /// A question.
    package init(scope: ScopeIndex, pageToken: String = "", countMax: Int = 100) {
        self.scope = scope
        self.pageToken = pageToken
        self.countMax = countMax
    }
}

// MARK: - Customers

/// A customer in a list.
package struct CustomerSummary: Hashable, Sendable {
    /// By whose name to ask: the app's, else the account's, else a chain's.
    package var customer: CustomerReference
    /// How many transactions he has.
    package var transactionCount: Int
    /// The revision that changed him last.
    package var revision: UInt64
}

/// One page of the customers of a world.
package struct CustomerPage: Hashable, Sendable {
    /// In the order of the store.
    package var customers: [CustomerSummary]
    /// Ask with it for the next page; empty after the last.
    package var nextPageToken: String
    /// How many there are in all worlds together.
    package var customerCount: UInt64
    /// The revision that it shows.
    package var revision: UInt64
}

// MARK: - Families

/// How sure it is that a family copy came from a purchase; the raw values are those of the wire.
package enum FamilyConfidence: Int32, Hashable, Sendable {
    case none = 0
    /// More than one family fits: none is assumed.
    case ambiguous = 1
    /// Product, purchase and expiry date are the same.
    case likely = 2
    /// The line item is the same too.
    case strong = 3
    /// The app declared the household.
    case declared = 4
}

extension FamilyConfidence {
    /// As sure as that.
    init(_ kind: FamilyLinkKind?) {
        switch kind {
        case nil: self = .ambiguous
        case .likely: self = .likely
        case .strong: self = .strong
        case .declared: self = .declared
        }
    }
}

/// Asks who shares with a customer, or who is in a household.
package struct FamilyQuery: Hashable, Sendable {
    /// The world.
    package var scope: ScopeIndex
    /// The customer; nil where the household is named.
    package var customer: CustomerReference?
    /// The household; empty where the customer is named.
    package var householdID: String

    /// A question.
    package init(scope: ScopeIndex, customer: CustomerReference?, householdID: String = "") {
        self.scope = scope
        self.customer = customer
        self.householdID = householdID
    }
}

/// One transaction of a shared purchase, with what it alone gives now.
package struct FamilyCopyView: Hashable, Sendable {
    /// The app's name of the holder, or Apple's while nobody has said who it is.
    package var customerID: String
    package var transactionID: String
    package var originalTransactionID: String
    package var productID: String
    package var ownership: Ownership
    /// Granted or why not, of this transaction alone.
    package var reason: AccessReason
    /// From when on it was revoked, overridden or suspended, in ms; 0: not.
    package var revokedAt: Int64
}

/// A member of a declared household.
package struct FamilyMemberView: Hashable, Sendable {
    package var customerID: String
    /// Purchases and family copies of shareable products, newest purchase first.
    package var copies: [FamilyCopyView]
}

/// Transactions that are likely one family's, or might be.
package struct MatchedFamilyView: Hashable, Sendable {
    package var productID: String
    /// In ms.
    package var purchaseDate: Int64
    /// In ms; 0: none.
    package var expiresDate: Int64
    package var confidence: FamilyConfidence
    /// The purchase first.
    package var copies: [FamilyCopyView]
    /// Why it is ambiguous, for people; empty where it is not.
    package var note: String
}

/// Who shares with whom.
package struct FamilyView: Hashable, Sendable {
    /// The declared household; empty without one.
    package var householdID: String
    package var members: [FamilyMemberView]
    package var matched: [MatchedFamilyView]
    /// UPPER_SNAKE: MORE_THAN_SIX_PEOPLE.
    package var warnings: [String]
    package var revision: UInt64
}

/// A person who still has access on a refunded purchase.
package struct AccessFinding: Hashable, Sendable {
    package var copy: FamilyCopyView
    /// The refunded purchase.
    package var purchase: FamilyCopyView
    package var confidence: FamilyConfidence
    /// When the access ends by itself, in ms; 0: never.
    package var grantedUntil: Int64
    /// When his history was last fetched whole, in ms; 0: never.
    package var refreshedAt: Int64
    package var isRefreshQueued: Bool
    /// For people.
    package var explanation: String
}

/// One page of the audit.
package struct AuditPage: Hashable, Sendable {
    package var findings: [AccessFinding]
    package var nextPageToken: String
    package var revision: UInt64
}

// MARK: - The bill

/// Asks for refunded payments in the order of their refunds.
package struct RefundQuery: Hashable, Sendable {
    package var page: PageQuery
    /// Inclusive.
    package var from: Timestamp
    /// Exclusive.
    package var to: Timestamp
    /// Empty: every product.
    package var productID: String

    /// A question.
    package init(
        page: PageQuery, from: Timestamp = .distantPast, to: Timestamp = .distantFuture,
        productID: String = ""
    ) {
        self.page = page
        self.from = from
        self.to = to
        self.productID = productID
    }
}

/// What one person was served on a refunded purchase; days are of UTC.
package struct PersonUse: Hashable, Sendable {
    package var customerID: String
    package var transactionID: String
    package var originalTransactionID: String
    package var ownership: Ownership
    /// How he was found; none for the buyer himself.
    package var confidence: FamilyConfidence
    /// Days with a granted check up to and on the day of the refund.
    package var days: Int
    package var checks: UInt64
    package var units: UInt64
    /// In millionths of the operator's currency.
    package var costMicros: Int64
    /// The same after the day of the refund.
    package var leakedDays: Int
    package var leakedChecks: UInt64
    package var leakedUnits: UInt64
    package var leakedCostMicros: Int64
    /// Billing periods that access went on for after the refund; the running one counts.
    package var leakedPeriods: Int
    /// When this server ended the access, in ms; 0: it goes on.
    package var accessEndedAt: Int64
}

/// One refunded payment.
package struct RefundView: Hashable, Sendable {
    /// The refunded purchase, or the family copy whose purchase is not known.
    package var transaction: Transaction
    /// Whose it is.
    package var customerID: String
    /// In ms.
    package var refundedAt: Int64
    /// When this server learnt of it, in ms.
    package var learnedAt: Int64
    /// Thousandths of a percent.
    package var percentage: Int32
    /// Thousandths of the currency's unit.
    package var refundedMilliunits: Int64
    /// The buyer first.
    package var people: [PersonUse]
    /// Whether it is a family copy whose purchase is not known.
    package var isPurchaseUnknown: Bool
}

/// One page of the bill.
package struct RefundPage: Hashable, Sendable {
    package var refunds: [RefundView]
    package var nextPageToken: String
    package var revision: UInt64
}

// MARK: - Reconciliation

/// A customer who waits for a fetch from Apple.
package struct QueuedRefresh: Hashable, Sendable {
    package var key: CustomerKey
    /// The app's name of the customer, or Apple's.
    package var customerID: String
    package var job: RefreshJob
}

/// What is queued and how far the server has come.
package struct ReconciliationView: Hashable, Sendable {
    package var isAppStoreConfigured: Bool
    package var queuedCount: UInt64
    /// In the order of customers.
    package var refreshes: [QueuedRefresh]
    package var nextPageToken: String
    /// In ms; 0: not known yet.
    package var notificationsCompleteUntil: Int64
    /// In ms; 0: never.
    package var sweepFinishedAt: Int64
    package var succeededCount: UInt64
    package var failedCount: UInt64
    /// The last failed attempt.
    package var lastFailure: RefreshFailure?
}

/// A failed attempt to fetch from Apple.
package struct RefreshFailure: Hashable, Sendable {
    /// By our clock.
    package var at: Timestamp
    package var refusal: Refusal

    /// A failure.
    package init(at: Timestamp, refusal: Refusal) {
        self.at = at
        self.refusal = refusal
    }
}

extension EntitlementService {
    /// Answers a question from the store, all of one revision.
    ///
    /// Worker threads: it blocks.
    ///
    /// - Throws: UNKNOWN_CUSTOMER, INVALID_FIELD for a page token that is none, STORE_UNAVAILABLE,
    ///   STORE_DAMAGED.
    package func read(_ call: ReadCall) throws(Refusal) -> ReadReply {
        switch call {
        case .customer(let query): .customer(try customer(query))
        case .customers(let query, let since):
            .customers(try customers(query, changedSince: since))
        case .family(let query): .family(try family(query))
        case .refunds(let query): .refunds(try refunds(query))
        case .audit(let query): .audit(try audit(query))
        case .reconciliation(let query): .reconciliation(try reconciliation(query))
        case .backup(let request): .backup(try backup(request))
        case .forgotten(let query): .forgotten(try forgotten(query))
        }
    }
}
