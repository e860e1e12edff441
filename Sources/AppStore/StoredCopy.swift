internal import Bytes
package import Entitlements
internal import OpenSSL

/// A signed copy as it was stored, read again without a root: whether it is still what the
/// certificate inside has signed, and what it says.
///
/// It was verified against the pinned roots before it was stored. This finds what has changed
/// since; trust it does not decide.
package struct StoredCopy {
    private let claims: JSONObject
    private let signedDate: Timestamp

    /// Opens a compact JWS; nil where it is none, or its own leaf did not sign it.
    package init?(_ jws: [UInt8]) {
        let dot = UInt8(ascii: ".")
        guard let headerEnd = jws.span.firstOffset(of: dot),
            let payloadEnd = jws.span.firstOffset(of: dot, from: headerEnd + 1),
            let claims = SignedPayload.claims(ofVerified: jws),
            let key = Self.key(of: jws.span.extracting(0..<headerEnd)),
            let signature = try? Base64URL.decode(
                jws.span.extracting(payloadEnd + 1..<jws.count)),
            key.isValid(signature: signature.span, of: jws.span.extracting(0..<payloadEnd))
        else { return nil }
        self.claims = claims
        signedDate = claims.date("signedDate") ?? .distantPast
    }

    /// What it says where it is a transaction; nil where it is none.
    package var transaction: Transaction? { try? Transaction(claims, signedDate: signedDate) }

    /// What it says where it is renewal info; nil where it is none.
    package var renewal: RenewalInfo? { try? RenewalInfo(claims, signedDate: signedDate) }

    /// The id of a notification; nil where it is none.
    package var notificationUUID: String? { claims.text("notificationUUID") }

    /// Under which id the notification with this body is known: its own where a copy of it is
    /// whole, one of its digest where it is a version 1 body; nil where it is neither.
    ///
    /// - Parameter body: What Apple POSTed.
    /// - Returns: The id.
    package static func notificationUUID(ofBody body: [UInt8]) -> String? {
        guard isJSON(body) else { return StoredCopy(body)?.notificationUUID }
        guard let object = try? JSONObject(body) else { return nil }
        if let jws = object.bytes("signedPayload") { return StoredCopy(jws)?.notificationUUID }
        return (try? V1Notification(object, payload: body))?.map { "v1-\($0.digest)" } ?? nil
    }

    private static func key(of header: Span<UInt8>) -> ES256PublicKey? {
        guard let text = try? Base64URL.decode(header), let object = try? JSONObject(text),
            let first = object.array("x5c")?.first, let leaf = object.bytes(first),
            let der = try? Base64.decode(leaf.span),
            let certificate = try? Certificate(der: der.span)
        else { return nil }
        return ES256PublicKey(certificate)
    }
}
