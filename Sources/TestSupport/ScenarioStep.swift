package import Entitlements

// What a scenario does and asks, once it is read and signed: nothing in it depends on how the
// server is reached.

/// What must come back from a call.
package enum ScenarioAnswer: Equatable, Sendable, CustomStringConvertible {
    /// The call was carried out; a notification's disposition in upper snake case, else empty.
    case done(String)
    /// The call was refused for this reason.
    case refused(String)

    /// `APPLIED`, `OK`, `refused IDENTITY_CONFLICT`.
    package var description: String {
        switch self {
        case .done(let disposition): disposition.isEmpty ? "OK" : disposition
        case .refused(let reason): "refused \(reason)"
        }
    }
}

/// What the app hands in.
package struct ScenarioUpload: Sendable {
    /// Whom it belongs to; empty: not said.
    package var customerID: String
    /// Compact JWS.
    package var transactions: [[UInt8]]
    /// Compact JWS.
    package var renewals: [[UInt8]]
    /// Compact JWS; empty: none.
    package var appTransaction: [UInt8]
    /// Whether what is another customer's is to move.
    package var isTransfer: Bool
}

/// What the app says of a customer.
package struct ScenarioLink: Sendable {
    /// The app's name of the customer.
    package var customerID: String
    /// What is his; nil when only the household is said.
    package var identity: CustomerReference?
    /// The household that he joins; empty: unchanged.
    package var householdID: String
    /// Whether he leaves his household.
    package var leavesHousehold: Bool
    /// Whether what is another customer's is to move.
    package var isTransfer: Bool
}

/// A question about access.
package struct ScenarioCheck: Sendable {
    /// Who.
    package var customer: CustomerReference
    /// A product's id, or a name from the catalog.
    package var subject: String
    /// Whether `subject` is a name from the catalog.
    package var isEntitlement: Bool
    /// The instant asked about.
    package var instant: Timestamp
}

/// What is answered about access; the texts are those of the wire without their prefix.
package struct ScenarioVerdict: Equatable, Sendable {
    /// The name of the reason, such as `ACTIVE`.
    package var reason: String
    /// In ms; 0: never.
    package var validUntil: Int64

    /// A verdict.
    package init(reason: String, validUntil: Int64) {
        self.reason = reason
        self.validUntil = validUntil
    }
}

/// All that is known of a customer, as far as scenarios look at it: names and their values as text,
/// dates in milliseconds, what is absent left out.
package struct ScenarioRecord: Equatable, Sendable {
    /// The customer's name.
    package var customerID: String
    /// By transactionId: `original`, `product`, `owner`, `from`, `to`, `revoked`, `reason`, `by`,
    /// `percent`, `upgraded`, `signed`, `token`, `account`, `web`, `price`, `currency`,
    /// `overridden`, `suspended`.
    package var transactions: [String: [String: String]]
    /// The dispositions of the notifications, oldest first.
    package var dispositions: [String]
    /// By product: `granted`, `reason`, `transaction`, `revoked`, `reversed`, `certain`.
    package var entitlements: [String: [String: String]]

    /// A record.
    package init(
        customerID: String, transactions: [String: [String: String]], dispositions: [String],
        entitlements: [String: [String: String]]
    ) {
        self.customerID = customerID
        self.transactions = transactions
        self.dispositions = dispositions
        self.entitlements = entitlements
    }
}

/// One step with the line that it stands on and the world that it speaks of.
package struct ScenarioStep: Sendable {
    /// The line of the file.
    package let line: Int
    /// The world.
    package let scope: Scope
    /// What to do.
    package let action: Action

    /// What to do, and what must come of it; a nil answer is any that is no refusal.
    package enum Action: Sendable {
        /// A notification's body.
        case notify([UInt8], expected: ScenarioAnswer?)
        case upload(ScenarioUpload, expected: ScenarioAnswer?)
        case link(ScenarioLink, expected: ScenarioAnswer?)
        /// A nil `validUntil` is not looked at.
        case check(ScenarioCheck, reason: String, validUntil: Int64?)
        /// The customer is known, and has so many transactions and notifications.
        case history(
            CustomerReference, transactionCount: Int?, notificationCount: Int?, name: String?)
        /// The stored transaction has these values; empty: absent.
        case stored(CustomerReference, transactionID: String, values: [String: String])
        /// GetCustomer says this of a product.
        case entitlement(CustomerReference, productID: String, values: [String: String])
    }
}

/// What has to be configured for a scenario.
package struct ScenarioSettings: Sendable {
    /// One app.
    package struct App: Sendable {
        /// The bundle identifier.
        package var bundleID: String
        /// The App Store's number of it.
        package var appAppleID: Int64
        /// What is accepted.
        package var environments: Set<AppEnvironment>
    }

    /// One catalog entry; it holds for every app.
    package struct Product: Sendable {
        /// The names that the product unlocks.
        package var entitlements: [String] = []
        /// How long a non-renewing purchase lasts, in ms; 0: not said.
        package var duration: Int64 = 0
        /// Whether prorated refunds leave the access.
        package var keepsProratedRefunds = false
    }

    /// The apps; com.example.meadow in Production when the file names none.
    package var apps: [App] = []
    /// The catalog, by productId.
    package var products: [ExactName: Product] = [:]
    /// Which families a buyer's refund suspends.
    package var familyCut = FamilyCut.declared

    /// The catalog as the service takes it.
    package var catalog: Catalog {
        Catalog(
            products: products.mapValues {
                Catalog.Product(
                    entitlements: $0.entitlements,
                    policy: ProductPolicy(
                        duration: $0.duration, keepsProratedRefunds: $0.keepsProratedRefunds))
            }, familyCut: familyCut)
    }
}

/// One way through a scenario, signed: the same steps in each of its orders.
package struct ScenarioPlay: Sendable {
    /// Steps, or steps whose order must not matter.
    package enum Part: Sendable {
        case step(ScenarioStep)
        case anyOrder([ScenarioStep])
    }

    /// What has to be configured.
    package var settings: ScenarioSettings
    /// In the order of the file.
    package var parts: [Part]
}
