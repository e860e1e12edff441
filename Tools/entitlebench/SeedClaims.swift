/// The app that a population belongs to.
struct SeedApp: Hashable, Sendable {
    /// Its bundle identifier: letters, digits, dots and hyphens.
    var bundleID = "com.example.meadow"
    /// The App Store's number of it.
    var appAppleID: Int64 = 1_600_000_001
}

/// What Apple would sign, as JSON text.
///
/// Written straight into a string: building a tree of values and escaping it scalar by scalar costs
/// as much as the signature. No value in it needs to be escaped.
enum SeedClaims {
    /// The claims of a signed transaction, UTF-8.
    static func transaction(_ transaction: SeedTransaction, of app: SeedApp) -> [UInt8] {
        let ownership = transaction.isShared ? "FAMILY_SHARED" : "PURCHASED"
        var text =
            "{\"transactionId\":\"\(transaction.transactionID)\""
            + ",\"originalTransactionId\":\"\(transaction.originalTransactionID)\""
            + ",\"appTransactionId\":\"\(transaction.appTransactionID)\""
            + ",\"bundleId\":\"\(app.bundleID)\",\"productId\":\"\(transaction.productID)\""
            + ",\"subscriptionGroupIdentifier\":\"21000001\""
            + ",\"purchaseDate\":\(transaction.purchaseDate)"
            + ",\"originalPurchaseDate\":\(transaction.purchaseDate)"
            + ",\"expiresDate\":\(transaction.expiresDate),\"quantity\":1"
            + ",\"type\":\"Auto-Renewable Subscription\""
            + ",\"inAppOwnershipType\":\"\(ownership)\""
            + ",\"signedDate\":\(transaction.signedDate),\"environment\":\"Production\""
            + ",\"transactionReason\":\"PURCHASE\",\"storefront\":\"FRA\""
            + ",\"storefrontId\":\"143442\""
        if let token = transaction.appAccountToken { text += ",\"appAccountToken\":\"\(token)\"" }
        if let id = transaction.lineItemID { text += ",\"webOrderLineItemId\":\"\(id)\"" }
        if !transaction.isShared { text += ",\"price\":9990,\"currency\":\"EUR\"" }
        if transaction.revocationDate != 0 {
            text +=
                ",\"revocationDate\":\(transaction.revocationDate),\"revocationReason\":0"
                + ",\"revocationType\":\"REFUND_FULL\",\"revocationPercentage\":100000"
        }
        return Array((text + "}").utf8)
    }

    /// The claims of signed renewal info, UTF-8.
    static func renewal(_ renewal: SeedRenewal) -> [UInt8] {
        let text =
            "{\"originalTransactionId\":\"\(renewal.originalTransactionID)\""
            + ",\"productId\":\"\(renewal.productID)\""
            + ",\"autoRenewProductId\":\"\(renewal.productID)\",\"autoRenewStatus\":1"
            + (renewal.isRetrying ? ",\"expirationIntent\":2,\"isInBillingRetryPeriod\":true" : "")
            + ",\"renewalDate\":\(renewal.renewalDate)"
            + ",\"signedDate\":\(renewal.signedDate),\"environment\":\"Production\"}"
        return Array(text.utf8)
    }

    /// The claims of a signed notification about a subscription, UTF-8; `transaction` and `renewal`
    /// are the JWS in it.
    static func notification(
        _ event: SeedNotification, transaction: [UInt8], renewal: [UInt8]?, of app: SeedApp
    ) -> [UInt8] {
        var text = "{\"notificationType\":\"\(event.type)\""
        if !event.subtype.isEmpty { text += ",\"subtype\":\"\(event.subtype)\"" }
        text +=
            ",\"notificationUUID\":\"\(event.uuid)\",\"version\":\"2.0\""
            + ",\"signedDate\":\(event.signedDate)"
            + ",\"data\":{\"bundleId\":\"\(app.bundleID)\",\"bundleVersion\":\"1\""
            + ",\"environment\":\"Production\",\"appAppleId\":\(app.appAppleID)"
        if event.status != 0 { text += ",\"status\":\(event.status)" }
        var bytes = Array((text + ",\"signedTransactionInfo\":\"").utf8)
        bytes += transaction
        if let renewal {
            bytes += Array("\",\"signedRenewalInfo\":\"".utf8)
            bytes += renewal
        }
        bytes += Array("\"}}".utf8)
        return bytes
    }
}

/// A notification of Apple's, but for what is signed in it.
struct SeedNotification: Hashable, Sendable {
    var type: String
    /// Empty: none.
    var subtype = ""
    var uuid: String
    var signedDate: Int64
    /// The subscription's status, 1 to 5; 0: left out.
    var status = 0
}
