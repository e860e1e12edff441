extension Message {
    /// A page of the customers of a scope.
    package struct ListCustomersRequest: Hashable, Sendable {
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?
        /// Empty, or the token that the page before gave.
        package var pageToken = Text()
        /// 0 = 100; at most 1,000.
        package var pageSize: UInt32 = 0
        /// Only those whom this revision or a later one changed.
        package var changedSinceRevision: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// A customer in a list.
    package struct CustomerSummary: Hashable, Sendable {
        /// By whose name to ask.
        package var customer: CustomerRef?
        /// How many he has.
        package var transactions: UInt32 = 0
        /// The one that changed him last.
        package var revision: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// One page of customers.
    package struct ListCustomersResponse: Hashable, Sendable {
        /// In the order of the store.
        package var customers: [CustomerSummary] = []
        /// Empty on the last page.
        package var nextPageToken = Text()
        /// In the whole scope, as far as it is known; for a progress bar.
        package var customersTotal: UInt64 = 0
        /// The last committed revision seen.
        package var revision: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// Who shares with a customer, or who is in a household.
    package struct GetFamilyRequest: Hashable, Sendable {
        /// Either a customer or a household.
        package var customer: CustomerRef?
        /// Empty where the customer is named.
        package var householdID = Text()
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?

        /// Nothing; set the fields.
        package init() {}
    }

    /// One transaction of a shared purchase: the buyer's or a member's.
    package struct FamilyCopy: Hashable, Sendable {
        /// The app's own user id, or Apple's name while nobody has said who it is.
        package var customerID = Text()
        /// Apple's transactionId.
        package var transactionID = Text()
        /// Apple's originalTransactionId.
        package var originalTransactionID = Text()
        /// Apple's productId.
        package var productID = Text()
        /// How it came to its customer.
        package var ownership = Ownership.unspecified
        /// Whether it gives access now.
        package var granted = false
        /// Why, of this transaction alone.
        package var reason = Reason.unspecified
        /// From when on it is revoked, milliseconds since 1970; 0 = not.
        package var revokedAtMilliseconds: Int64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// A member of a declared household.
    package struct FamilyMember: Hashable, Sendable {
        /// The app's own user id, or Apple's name while nobody has said who it is.
        package var customerID = Text()
        /// His purchases and family copies.
        package var copies: [FamilyCopy] = []

        /// Nothing; set the fields.
        package init() {}
    }

    /// Transactions that are likely one family's, or might be.
    package struct MatchedFamily: Hashable, Sendable {
        /// Apple's productId.
        package var productID = Text()
        /// Of all of them, milliseconds since 1970.
        package var purchaseDateMilliseconds: Int64 = 0
        /// Of all of them, milliseconds since 1970; 0 = none.
        package var expiresDateMilliseconds: Int64 = 0
        /// How sure it is.
        package var confidence = Confidence.unspecified
        /// Its transactions, the purchase first.
        package var copies: [FamilyCopy] = []
        /// Why it is ambiguous; empty where it is not.
        package var note = Text()

        /// Nothing; set the fields.
        package init() {}
    }

    /// Who shares purchases with whom.
    package struct GetFamilyResponse: Hashable, Sendable {
        /// The declared household; empty without one.
        package var householdID = Text()
        /// Its members.
        package var members: [FamilyMember] = []
        /// Families that are not declared, only likely.
        package var matched: [MatchedFamily] = []
        /// UPPER_SNAKE: MORE_THAN_SIX_PEOPLE; open.
        package var warnings: [Text] = []
        /// The last committed revision seen.
        package var revision: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// A page of those who still have access on a refunded purchase.
    package struct AuditAccessRequest: Hashable, Sendable {
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?
        /// Empty, or the token that the page before gave.
        package var pageToken = Text()
        /// 0 = 100; at most 1,000.
        package var pageSize: UInt32 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// A person who still has access on a purchase that was refunded.
    package struct AccessFinding: Hashable, Sendable {
        /// What still gives access.
        package var copy: FamilyCopy?
        /// The refunded purchase.
        package var purchase: FamilyCopy?
        /// How sure it is.
        package var confidence = Confidence.unspecified
        /// When that ends by itself, milliseconds since 1970; 0 = never.
        package var grantedUntilMilliseconds: Int64 = 0
        /// When Apple's history of this person was last fetched whole, milliseconds since 1970; 0 =
        /// never.
        package var refreshedAtMilliseconds: Int64 = 0
        /// Whether a fetch is queued.
        package var refreshQueued = false
        /// In words, for people.
        package var explanation = Text()

        /// Nothing; set the fields.
        package init() {}
    }

    /// One page of the audit.
    package struct AuditAccessResponse: Hashable, Sendable {
        /// In the order of refunds.
        package var findings: [AccessFinding] = []
        /// Empty on the last page.
        package var nextPageToken = Text()
        /// The last committed revision seen.
        package var revision: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// A page of the bill.
    package struct ListRefundsRequest: Hashable, Sendable {
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?
        /// By the instant of the refund, inclusive, milliseconds since 1970; 0 = open.
        package var fromMilliseconds: Int64 = 0
        /// Exclusive, milliseconds since 1970; 0 = open.
        package var toMilliseconds: Int64 = 0
        /// Empty: every product.
        package var productID = Text()
        /// Empty, or the token that the page before gave.
        package var pageToken = Text()
        /// 0 = 100; at most 1,000.
        package var pageSize: UInt32 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// What one person was served on a refunded purchase. Days are of UTC.
    package struct PersonUse: Hashable, Sendable {
        /// The app's own user id, or Apple's name while nobody has said who it is.
        package var customerID = Text()
        /// Apple's transactionId.
        package var transactionID = Text()
        /// Apple's originalTransactionId.
        package var originalTransactionID = Text()
        /// How it came to its customer.
        package var ownership = Ownership.unspecified
        /// How the person was found; unspecified for the buyer himself.
        package var confidence = Confidence.unspecified
        /// Days with a granted check, up to and on the day of the refund.
        package var days: UInt32 = 0
        /// Granted checks on those days.
        package var checks: UInt64 = 0
        /// Their units.
        package var units: UInt64 = 0
        /// units * the product's unitCost, in millionths of the operator's currency.
        package var costMicros: Int64 = 0
        /// Days with a granted check after the day of the refund: the leak.
        package var leakedDays: UInt32 = 0
        /// Granted checks after the day of the refund.
        package var leakedChecks: UInt64 = 0
        /// Their units.
        package var leakedUnits: UInt64 = 0
        /// Their cost.
        package var leakedCostMicros: Int64 = 0
        /// Billing periods that began after the refund while access went on; the running one
        /// counts.
        package var leakedPeriods: UInt32 = 0
        /// When this server ended the access, milliseconds since 1970; 0 = it goes on.
        package var accessEndedAtMilliseconds: Int64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// One refunded payment and what it had been used for.
    package struct RefundRecord: Hashable, Sendable {
        /// Apple's transactionId.
        package var transactionID = Text()
        /// Apple's originalTransactionId.
        package var originalTransactionID = Text()
        /// Apple's productId.
        package var productID = Text()
        /// The buyer: the app's own user id, or Apple's name.
        package var customerID = Text()
        /// Milliseconds since 1970.
        package var purchaseDateMilliseconds: Int64 = 0
        /// Milliseconds since 1970.
        package var refundedAtMilliseconds: Int64 = 0
        /// When this server learnt of it, milliseconds since 1970.
        package var learnedAtMilliseconds: Int64 = 0
        /// In thousandths of the currency's unit.
        package var priceMilliunits: Int64 = 0
        /// ISO 4217.
        package var currency = Text()
        /// Thousandths of a percent; 100000 = all of it.
        package var percentageMilliunits: Int32 = 0
        /// price * percentage; what went back.
        package var refundedMilliunits: Int64 = 0
        /// Everybody who was served on it: the buyer first.
        package var people: [PersonUse] = []
        /// True for a family copy that was refunded while no purchase is known: no payment is
        /// shown.
        package var purchaseUnknown = false

        /// Nothing; set the fields.
        package init() {}
    }

    /// One page of the bill.
    package struct ListRefundsResponse: Hashable, Sendable {
        /// In the order of refunds.
        package var refunds: [RefundRecord] = []
        /// Empty on the last page.
        package var nextPageToken = Text()
        /// The last committed revision seen.
        package var revision: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }
}
