internal import FoundationEssentials
internal import TestSupport
internal import ToolSupport

/// One person of the drill: a family member, or the customer next door.
struct Person: Equatable, Sendable {
    let name: String
    /// For the report: buyer, member, neighbour.
    let role: String
    /// The app's own user id.
    let userID: String
    /// Apple's name of the account in this app.
    let appTransactionID: String
}

/// A product of the drill.
enum Product: String, CaseIterable, Sendable {
    /// Bought once.
    case lifetime = "meadow.lifetime"
    /// A subscription.
    case plus = "meadow.plus"
    /// Bought once; serving it costs the operator something, as does the next one.
    case atlas = "meadow.atlas"
    /// Bought once.
    case studio = "meadow.studio"

    /// What serving one unit costs, in millionths of the operator's currency; 0: not known.
    var unitCostMicros: Int64 {
        switch self {
        case .lifetime, .plus: 0
        case .atlas: 20_000
        case .studio: 5_000
        }
    }
}

/// Everybody in the drill, with ids that no other run has.
struct Cast: Sendable {
    let anna: Person
    let ben: Person
    let cleo: Person
    let dan: Person
    let eva: Person
    let finn: Person
    let gita: Person

    init() {
        func person(_ name: String, _ role: String) -> Person {
            Person(
                name: name, role: role,
                userID: "\(name.lowercased())-\(UUID().uuidString.prefix(8).lowercased())",
                appTransactionID: Self.number())
        }
        anna = person("Anna", "buyer")
        ben = person("Ben", "member")
        cleo = person("Cleo", "member")
        dan = person("Dan", "member")
        eva = person("Eva", "member")
        finn = person("Finn", "member")
        gita = person("Gita", "neighbour")
    }

    /// The five to whom Anna's purchases are shared.
    var members: [Person] { [ben, cleo, dan, eva, finn] }
    /// All, the buyer first, the neighbour last.
    var all: [Person] { [anna] + members + [gita] }

    /// Everybody with the names under which he can be looked up.
    var lines: [Line] {
        var table = Table([
            .text("PERSON"), .text("ROLE"), .text("CUSTOMER"), .text("APP TRANSACTION"),
        ])
        for person in all {
            table.add([
                .init(person.name), .init(person.role), .init(person.userID),
                .init(person.appTransactionID),
            ])
        }
        return table.lines()
    }

    /// An id as Apple makes them: digits, larger than what a floating-point number holds.
    static func number() -> String {
        "7\(UInt64.random(in: 10_000_000_000_000_000...99_999_999_999_999_999))"
    }
}

/// One transaction of the drill, of which Apple signs copies.
struct Purchase: Equatable, Sendable {
    let owner: Person
    let product: Product
    let isShared: Bool
    let transactionID: String
    let purchasedMilliseconds: Int64
    /// Set for a subscription.
    var expiresMilliseconds: Int64?
    /// The app's token; only a purchase in the app has one.
    var appAccountToken: String?

    /// What was paid, in thousandths of a dollar.
    var priceMilliunits: Int64 { isShared ? 0 : 39_990 }
}

/// What a copy says of a revocation.
struct RevocationClaims: Equatable, Sendable {
    let dateMilliseconds: Int64
    var reason: Int64 = 0
    var type: String?
}

/// What stands in Apple's place: writes and signs notifications.
struct SigningDesk: Sendable {
    let authority: RehearsalAuthority
    let bundleID: String
    let appAppleID: Int64
    /// "Production" or "Sandbox".
    let environment: String

    /// What a copy of a transaction says.
    func claims(
        of purchase: Purchase, signed: Int64, revoked: RevocationClaims? = nil
    ) -> FixtureJSON {
        var claims: FixtureJSON = [
            "transactionId": .string(purchase.transactionID),
            "originalTransactionId": .string(purchase.transactionID),
            "bundleId": .string(bundleID), "productId": .string(purchase.product.rawValue),
            "purchaseDate": .integer(purchase.purchasedMilliseconds),
            "originalPurchaseDate": .integer(purchase.purchasedMilliseconds), "quantity": 1,
            "inAppOwnershipType": .string(purchase.isShared ? "FAMILY_SHARED" : "PURCHASED"),
            "signedDate": .integer(signed), "environment": .string(environment),
            "transactionReason": "PURCHASE", "storefront": "USA", "storefrontId": "143441",
            "price": .integer(purchase.priceMilliunits), "currency": "USD",
            "appTransactionId": .string(purchase.owner.appTransactionID),
        ]
        if let expires = purchase.expiresMilliseconds {
            claims["type"] = "Auto-Renewable Subscription"
            claims["expiresDate"] = .integer(expires)
            claims["subscriptionGroupIdentifier"] = "21000001"
            claims["webOrderLineItemId"] = .string("9" + purchase.transactionID)
        } else {
            claims["type"] = "Non-Consumable"
        }
        claims["appAccountToken"] = purchase.appAccountToken.map { .string($0) }
        if let revoked {
            claims["revocationDate"] = .integer(revoked.dateMilliseconds)
            claims["revocationReason"] = .integer(revoked.reason)
            claims["revocationType"] = revoked.type.map { .string($0) }
        }
        return claims
    }

    /// A signed copy of a transaction.
    func copy(
        of purchase: Purchase, signed: Int64, revoked: RevocationClaims? = nil
    ) throws(CommandFailure) -> String {
        try sign(claims(of: purchase, signed: signed, revoked: revoked))
    }

    /// The body that Apple POSTs.
    func body(
        _ type: String, subtype: String? = nil, uuid: String, signed: Int64, copy: String,
        status: Int64? = nil, by signer: RehearsalAuthority? = nil
    ) throws(CommandFailure) -> [UInt8] {
        SignedFixtures.body(
            Array(
                try notification(
                    type, subtype: subtype, uuid: uuid, signed: signed, copy: copy,
                    status: status, by: signer
                ).utf8))
    }

    /// A signed notification without the envelope around it.
    func notification(
        _ type: String, subtype: String? = nil, uuid: String, signed: Int64, copy: String,
        status: Int64? = nil, by signer: RehearsalAuthority? = nil
    ) throws(CommandFailure) -> String {
        var data: FixtureJSON = [
            "bundleId": .string(bundleID), "bundleVersion": "1",
            "environment": .string(environment), "signedTransactionInfo": .string(copy),
        ]
        if environment == "Production" { data["appAppleId"] = .integer(appAppleID) }
        data["status"] = status.map { .integer($0) }
        var claims: FixtureJSON = [
            "notificationType": .string(type), "notificationUUID": .string(uuid),
            "version": "2.0", "signedDate": .integer(signed), "data": data,
        ]
        claims["subtype"] = subtype.map { .string($0) }
        return try sign(claims, by: signer)
    }

    private func sign(
        _ claims: FixtureJSON, by signer: RehearsalAuthority? = nil
    ) throws(CommandFailure) -> String {
        do throws(RehearsalAuthorityError) {
            return String(decoding: try (signer ?? authority).sign(claims), as: UTF8.self)
        } catch {
            throw CommandFailure(.failed, error.description)
        }
    }
}
