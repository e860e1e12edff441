/// The products of the simulated app, one of each kind.
enum SimulatedProduct: Int, CaseIterable, Sendable {
    case month
    case pro
    case lifetime
    case season
    case coins

    var id: String {
        switch self {
        case .month: "meadow.plus.month"
        case .pro: "meadow.pro.month"
        case .lifetime: "meadow.lifetime"
        case .season: "meadow.season"
        case .coins: "meadow.coins"
        }
    }

    /// Apple's name of its type.
    var type: String {
        switch self {
        case .month, .pro: "Auto-Renewable Subscription"
        case .lifetime: "Non-Consumable"
        case .season: "Non-Renewing Subscription"
        case .coins: "Consumable"
        }
    }

    /// Whether Apple charges it again and again.
    var renews: Bool { self == .month || self == .pro }
}

/// One signed copy of a transaction, as Apple would make it. All dates in ms since 1970.
struct TransactionCopy: Hashable, Sendable {
    /// Among all transactions.
    var number: Int
    /// Among all chains: the number of its first transaction.
    var chain: Int
    /// The Apple Account that it is signed for.
    var person: Int
    var product: SimulatedProduct
    var isShared = false
    var carriesToken = false
    var purchased: Int64
    var expires: Int64?
    var revoked: Int64?
    var revocationType: String?
    var revocationReason: Int64?
    var isUpgraded = false
    var signed: Int64

    /// Apple's transactionId.
    var id: String { Self.id(number) }
    /// Apple's originalTransactionId.
    var chainID: String { Self.id(chain) }

    static func id(_ number: Int) -> String { "\(400_000_000 + number)" }
}

/// One signed copy of a chain's renewal info.
struct RenewalCopy: Hashable, Sendable {
    var chain: Int
    var product: SimulatedProduct
    var graceExpires: Int64?
    var isInBillingRetry = false
    var signed: Int64
}

/// A notification, once: every delivery of it carries the same UUID and bytes.
struct NotificationFact: Hashable, Sendable {
    var number: Int
    var type: String
    var copy: TransactionCopy
    var renewal: RenewalCopy?
    var status: Int64?
    var signed: Int64

    /// Apple's notificationUUID.
    var uuid: String { "n-\(number)" }
    /// Whether it says that its transaction gives access.
    var isGrant: Bool {
        ["SUBSCRIBED", "ONE_TIME_CHARGE", "DID_RENEW", "REFUND_REVERSED"].contains(type)
    }
}

/// Whom a question or a link means.
enum SimulatedName: Hashable, Sendable {
    case customer(Int)
    case account(Int)
    case token(Int)
    case chain(Int)

    static func customerID(_ person: Int) -> String { "c\(person)" }
    static func accountID(_ person: Int) -> String { "a\(person)" }
    static func tokenID(_ person: Int) -> String {
        let digits = "\(100_000_000_000 + person)"
        return "0b1de5ca-77aa-4b2c-9d3e-\(digits)"
    }
    static func householdID(_ family: Int, _ household: Int) -> String { "h\(family).\(household)" }
}

/// What is to become part of the server's state; tried until it is answered.
struct SimulatedWrite: Sendable {
    enum Content: Sendable {
        case notification(NotificationFact)
        /// For `customer`; nil: nobody is named.
        case upload(customer: Int?, copies: [TransactionCopy], renewals: [RenewalCopy])
        case link(customer: Int, identity: SimulatedName)
        /// A household of the person's family; nil: he leaves.
        case household(customer: Int, household: Int?)
        case transfer(chain: Int, of: Int, to: Int)
        case rebuild(SimulatedName, isDryRun: Bool)
    }

    /// Among all writes; what is said of one person in order is so by this as well.
    var index: Int
    var family: Int
    var content: Content
    /// The person in whose lane it stands: nothing else of the lane is tried before it is settled;
    /// nil where order does not matter.
    var lane: Int?
    /// Whether the same may have been said before.
    var isRepetition = false
}

/// What the catalog of the simulated app says; reloads draw another one.
struct SimulatedCatalog: Hashable, Sendable {
    /// How long a season lasts, in ms.
    var seasonDuration: Int64 = 20_000
    var keepsProratedSeason = false
    var keepsProratedLifetime = false
    /// Whether a buyer's refund suspends the copies of his declared household.
    var cutsFamilies = true
    /// The products behind the entitlement `plus`.
    var plus: [SimulatedProduct] = [.month, .pro, .lifetime]

    static let entitlement = "plus"
}
