/// The messages of `proto/entitled/v1/entitled.proto` as Swift values; fields and units as there.
package enum Message {
    /// One app in one environment. An empty bundle id means the only configured app.
    package struct Scope: Hashable, Sendable {
        /// The app's bundle id.
        package var bundleID: Text
        /// The environment; unspecified counts as Production.
        package var environment: Environment

        /// That of the only app in Production.
        package init() { self.init(bundleID: "") }

        /// A scope.
        package init(bundleID: Text = "", environment: Environment = .unspecified) {
            self.bundleID = bundleID
            self.environment = environment
        }
    }

    /// One person in one scope, by any of his names.
    package enum CustomerRef: Hashable, Sendable {
        /// The app backend's own user id.
        case customerID(Text)
        /// A UUID; compares without case.
        case appAccountToken(Text)
        /// Apple's appTransactionId.
        case appTransactionID(Text)
        /// Apple's originalTransactionId.
        case originalTransactionID(Text)

        /// The name, of whatever kind.
        package var text: Text {
            switch self {
            case .customerID(let text), .appAccountToken(let text), .appTransactionID(let text),
                .originalTransactionID(let text):
                text
            }
        }
    }

    /// One customer's access to one product, changed by a write.
    package struct Change: Hashable, Sendable {
        /// Whose access.
        package var customerID = Text()
        /// To which product.
        package var productID = Text()
        /// Access before the write.
        package var grantedBefore = false
        /// Access after it.
        package var grantedAfter = false
        /// Why it is as it is after the write.
        package var reason = Reason.unspecified

        /// A change of nothing; set what changed.
        package init() {}
    }

    /// What a check asks about.
    package enum Subject: Hashable, Sendable {
        /// A product by its App Store id.
        case product(Text)
        /// A name from the catalog.
        case entitlement(Text)
    }

    /// May this customer use this?
    package struct CheckAccessRequest: Hashable, Sendable {
        /// Who; nil when the request names nobody.
        package var customer: CustomerRef?
        /// What; nil when the request names nothing.
        package var subject: Subject?
        /// The instant asked about, in milliseconds since 1970; 0 = now.
        package var atMilliseconds: Int64 = 0
        /// Answer only from this revision on; 0 = any.
        package var minRevision: UInt64 = 0
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?
        /// What serving this grant costs.
        package var units: UInt64 = 0

        /// A question about nothing; set the fields.
        package init() {}

        /// A question about now.
        package init(customer: CustomerRef, subject: Subject) {
            self.customer = customer
            self.subject = subject
        }
    }

    /// The answer to one check.
    package struct CheckAccessResponse: Hashable, Sendable {
        /// Yes or no.
        package var granted = false
        /// Why.
        package var reason = Reason.unspecified
        /// Of the transaction that decided.
        package var ownership = Ownership.unspecified
        /// When `granted` flips by itself, in milliseconds since 1970; 0 = never.
        package var validUntilMilliseconds: Int64 = 0
        /// The product that decided.
        package var productID = Text()
        /// The transaction that decided; empty when there is none.
        package var transactionID = Text()
        /// Its chain.
        package var originalTransactionID = Text()
        /// The last committed revision that the answer has seen.
        package var revision: UInt64 = 0

        /// A *no* without a reason; set the fields.
        package init() {}
    }
}

extension Message {
    /// One customer's access to one product, and why.
    package struct Entitlement: Hashable, Sendable {
        /// The product.
        package var productID = Text()
        /// The catalog's entitlements that it counts for.
        package var names: [Text] = []
        /// Yes or no.
        package var granted = false
        /// Why.
        package var reason = Reason.unspecified
        /// Of the transaction that decided.
        package var ownership = Ownership.unspecified
        /// When `granted` flips by itself, in milliseconds since 1970; 0 = never.
        package var validUntilMilliseconds: Int64 = 0
        /// The transaction that decided.
        package var transactionID = Text()
        /// Its chain.
        package var originalTransactionID = Text()
        /// Milliseconds since 1970; 0 = not revoked.
        package var revokedAtMilliseconds: Int64 = 0
        /// A payment went back to the buyer.
        package var paymentReversed = false
        /// False where the signed data leave the cause open.
        package var causeCertain = false
        /// How the refunded purchase behind a family copy was found; also of one that still grants.
        package var familyConfidence = Confidence.unspecified
        /// That purchase; empty where none is known.
        package var familyTransactionID = Text()

        /// Access to nothing; set the fields.
        package init() {}
    }

    /// One signed transaction, its newest copy; names and units are Apple's.
    package struct TransactionRecord: Hashable, Sendable {
        /// Apple's transactionId.
        package var transactionID = Text()
        /// Apple's originalTransactionId.
        package var originalTransactionID = Text()
        /// Apple's productId.
        package var productID = Text()
        /// Apple's type, verbatim.
        package var type = Text()
        /// How it came to its customer.
        package var ownership = Ownership.unspecified
        /// Milliseconds since 1970.
        package var purchaseDateMilliseconds: Int64 = 0
        /// Milliseconds since 1970; 0 = none.
        package var expiresDateMilliseconds: Int64 = 0
        /// Milliseconds since 1970; 0 = not revoked.
        package var revocationDateMilliseconds: Int64 = 0
        /// Apple's revocationReason.
        package var revocationReason: Int32 = 0
        /// Apple's revocationType, verbatim; empty = none.
        package var revocationType = Text()
        /// Apple's revocationPercentage, in thousandths of a percent as signed.
        package var revocationPercentage: Int32 = 0
        /// Apple's isUpgraded.
        package var isUpgraded = false
        /// When Apple signed this copy, milliseconds since 1970.
        package var signedDateMilliseconds: Int64 = 0
        /// Apple's appAccountToken; empty = none.
        package var appAccountToken = Text()
        /// Apple's appTransactionId; empty = none.
        package var appTransactionID = Text()
        /// Apple's webOrderLineItemId; empty = none.
        package var webOrderLineItemID = Text()
        /// In thousandths of the currency's unit.
        package var priceMilliunits: Int64 = 0
        /// ISO 4217.
        package var currency = Text()
        /// Apple's inAppOwnershipType, verbatim.
        package var rawOwnership = Text()
        /// Ended by a REVOKE that carried no revocationDate.
        package var overridden = false
        /// Cut with its household.
        package var suspended = false
        /// The JWS as received.
        package var signedPayload = Text()
        /// When a REVOKE without a date that named it was signed, the newest; 0 = none.
        package var datelessRevokeMilliseconds: Int64 = 0
        /// The same of a notification of a grant.
        package var grantNotificationMilliseconds: Int64 = 0
        /// The same of an active status.
        package var activeStatusMilliseconds: Int64 = 0
        /// The same of a copy that carried a revocationDate.
        package var datedCopyMilliseconds: Int64 = 0
        /// The JWS of the renewal info of its chain, on the chain's newest purchase.
        package var signedRenewal = Text()
        /// Whether its chain was linked to the customer in so many words.
        package var chainLinked = false

        /// No transaction; set the fields.
        package init() {}
    }

    /// One notification that was taken in.
    package struct NotificationRecord: Hashable, Sendable {
        /// Apple's notificationUUID.
        package var notificationUUID = Text()
        /// As Apple named it.
        package var notificationType = Text()
        /// As Apple named it; empty = none.
        package var subtype = Text()
        /// When Apple signed it, milliseconds since 1970.
        package var signedDateMilliseconds: Int64 = 0
        /// When it came, milliseconds since 1970.
        package var receivedAtMilliseconds: Int64 = 0
        /// What became of it.
        package var disposition = Disposition.unspecified
        /// The transaction that it carried; empty = none.
        package var transactionID = Text()
        /// The revision that contains it.
        package var revision: UInt64 = 0

        /// No notification; set the fields.
        package init() {}
    }

    /// Something that people said of a customer, or that contradicts what they said.
    package struct AuditEntry: Hashable, Sendable {
        /// When, milliseconds since 1970.
        package var atMilliseconds: Int64 = 0
        /// UPPER_SNAKE; open.
        package var action = Text()
        /// The customer whom it concerns.
        package var customerID = Text()
        /// For people.
        package var detail = Text()

        /// Nothing said; set the fields.
        package init() {}
    }
}
