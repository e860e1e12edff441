internal import OpenSSL

/// An In-App Purchase key of App Store Connect: what the tokens for Apple's servers are signed
/// with. It is good for every app of the team.
///
/// See: https://developer.apple.com/documentation/appstoreserverapi/creating-api-keys-to-authorize-api-requests
package struct APIKey: Sendable {
    /// The issuer id of the team, a UUID.
    package let issuerID: String
    /// The id of the key, as App Store Connect shows it.
    package let keyID: String
    let signingKey: SigningKey

    /// Reads a key as App Store Connect hands it out.
    ///
    /// - Parameters:
    ///   - issuerID: The issuer id of the team.
    ///   - keyID: The id of the key.
    ///   - file: The content of the `.p8` file: PKCS #8 in PEM, unencrypted.
    /// - Throws: ``APIKeyError``.
    package init(
        issuerID: String, keyID: String, file: [UInt8]
    ) throws(APIKeyError) {
        guard !issuerID.isEmpty else { throw .emptyIssuerID }
        guard !keyID.isEmpty else { throw .emptyKeyID }
        let key: SigningKey
        do throws(OpenSSLError) {
            key = try SigningKey(pem: file.span)
        } catch {
            throw .unreadable("\(error)")
        }
        guard key.curve == .p256 else { throw .wrongCurve(key.curve.rawValue) }
        self.issuerID = issuerID
        self.keyID = keyID
        signingKey = key
    }
}

/// Why a key cannot sign tokens for Apple's servers.
package enum APIKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The issuer id is empty.
    case emptyIssuerID
    /// The key's id is empty.
    case emptyKeyID
    /// The file holds no private key that can be read; the text says why, not what it holds.
    case unreadable(String)
    /// The key lies on another curve than P-256, so it cannot sign ES256.
    case wrongCurve(String)

    /// One sentence for people, that says what to do.
    package var description: String {
        switch self {
        case .emptyIssuerID:
            "the issuer id is empty: App Store Connect shows it above the list of keys, under "
                + "Users and Access, Integrations, In-App Purchase"
        case .emptyKeyID:
            "the key id is empty: App Store Connect shows it beside the key"
        case .unreadable(let why):
            "this is no private key in PEM (\(why)): the .p8 file from App Store Connect, as "
                + "downloaded, begins with -----BEGIN PRIVATE KEY-----"
        case .wrongCurve(let curve):
            "the key is on \(curve), an In-App Purchase key is on P-256: use the .p8 file from "
                + "App Store Connect"
        }
    }
}
