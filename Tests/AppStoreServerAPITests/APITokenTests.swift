import AppStore
@testable import AppStoreServerAPI
import Bytes
import Entitlements
import OpenSSL
import Testing

@Suite struct APITokenTests {
    private let now = Timestamp.april8(123)

    private func segments(_ token: APIToken) throws -> [[UInt8]] {
        try token.text.split(separator: ".", omittingEmptySubsequences: false).map {
            let encoded = Array($0.utf8)
            return try Base64URL.decode(encoded.span)
        }
    }

    @Test func `header and claims are those that Apple documents, dates in seconds`() throws {
        let token = try APIToken(key: try Desk.key(), bundleID: Desk.bundleID, now: now)
        let parts = try segments(token)
        #expect(
            String(decoding: parts[0], as: UTF8.self)
                == #"{"alg":"ES256","kid":"KEY1","typ":"JWT"}"#)
        #expect(
            String(decoding: parts[1], as: UTF8.self)
                == #"{"iss":"issuer-1","iat":1775642370,"exp":1775643570,"#
                + #""aud":"appstoreconnect-v1","bid":"com.example.meadow"}"#)
    }

    @Test func `the public key confirms the signature, 64 bytes of it`() throws {
        let token = try APIToken(key: try Desk.key(), bundleID: Desk.bundleID, now: now)
        let signature = try segments(token)[2]
        let end = try #require(token.text.lastIndex(of: "."))
        let signed = Array(token.text[..<end].utf8)
        let key = try Desk.publicKey()
        #expect(signature.count == 64)
        #expect(key.isValid(signature: signature.span, of: signed.span) == true)
        let other = Array("x".utf8) + signed.dropFirst()
        #expect(key.isValid(signature: signature.span, of: other.span) == false)
    }

    @Test func `a bundle id is escaped where JSON wants it`() throws {
        let token = try APIToken(key: try Desk.key(), bundleID: "a\"\\\n", now: now)
        let claims = try JSONObject(try segments(token)[1])
        #expect(claims.string("bid") == "a\"\\\n")
    }

    private static let ages: [(Int64, Bool)] = [
        (0, true), (869_999, true), (870_000, false), (-1, false), (Int64.max - Desk.april8, false),
    ]

    @Test(arguments: ages)
    func `a token is used until five minutes before its end, and never before its making`(
        age: Int64, isSame: Bool
    ) throws {
        let store = TokenStore(key: try Desk.key())
        let first = try store.token(for: "a", at: .april8())
        let second = try store.token(for: "a", at: .april8(age))
        #expect((first == second) == isSame)
    }

    @Test func `each app has a token of its own`() throws {
        let store = TokenStore(key: try Desk.key())
        let first = try store.token(for: "a", at: now)
        #expect(try store.token(for: "b", at: now) != first)
        #expect(try store.token(for: "a", at: now) == first)
    }

    @Test func `a discarded token is not used again, and a newer one is not discarded with it`()
        throws
    {
        let store = TokenStore(key: try Desk.key())
        let first = try store.token(for: "a", at: now)
        store.discard(first, for: "a")
        let second = try store.token(for: "a", at: now)
        #expect(second != first)
        store.discard(first, for: "a")
        #expect(try store.token(for: "a", at: now) == second)
    }

    @Test func `another key signs anew, at once`() throws {
        let store = TokenStore(key: try Desk.key())
        let first = try store.token(for: "a", at: now)
        let file = try SigningKey(generatedOn: .p256).pem()
        store.use(try APIKey(issuerID: "issuer-1", keyID: "KEY2", file: file))
        let second = try store.token(for: "a", at: now)
        #expect(second != first)
        let header = try JSONObject(try segments(second)[0])
        #expect(header.string("kid") == "KEY2")
    }

    @Test(arguments: [(Int64(1_999), Int64(1)), (-1, -1), (-1_000, -1), (0, 0)])
    func `seconds are floored`(milliseconds: Int64, seconds: Int64) {
        #expect(Timestamp(milliseconds: milliseconds).wholeSeconds == seconds)
    }
}
