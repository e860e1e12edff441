internal import Bytes
internal import Entitlements
internal import OpenSSL

/// The payload of a compact JWS whose chain and signature are verified (RFC 7515, 7518).
///
/// Checks run in this order, and the first that fails is the answer: three segments and a JSON
/// header, `alg`, `x5c` and its length, the certificates, trust, marker extensions, signature,
/// payload. `x5c[2]` is never looked at: the pinned root counts. `kid`, `jwk` and `jku` are
/// ignored.
///
/// The date is left to ``signedDate(_:)``, which every reader has to call to get at it: callers
/// look at the app first, because that is the more useful answer where both are wrong.
struct SignedPayload {
    /// The decoded payload.
    let claims: JSONObject
    /// When all certificates of the chain are valid.
    private let window: ValidityWindow

    /// Verifies a JWS.
    ///
    /// - Parameters:
    ///   - jws: The compact form, ASCII.
    ///   - chains: Decides on the certificates.
    /// - Throws: ``AppStoreError``, for the first check that fails.
    init(verifying jws: [UInt8], chains: SigningChains) throws(AppStoreError) {
        let (headerEnd, payloadEnd) = try Self.dots(in: jws.span)
        let header = jws.span.extracting(0..<headerEnd)
        let known = chains.known(header: header)
        let chain: SigningChain
        if let known { chain = known.chain } else { chain = try Self.chain(of: header, chains) }
        let signature = try Self.decoded(
            jws.span.extracting(payloadEnd + 1..<jws.count), "the signature")
        guard signature.count == ES256PublicKey.signatureByteCount else {
            throw .badSignature(
                "an ES256 signature has \(ES256PublicKey.signatureByteCount) bytes, this one has "
                    + "\(signature.count)")
        }
        let digest = (known?.prefix ?? SHA256Prefix(of: header))
            .digest(with: jws.span.extracting(headerEnd..<payloadEnd))
        guard chain.key.isValid(signature: signature.span, ofDigest: digest) else {
            throw .badSignature("the leaf's key did not sign this header and payload")
        }
        if known == nil { chains.remember(chain, header: header) }
        claims = try Self.object(
            jws.span.extracting(headerEnd + 1..<payloadEnd), "the payload of the JWS")
        window = chain.window
    }

    /// When Apple signed it: the instant at which the certificates must have been valid.
    ///
    /// - Parameter name: The claim that says so.
    /// - Returns: The date, inside the chain's validity.
    /// - Throws: ``AppStoreError/missingClaim(_:)``, ``AppStoreError/certificateExpired(_:)``.
    func signedDate(_ name: String = "signedDate") throws(AppStoreError) -> Timestamp {
        guard let milliseconds = claims.integer(name) else {
            throw .missingClaim("\(name) is absent or no number")
        }
        guard window.contains(milliseconds) else {
            throw .certificateExpired(
                "the certificates were valid from \(window.notBeforeMilliseconds) to "
                    + "\(window.notAfterMilliseconds), \(name) is \(milliseconds)")
        }
        return Timestamp(milliseconds: milliseconds)
    }

    /// The claims of a JWS that was verified when it came: nothing but its form is checked.
    ///
    /// - Parameter jws: The compact form, ASCII.
    /// - Returns: nil where it is none.
    static func claims(ofVerified jws: [UInt8]) -> JSONObject? {
        guard let (headerEnd, payloadEnd) = try? dots(in: jws.span) else { return nil }
        return try? object(jws.span.extracting(headerEnd + 1..<payloadEnd), "the payload")
    }

    /// The offsets of the two dots.
    private static func dots(in jws: Span<UInt8>) throws(AppStoreError) -> (Int, Int) {
        let dot = UInt8(ascii: ".")
        guard let first = jws.firstOffset(of: dot),
            let second = jws.firstOffset(of: dot, from: first + 1),
            jws.firstOffset(of: dot, from: second + 1) == nil
        else { throw .malformedPayload("a JWS has three segments between two dots") }
        return (first, second)
    }

    private static func chain(
        of header: Span<UInt8>, _ chains: SigningChains
    ) throws(AppStoreError) -> SigningChain {
        let header = try object(header, "the header of the JWS")
        let algorithm = header.string("alg")
        guard algorithm == "ES256" else {
            throw .wrongAlgorithm("alg must be \"ES256\", not \(quoted(algorithm ?? "absent"))")
        }
        // RFC 7515 4.1.11: extensions that must be understood; Apple uses none.
        guard header.value("crit") == nil else {
            throw .malformedPayload("the JWS header names critical extensions")
        }
        guard let certificates = header.array("x5c"), !certificates.isEmpty else {
            throw .malformedPayload("x5c is absent, empty or no array")
        }
        let texts = certificates.compactMap { header.bytes($0) }
        guard texts.count == certificates.count else {
            throw .malformedPayload("x5c must hold strings only")
        }
        guard texts.count == 3 else {
            throw .chainLength("x5c must hold 3 certificates, not \(texts.count)")
        }
        return try chains.trusted(
            leaf: der(texts[0], "x5c[0]"), intermediate: der(texts[1], "x5c[1]"))
    }

    private static func der(_ text: [UInt8], _ name: String) throws(AppStoreError) -> [UInt8] {
        do throws(Base64Error) {
            return try Base64.decode(text.span)
        } catch {
            throw .malformedPayload("\(name) of the JWS header is not Base64: \(error)")
        }
    }

    private static func object(
        _ segment: Span<UInt8>, _ name: String
    ) throws(AppStoreError) -> JSONObject {
        let text = try decoded(segment, name)
        do throws(JSONError) {
            return try JSONObject(text)
        } catch {
            throw .malformedPayload(
                "\(name) is no JSON object: expected \(error.expected) at byte \(error.offset)")
        }
    }

    private static func decoded(
        _ segment: Span<UInt8>, _ name: String
    ) throws(AppStoreError) -> [UInt8] {
        do throws(Base64Error) {
            return try Base64URL.decode(segment)
        } catch {
            throw .malformedPayload("\(name) is not Base64URL: \(error)")
        }
    }
}
