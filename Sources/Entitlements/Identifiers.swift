/// One of Apple's worlds; nothing of one is ever visible in the other.
///
/// See: https://developer.apple.com/documentation/appstoreserverapi/environment
package enum AppEnvironment: UInt8, Hashable, CaseIterable, Sendable {
    case production = 1
    case sandbox = 2

    /// Apple's name of it, as it stands in payloads.
    package var name: String {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox"
        }
    }

    /// The environment of this name; nil for Xcode, LocalTesting and what is not known yet.
    package init?(name: String) {
        switch name {
        case "Production": self = .production
        case "Sandbox": self = .sandbox
        default: return nil
        }
    }
}

/// One app in one environment: a world of its own in every key, query and answer.
package struct Scope: Hashable, Sendable {
    /// The app's bundle identifier.
    package let bundleID: String
    /// Production or Sandbox.
    package let environment: AppEnvironment

    /// The world of `bundleID` in `environment`.
    package init(bundleID: String, environment: AppEnvironment) {
        self.bundleID = bundleID
        self.environment = environment
    }

    package static func == (left: Scope, right: Scope) -> Bool {
        left.environment == right.environment && isSame(left.bundleID, right.bundleID)
    }
}

/// How a customer can be named in a call.
package enum CustomerReference: Hashable, Sendable {
    /// The app backend's own user id.
    case customer(String)
    /// The UUID that the app set at purchase, in lower case.
    case appAccountToken(String)
    /// One Apple Account in one app.
    case appTransaction(String)
    /// A chain of transactions.
    case originalTransaction(String)
}

/// What kind of name an identity is; the raw values stand in stored keys and never change.
package enum IdentityKind: UInt8, Hashable, CaseIterable, Sendable {
    /// The app backend's own user id.
    case customer = 0
    /// The app's UUID of a person, in lower case.
    case appAccountToken = 1
    /// One Apple Account in one app.
    case appTransaction = 2
    /// A chain: a first purchase with its renewals.
    case originalTransaction = 3
    /// A single transaction: where it is stored.
    case transaction = 4
}

/// A name under which facts are found.
package struct Identity: Hashable, Comparable, Sendable {
    /// What kind of name it is.
    package let kind: IdentityKind
    /// The name itself, exact to the byte.
    package let value: String

    /// The identity of `kind` with this `value`.
    package init(_ kind: IdentityKind, _ value: String) {
        self.kind = kind
        self.value = value
    }

    /// The identity that a reference in a call names.
    package init(_ reference: CustomerReference) {
        switch reference {
        case .customer(let id): self.init(.customer, id)
        case .appAccountToken(let token): self.init(.appAccountToken, token)
        case .appTransaction(let id): self.init(.appTransaction, id)
        case .originalTransaction(let id): self.init(.originalTransaction, id)
        }
    }

    /// How a call names it; nil: a single transaction is not named in calls.
    package var reference: CustomerReference? {
        switch kind {
        case .customer: .customer(value)
        case .appAccountToken: .appAccountToken(value)
        case .appTransaction: .appTransaction(value)
        case .originalTransaction: .originalTransaction(value)
        case .transaction: nil
        }
    }

    package static func == (left: Identity, right: Identity) -> Bool {
        left.kind == right.kind && isSame(left.value, right.value)
    }

    package static func < (left: Identity, right: Identity) -> Bool {
        left.kind != right.kind
            ? left.kind.rawValue < right.kind.rawValue
            : ExactName(left.value) < ExactName(right.value)
    }
}

/// Transaction identifiers in order of age: as numbers when both are decimal digits.
///
/// Apple's ids are strings of digits of no fixed width, so they are compared without being parsed.
package func isGreaterTransactionID(_ left: String, than right: String) -> Bool {
    let isNumeric = isDecimal(left) && isDecimal(right)
    let (leftCount, rightCount) = (left.utf8.count, right.utf8.count)
    if isNumeric && leftCount != rightCount { return leftCount > rightCount }
    return right.utf8.lexicographicallyPrecedes(left.utf8)
}

private func isDecimal(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
}
