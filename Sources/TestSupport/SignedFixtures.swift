package import AppStore
package import Entitlements
package import OpenSSL

/// What Apple would sign for one app in one environment, signed by a test authority.
///
/// Every maker has defaults that make a valid payload; `changes` adds, replaces or removes members
/// of its JSON. All dates are milliseconds since 1970.
package struct SignedFixtures: Sendable {
    /// Who signs.
    package var authority: TestCertificateAuthority
    /// The app.
    package var bundleID: String
    /// The App Store's number of the app; written in Production only, as Apple does.
    package var appAppleID: Int64
    /// Apple's name of the environment; any text, to try the wrong ones.
    package var environment: String

    /// The desk of one app.
    ///
    /// - Parameters:
    ///   - authority: Who signs.
    ///   - bundleID: The app.
    ///   - appAppleID: The App Store's number of the app.
    ///   - environment: Apple's name of the environment.
    package init(
        authority: TestCertificateAuthority, bundleID: String = "com.example.meadow",
        appAppleID: Int64 = 1_600_000_001, environment: String = "Production"
    ) {
        self.authority = authority
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environment = environment
    }

    /// The app as a verifier has to be told of it.
    ///
    /// - Parameter environments: What is accepted.
    /// - Returns: The app.
    package func app(environments: Set<AppEnvironment> = [.production]) -> TrustedApp {
        TrustedApp(bundleID: bundleID, appAppleID: appAppleID, environments: environments)
    }

    /// A verifier that accepts what this desk signs.
    ///
    /// - Parameter environments: What is accepted.
    /// - Returns: The verifier.
    /// - Throws: `TrustError`.
    package func verifier(
        environments: Set<AppEnvironment> = [.production]
    ) throws(TrustError) -> SignedDataVerifier {
        try SignedDataVerifier(
            apps: [app(environments: environments)], roots: [authority.trustedRoot])
    }

    /// The claims of a transaction.
    ///
    /// - Parameters:
    ///   - id: transactionId.
    ///   - original: originalTransactionId; nil = `id`.
    ///   - product: productId.
    ///   - purchased: purchaseDate.
    ///   - expires: expiresDate; with one it is an auto-renewable of group 21000001, without one a
    ///     non-consumable.
    ///   - ownership: inAppOwnershipType.
    ///   - revoked: revocationDate.
    ///   - signed: signedDate; nil = 3 s after the purchase, or 4 s after the revocation.
    ///   - changes: To the JSON.
    /// - Returns: A JSON object.
    package func transactionClaims(
        _ id: String, original: String? = nil, product: String, purchased: Int64,
        expires: Int64? = nil, ownership: String = "PURCHASED", revoked: Int64? = nil,
        signed: Int64? = nil, changes: FixtureChanges = [:]
    ) -> FixtureJSON {
        let signedDate = signed ?? revoked.map { $0 + 4_000 } ?? purchased + 3_000
        var claims: FixtureJSON = [
            "transactionId": .string(id), "originalTransactionId": .string(original ?? id),
            "bundleId": .string(bundleID), "productId": .string(product),
            "purchaseDate": .integer(purchased), "originalPurchaseDate": .integer(purchased),
            "quantity": 1, "inAppOwnershipType": .string(ownership),
            "signedDate": .integer(signedDate), "environment": .string(environment),
            "transactionReason": "PURCHASE", "storefront": "FRA", "storefrontId": "143442",
            "price": 9_990, "currency": "EUR",
        ]
        if let expires {
            claims["type"] = "Auto-Renewable Subscription"
            claims["expiresDate"] = .integer(expires)
            claims["subscriptionGroupIdentifier"] = "21000001"
            claims["webOrderLineItemId"] = .string("9" + id)
        } else {
            claims["type"] = "Non-Consumable"
        }
        if let revoked {
            claims["revocationDate"] = .integer(revoked)
            claims["revocationReason"] = 0
        }
        return claims.changed(changes)
    }

    /// A signed transaction; the parameters are those of its claims.
    ///
    /// - Returns: A compact JWS, ASCII.
    /// - Throws: `OpenSSLError`.
    package func transaction(
        _ id: String, original: String? = nil, product: String, purchased: Int64,
        expires: Int64? = nil, ownership: String = "PURCHASED", revoked: Int64? = nil,
        signed: Int64? = nil, changes: FixtureChanges = [:]
    ) throws(OpenSSLError) -> [UInt8] {
        try authority.sign(
            transactionClaims(
                id, original: original, product: product, purchased: purchased, expires: expires,
                ownership: ownership, revoked: revoked, signed: signed, changes: changes))
    }

    /// Signed renewal info.
    ///
    /// - Parameters:
    ///   - original: originalTransactionId.
    ///   - product: productId, and the next one.
    ///   - renewal: renewalDate.
    ///   - signed: signedDate.
    ///   - changes: To the JSON.
    /// - Returns: A compact JWS, ASCII.
    /// - Throws: `OpenSSLError`.
    package func renewal(
        _ original: String, product: String, renewal: Int64, signed: Int64,
        changes: FixtureChanges = [:]
    ) throws(OpenSSLError) -> [UInt8] {
        let claims: FixtureJSON = [
            "originalTransactionId": .string(original), "productId": .string(product),
            "autoRenewProductId": .string(product), "autoRenewStatus": 1,
            "renewalDate": .integer(renewal), "signedDate": .integer(signed),
            "environment": .string(environment),
        ]
        return try authority.sign(claims.changed(changes))
    }

    /// The `data` of a notification: app, environment, and what is signed in it.
    ///
    /// - Parameters:
    ///   - transaction: signedTransactionInfo.
    ///   - renewal: signedRenewalInfo.
    ///   - status: The subscription status, 1 to 5.
    /// - Returns: A JSON object.
    package func notificationData(
        transaction: [UInt8]? = nil, renewal: [UInt8]? = nil, status: Int64? = nil
    ) -> FixtureJSON {
        var data: FixtureJSON = [
            "bundleId": .string(bundleID), "bundleVersion": "1",
            "environment": .string(environment),
        ]
        if environment == AppEnvironment.production.name {
            data["appAppleId"] = .integer(appAppleID)
        }
        data["signedTransactionInfo"] = transaction.map {
            .string(String(decoding: $0, as: UTF8.self))
        }
        data["signedRenewalInfo"] = renewal.map { .string(String(decoding: $0, as: UTF8.self)) }
        data["status"] = status.map { .integer($0) }
        return data
    }

    /// A signed notification without the envelope around it.
    ///
    /// - Parameters:
    ///   - type: notificationType.
    ///   - subtype: Left out when nil.
    ///   - uuid: notificationUUID.
    ///   - signed: signedDate.
    ///   - data: `data`; left out when nil.
    ///   - changes: To the JSON.
    /// - Returns: A compact JWS, ASCII.
    /// - Throws: `OpenSSLError`.
    package func notification(
        _ type: String, subtype: String? = nil, uuid: String, signed: Int64, data: FixtureJSON?,
        changes: FixtureChanges = [:]
    ) throws(OpenSSLError) -> [UInt8] {
        var claims: FixtureJSON = [
            "notificationType": .string(type), "notificationUUID": .string(uuid),
            "version": "2.0", "signedDate": .integer(signed),
        ]
        claims["subtype"] = subtype.map { .string($0) }
        claims["data"] = data
        return try authority.sign(claims.changed(changes))
    }

    /// A signed AppTransaction.
    ///
    /// - Parameters:
    ///   - appTransactionID: appTransactionId.
    ///   - created: receiptCreationDate, which is when it was signed.
    ///   - changes: To the JSON.
    /// - Returns: A compact JWS, ASCII.
    /// - Throws: `OpenSSLError`.
    package func appTransaction(
        _ appTransactionID: String, created: Int64, changes: FixtureChanges = [:]
    ) throws(OpenSSLError) -> [UInt8] {
        var claims: FixtureJSON = [
            "receiptType": .string(environment), "bundleId": .string(bundleID),
            "applicationVersion": "1", "receiptCreationDate": .integer(created),
            "originalPurchaseDate": .integer(created), "originalApplicationVersion": "1",
            "appTransactionId": .string(appTransactionID), "originalPlatform": "iOS",
        ]
        if environment == AppEnvironment.production.name {
            claims["appAppleId"] = .integer(appAppleID)
        }
        return try authority.sign(claims.changed(changes))
    }

    /// The body that Apple POSTs for a signed notification.
    ///
    /// - Parameter jws: The notification.
    /// - Returns: `{"signedPayload":"..."}`.
    package static func body(_ jws: [UInt8]) -> [UInt8] {
        Array("{\"signedPayload\":\"".utf8) + jws + Array("\"}".utf8)
    }
}
