internal import Entitlements

// Apple's names on the left, ours on the right; nothing else knows both.
//
// Lenient in what it does not need: null is absent, and so is an optional field of another type.
// Strict in what becomes a key: 1 to 128 bytes; a NUL is a byte like any other.

/// The longest text that is taken from a payload, as for every identifier of the protocol.
let identifierByteCountMax = 128

extension JSONObject {
    /// A text that may become a key: absent when empty, and malformed when it is too long.
    func identifier(_ name: String) throws(AppStoreError) -> String? {
        guard let text = text(name), !text.isEmpty else { return nil }
        guard text.utf8.count <= identifierByteCountMax else {
            throw .malformedPayload("\(name) must have 1 to \(identifierByteCountMax) bytes")
        }
        return text
    }

    /// An identifier without which nothing can be done.
    func required(_ name: String, in part: String) throws(AppStoreError) -> String {
        guard let text = try identifier(name) else {
            throw .missingClaim("\(name) is absent from \(part)")
        }
        return text
    }

    /// A date in milliseconds since 1970.
    func date(_ name: String) -> Timestamp? {
        integer(name).map { Timestamp(milliseconds: $0) }
    }

    /// A UUID in lower case, because UUIDs compare without it (RFC 9562 section 4).
    func token(_ name: String) throws(AppStoreError) -> String? {
        guard let text = try identifier(name) else { return nil }
        let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(
            decoding: text.utf8.map { upper.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension Transaction {
    /// Reads a JWSTransactionDecodedPayload.
    init(_ claims: JSONObject, signedDate: Timestamp) throws(AppStoreError) {
        let part = "the transaction"
        let transactionID = try claims.required("transactionId", in: part)
        self.init(
            transactionID: transactionID,
            originalTransactionID: try claims.identifier("originalTransactionId") ?? transactionID,
            productID: try claims.identifier("productId") ?? "",
            rawType: try claims.identifier("type") ?? "",
            rawOwnership: try claims.identifier("inAppOwnershipType") ?? "",
            purchaseDate: claims.date("purchaseDate"),
            signedDate: signedDate)
        expiresDate = claims.date("expiresDate")
        revocationDate = claims.date("revocationDate")
        revocationReason = claims.integer32("revocationReason")
        revocationType = try claims.identifier("revocationType")
        revocationPercentage = claims.integer32("revocationPercentage")
        isUpgraded = claims.boolean("isUpgraded") ?? false
        appAccountToken = try claims.token("appAccountToken")
        appTransactionID = try claims.identifier("appTransactionId")
        webOrderLineItemID = try claims.identifier("webOrderLineItemId")
        subscriptionGroupID = try claims.identifier("subscriptionGroupIdentifier")
        price = claims.integer("price")
        currency = try claims.identifier("currency")
    }
}

extension RenewalInfo {
    /// Reads a JWSRenewalInfoDecodedPayload.
    init(_ claims: JSONObject, signedDate: Timestamp) throws(AppStoreError) {
        self.init(
            originalTransactionID: try claims.required(
                "originalTransactionId", in: "the renewal info"),
            signedDate: signedDate)
        productID = try claims.identifier("productId")
        autoRenewStatus = claims.integer32("autoRenewStatus")
        autoRenewProductID = try claims.identifier("autoRenewProductId")
        isInBillingRetryPeriod = claims.boolean("isInBillingRetryPeriod") ?? false
        gracePeriodExpiresDate = claims.date("gracePeriodExpiresDate")
        renewalDate = claims.date("renewalDate")
        expirationIntent = claims.integer32("expirationIntent")
    }
}
