internal import Bytes
internal import Entitlements
internal import OpenSSL
internal import Synchronization

/// A signed statement of who asks Apple's servers about which app: a JWT with ES256.
///
/// See: https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests,
/// RFC 7519, RFC 7518 3.4.
struct APIToken: Hashable, Sendable {
    /// From `iat` to `exp`. Apple takes up to an hour; a third of it bounds what a leaked token can
    /// do and still costs one signature in fifteen minutes.
    static let lifetimeMilliseconds: Int64 = 20 * 60_000
    /// A token this near its end is not used any more: our clock may be behind Apple's.
    static let reserveMilliseconds: Int64 = 5 * 60_000
    /// `iat` lies this far in the past: a server whose clock is behind ours refuses a token from
    /// the future.
    static let backdatingMilliseconds: Int64 = 30_000

    /// `header.claims.signature`.
    let text: String
    /// When it was made, by our clock.
    let mintedAt: Timestamp

    /// Makes a token.
    ///
    /// - Parameters:
    ///   - key: Signs.
    ///   - bundleID: The only app that the token is good for.
    ///   - now: By our clock.
    /// - Throws: `OpenSSLError` when the library cannot sign.
    init(key: APIKey, bundleID: String, now: Timestamp) throws(OpenSSLError) {
        let issuedAt = now.adding(milliseconds: -Self.backdatingMilliseconds)
        let header = JSONText.object([
            ("alg", .string("ES256")), ("kid", .string(key.keyID)), ("typ", .string("JWT")),
        ])
        let claims = JSONText.object([
            ("iss", .string(key.issuerID)), ("iat", .integer(issuedAt.wholeSeconds)),
            ("exp", .integer(issuedAt.wholeSeconds + Self.lifetimeMilliseconds / 1_000)),
            ("aud", .string("appstoreconnect-v1")), ("bid", .string(bundleID)),
        ])
        var text = Base64URL.encode(header.span)
        text.append(UInt8(ascii: "."))
        text += Base64URL.encode(claims.span)
        let signature = try key.signingKey.signature(of: text.span)
        text.append(UInt8(ascii: "."))
        text += Base64URL.encode(signature.span)
        self.text = String(decoding: text, as: UTF8.self)
        mintedAt = now
    }

    /// Whether Apple should still take it at `now`; never when the clock stands before its making,
    /// for then one of the two times was wrong.
    func isFresh(at now: Timestamp) -> Bool {
        let age = now.milliseconds.subtractingReportingOverflow(mintedAt.milliseconds)
        let ageMax =
            Self.lifetimeMilliseconds - Self.backdatingMilliseconds - Self.reserveMilliseconds
        return !age.overflow && age.partialValue >= 0 && age.partialValue < ageMax
    }
}

/// The tokens in use, one per app; any thread.
final class TokenStore: Sendable {
    private struct State {
        var key: APIKey
        var tokens: [ExactName: APIToken] = [:]
    }

    private let state: Mutex<State>

    init(key: APIKey) { state = Mutex(State(key: key)) }

    /// The key in use.
    var key: APIKey { state.withLock { $0.key } }

    /// Signs with another key from now on.
    func use(_ key: APIKey) { state.withLock { $0 = State(key: key) } }

    /// A token for an app: the one in use while it is fresh.
    ///
    /// - Throws: `OpenSSLError` when the library cannot sign.
    func token(for bundleID: String, at now: Timestamp) throws(OpenSSLError) -> APIToken {
        let (key, used) = state.withLock { ($0.key, $0.tokens[bundleID]) }
        if let used, used.isFresh(at: now) { return used }
        // Signed outside of the lock; two threads that meet here each make one, which is harmless.
        let made = try APIToken(key: key, bundleID: bundleID, now: now)
        state.withLock { state in
            let isCurrent =
                isSame(state.key.keyID, key.keyID) && state.key.signingKey === key.signingKey
            if isCurrent { state.tokens[bundleID] = made }
        }
        return made
    }

    /// Gives up a token that Apple did not take; another thread's newer one stays.
    func discard(_ token: APIToken, for bundleID: String) {
        state.withLock { state in
            if state.tokens[bundleID] == token { state.tokens[bundleID] = nil }
        }
    }
}

extension Timestamp {
    /// Seconds since 1970, floored: the unit of a JWT's dates.
    var wholeSeconds: Int64 {
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
