internal import OpenSSL
internal import TestSupport

/// Signs what Apple would sign, each copy once: a copy that is sent again is the same bytes.
///
/// Signatures differ from run to run, their lengths do not: the certificates are made anew until
/// theirs are of the usual length, so that every frame has the same size in every run of a seed.
final class Mint {
    /// Bytes of a certificate around its signed part: 4 for the outer header, 12 for the name of
    /// the algorithm, 3 for the header of the signature, and 103 for the most common length of a
    /// P-384 signature in DER.
    private static let usualByteCount = 4 + 12 + 3 + 103

    private let fixtures: SignedFixtures
    private var transactions: [TransactionCopy: [UInt8]] = [:]
    private var renewals: [RenewalCopy: [UInt8]] = [:]
    private var notifications: [Int: [UInt8]] = [:]

    var authority: TestCertificateAuthority { fixtures.authority }
    var bundleID: String { fixtures.bundleID }
    var appAppleID: Int64 { fixtures.appAppleID }

    init(_ authority: TestCertificateAuthority) {
        fixtures = SignedFixtures(authority: authority)
    }

    /// An authority whose certificates have the usual lengths.
    static func makeAuthority() throws(OpenSSLError) -> TestCertificateAuthority {
        while true {
            let authority = try TestCertificateAuthority(name: "Simulation")
            let chain = [authority.leaf, authority.intermediate, authority.root]
            if chain.allSatisfy({ unsignedByteCount($0.der) == usualByteCount }) {
                return authority
            }
        }
    }

    /// Bytes of a certificate outside of what is signed.
    private static func unsignedByteCount(_ der: [UInt8]) -> Int {
        // SEQUENCE with a length of two bytes, and in it the signed SEQUENCE with one as well.
        guard der.count > 8, der[1] == 0x82, der[5] == 0x82 else { return 0 }
        return der.count - 4 - (Int(der[6]) << 8 | Int(der[7]))
    }

    func jws(_ copy: TransactionCopy) -> [UInt8] {
        if let known = transactions[copy] { return known }
        var claims = fixtures.transactionClaims(
            copy.id, original: copy.chainID, product: copy.product.id, purchased: copy.purchased,
            expires: copy.expires, ownership: copy.isShared ? "FAMILY_SHARED" : "PURCHASED",
            revoked: copy.revoked, signed: copy.signed)
        claims["type"] = .string(copy.product.type)
        claims["appTransactionId"] = .string(SimulatedName.accountID(copy.person))
        if copy.carriesToken {
            claims["appAccountToken"] = .string(SimulatedName.tokenID(copy.person))
        }
        if copy.isUpgraded { claims["isUpgraded"] = true }
        if copy.revoked != nil {
            claims["revocationReason"] = copy.revocationReason.map { .integer($0) }
        }
        claims["revocationType"] = copy.revocationType.map { .string($0) }
        let jws = signed(claims)
        transactions[copy] = jws
        return jws
    }

    func jws(_ copy: RenewalCopy) -> [UInt8] {
        if let known = renewals[copy] { return known }
        var claims: FixtureJSON = [
            "originalTransactionId": .string(TransactionCopy.id(copy.chain)),
            "productId": .string(copy.product.id), "autoRenewProductId": .string(copy.product.id),
            "autoRenewStatus": 1, "signedDate": .integer(copy.signed),
            "environment": .string(fixtures.environment),
        ]
        claims["gracePeriodExpiresDate"] = copy.graceExpires.map { .integer($0) }
        if copy.isInBillingRetry { claims["isInBillingRetryPeriod"] = true }
        let jws = signed(claims)
        renewals[copy] = jws
        return jws
    }

    /// The body that Apple POSTs.
    func body(_ fact: NotificationFact) -> [UInt8] {
        if let known = notifications[fact.number] { return known }
        let data = fixtures.notificationData(
            transaction: jws(fact.copy), renewal: fact.renewal.map { jws($0) }, status: fact.status)
        let claims: FixtureJSON = [
            "notificationType": .string(fact.type), "notificationUUID": .string(fact.uuid),
            "version": "2.0", "signedDate": .integer(fact.signed), "data": data,
        ]
        let body = SignedFixtures.body(signed(claims))
        notifications[fact.number] = body
        return body
    }

    private func signed(_ claims: FixtureJSON) -> [UInt8] {
        do throws(OpenSSLError) {
            return try fixtures.authority.sign(claims)
        } catch {
            preconditionFailure("a key that was just made signs: \(error)")
        }
    }
}
