/// One signed copy of a subscription's renewal information, decoded.
///
/// See: https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
package struct RenewalInfo: Hashable, Sendable {
    /// The chain that it speaks of.
    package var originalTransactionID: String
    /// The chain's current product.
    package var productID: String?
    /// 1: will renew; 0: off.
    package var autoRenewStatus: Int32?
    /// The product of the next renewal.
    package var autoRenewProductID: String?
    /// True while Apple retries the payment, the grace period included.
    package var isInBillingRetryPeriod: Bool
    /// Until when a failed renewal keeps its access.
    package var gracePeriodExpiresDate: Timestamp?
    /// The end of the newest purchased period; never extends anything.
    package var renewalDate: Timestamp?
    /// Why the subscription ended: 1...5.
    package var expirationIntent: Int32?
    /// When this copy was signed.
    package var signedDate: Timestamp
    /// The revision of the stored notification in which the signed copy lies; 0: it is stored by
    /// itself; `PayloadPlace.forgotten`: it was removed on request. No answer rests on it.
    package var payloadRevision: UInt64 = 0

    /// The renewal info of a chain as signed at `signedDate`.
    package init(originalTransactionID: String, signedDate: Timestamp) {
        self.originalTransactionID = originalTransactionID
        self.signedDate = signedDate
        self.isInBillingRetryPeriod = false
    }
}

/// Decoded renewal info with the very bytes that Apple signed.
package struct SignedRenewal: Hashable, Sendable {
    /// The decoded fields.
    package let renewal: RenewalInfo
    /// The compact JWS, ASCII.
    package let payload: [UInt8]

    /// Pairs what was decoded with what was signed.
    package init(renewal: RenewalInfo, payload: [UInt8]) {
        self.renewal = renewal
        self.payload = payload
    }

    /// Whether this copy replaces `stored`: newest signedDate, then the greater payload bytes.
    package func supersedes(_ stored: SignedRenewal) -> Bool {
        let (new, old) = (renewal.signedDate, stored.renewal.signedDate)
        if new != old { return new > old }
        return payloadSegment(stored.payload).lexicographicallyPrecedes(payloadSegment(payload))
    }
}
