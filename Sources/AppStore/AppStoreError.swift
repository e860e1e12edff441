/// Why something is not taken as signed by Apple for one of the configured apps.
///
/// The text is for people: what was expected and what was found, never the payload itself.
package enum AppStoreError: Error, Hashable, Sendable {
    /// No JSON, no JWS, `x5c` absent or no certificates, or an id that is none.
    case malformedPayload(String)
    /// A claim that verification needs is absent.
    case missingClaim(String)
    /// The header's `alg` is not ES256.
    case wrongAlgorithm(String)
    /// `x5c` does not hold three certificates.
    case chainLength(String)
    /// The certificates do not lead to a pinned root.
    case untrustedChain(String)
    /// A trusted certificate that is not one for App Store data.
    case markerOIDMissing(String)
    /// A certificate was not valid when the payload was signed.
    case certificateExpired(String)
    /// The signature is not one of the leaf's key over this text.
    case badSignature(String)
    /// An app that is not configured, or another one than the rest of the message is about.
    case wrongApp(String)
    /// An environment that is not configured, or another one than the rest of the message.
    case wrongEnvironment(String)
    /// Renewal info of another chain than the transaction that came with it.
    case renewalMismatch(String)

    /// The name for machines: UPPER_SNAKE, as in the protocol.
    package var reason: String {
        switch self {
        case .malformedPayload: "MALFORMED_PAYLOAD"
        case .missingClaim: "MISSING_CLAIM"
        case .wrongAlgorithm: "WRONG_ALGORITHM"
        case .chainLength: "CHAIN_LENGTH"
        case .untrustedChain: "UNTRUSTED_CHAIN"
        case .markerOIDMissing: "MARKER_OID_MISSING"
        case .certificateExpired: "CERTIFICATE_EXPIRED"
        case .badSignature: "BAD_SIGNATURE"
        case .wrongApp: "WRONG_APP"
        case .wrongEnvironment: "WRONG_ENVIRONMENT"
        case .renewalMismatch: "RENEWAL_MISMATCH"
        }
    }

    /// One sentence for people.
    package var message: String {
        switch self {
        case .malformedPayload(let text), .missingClaim(let text), .wrongAlgorithm(let text),
            .chainLength(let text), .untrustedChain(let text), .markerOIDMissing(let text),
            .certificateExpired(let text), .badSignature(let text), .wrongApp(let text),
            .wrongEnvironment(let text), .renewalMismatch(let text):
            text
        }
    }
}

/// `text` in quotes for a message: cut to 64 characters, and only printable ASCII, because it may
/// come from a stranger and go to a terminal or a log.
func quoted(_ text: String) -> String {
    let printable = text.unicodeScalars.prefix(64).map { scalar -> Character in
        (0x20..<0x7F).contains(scalar.value) && scalar != "\"" ? Character(scalar) : "?"
    }
    return "\"" + String(printable) + (text.unicodeScalars.count > 64 ? "..." : "") + "\""
}
