/// A notification that was verified before it was stored: gives back the two JWS inside.
///
/// They are stored nowhere else. It is read only where somebody wants to see a payload, and where
/// two copies were signed in the same millisecond.
package struct StoredNotification {
    /// The `data` of the notification.
    private let data: JSONObject

    /// Opens the bytes as they came; nil where they carry no `data`.
    ///
    /// - Parameter body: What Apple POSTed.
    package init?(body: [UInt8]) {
        var jws = body
        if isJSON(body) {
            guard let payload = try? JSONObject(body).bytes("signedPayload") else { return nil }
            jws = payload
        }
        guard let data = SignedPayload.claims(ofVerified: jws)?.object("data") else { return nil }
        self.data = data
    }

    /// The signed transaction, ASCII; nil without one.
    package var transaction: [UInt8]? { data.bytes("signedTransactionInfo") }

    /// The signed renewal info, ASCII; nil without one.
    package var renewal: [UInt8]? { data.bytes("signedRenewalInfo") }

    /// The id that the signed transaction has; nil without one.
    package var transactionID: String? {
        transaction.flatMap { SignedPayload.claims(ofVerified: $0)?.text("transactionId") }
    }

    /// The chain of which the renewal info is; nil without one.
    package var renewalChain: String? {
        renewal.flatMap { SignedPayload.claims(ofVerified: $0)?.text("originalTransactionId") }
    }
}
