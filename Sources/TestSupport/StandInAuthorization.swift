internal import AppStore
internal import Bytes
internal import Entitlements
internal import HTTP
internal import OpenSSL

extension StandInState {
    /// Apple's clocks are right to the second or so; what is signed further in the future is not
    /// believed.
    private static let skewSecondsMax: Int64 = 60

    /// Why the token of a request is not accepted; nil when it is.
    ///
    /// See: https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
    func refusal(of request: HTTPRequest, bundleID: String, now: Int64) -> String? {
        let scheme = "Bearer "
        guard let field = request.fields.value("Authorization"), field.hasPrefix(scheme) else {
            return "no Bearer token"
        }
        let segments = field.dropFirst(scheme.count)
            .split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        guard segments.count == 3 else { return "a token has three segments" }
        guard let header = Self.object(segments[0]), let claims = Self.object(segments[1]) else {
            return "header or claims are no JSON in Base64URL"
        }
        guard header.string("alg") == "ES256", header.string("typ") == "JWT" else {
            return "alg is not ES256, or typ not JWT"
        }
        guard let keyID = header.string("kid"), let key = keys.last(where: { $0.keyID == keyID })
        else { return "kid names no key" }
        guard !revokedKeyIDs.contains(keyID) else { return "the key was revoked" }
        guard Self.isSigned(segments, by: key.publicKey) else { return "the key did not sign this" }
        guard claims.string("iss") == key.issuerID else { return "iss is not the key's issuer" }
        guard claims.string("aud") == "appstoreconnect-v1" else { return "aud is wrong" }
        guard claims.string("bid") == bundleID else { return "bid is another app" }
        return Self.refusal(ofDatesIn: claims, nowSeconds: now / 1_000)
    }

    private static func refusal(ofDatesIn claims: JSONObject, nowSeconds: Int64) -> String? {
        guard let issuedAt = claims.integer("iat"), let end = claims.integer("exp") else {
            return "iat or exp is absent"
        }
        if issuedAt > nowSeconds + skewSecondsMax { return "iat is in the future" }
        if end <= nowSeconds { return "exp is past" }
        if end - issuedAt > 3_600 { return "exp is more than an hour after iat" }
        return nil
    }

    private static func isSigned(_ segments: [[UInt8]], by key: ES256PublicKey) -> Bool {
        let signed = segments[0] + [UInt8(ascii: ".")] + segments[1]
        let encoded = segments[2]
        guard let signature = try? Base64URL.decode(encoded.span) else { return false }
        return key.isValid(signature: signature.span, of: signed.span)
    }

    private static func object(_ segment: [UInt8]) -> JSONObject? {
        guard let text = try? Base64URL.decode(segment.span) else { return nil }
        return try? JSONObject(text)
    }
}

/// A date as headers have it: `Wed, 08 Apr 2026 10:00:02 GMT`.
func standInDate(milliseconds: Int64) -> String {
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let instant = Timestamp(milliseconds: max(0, milliseconds))
    let text = ScenarioInstant.text(instant).split(separator: "T")
    let date = text[0].split(separator: "-")
    let time = text.count > 1 ? text[1].prefix(8) : "00:00:00"
    let weekday = weekdays[Int(instant.milliseconds / 86_400_000 % 7)]
    let month = months[(Int(date[1]) ?? 1) - 1]
    return "\(weekday), \(date[2]) \(month) \(date[0]) \(time) GMT"
}
