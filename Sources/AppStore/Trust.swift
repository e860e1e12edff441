package import Entitlements
package import OpenSSL

/// An app whose signed data is accepted.
package struct TrustedApp: Sendable, Equatable {
    /// The bundle identifier, exact.
    package let bundleID: String
    /// The App Store's number of the app; Production needs it, Sandbox payloads do not carry it.
    package let appAppleID: Int64?
    /// The environments that are accepted.
    package let environments: Set<AppEnvironment>

    /// An app with what is accepted of it.
    ///
    /// - Parameters:
    ///   - bundleID: The bundle identifier.
    ///   - appAppleID: The App Store's number of the app.
    ///   - environments: The environments that are accepted.
    package init(bundleID: String, appAppleID: Int64?, environments: Set<AppEnvironment>) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environments = environments
    }
}

/// A certificate where a chain may end.
package struct TrustedRoot: Sendable {
    /// SHA-256 of Apple Root CA - G3, where today's chains end.
    /// See: https://www.apple.com/certificateauthority/
    package static let appleFingerprint =
        "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"

    let certificate: Certificate

    /// Reads a root certificate from the content of a file.
    ///
    /// - Parameter file: PEM or DER.
    /// - Throws: ``TrustError/unreadableRoot(_:)``.
    package init(file: [UInt8]) throws(TrustError) {
        do throws(OpenSSLError) {
            certificate = try Certificate(file: file.span)
        } catch {
            throw .unreadableRoot("\(error)")
        }
    }

    /// A certificate that is at hand: a test authority's.
    ///
    /// - Parameter certificate: The root.
    package init(_ certificate: Certificate) {
        self.certificate = certificate
    }

    /// SHA-256 of the DER, 64 lower-case hexadecimal digits.
    package var fingerprint: String { certificate.fingerprint.description }

    /// The subject for people.
    package var subject: String { certificate.subject }

    /// Whether it is the root that Apple publishes; any other is a test's.
    package var isApple: Bool { fingerprint == Self.appleFingerprint }
}

/// A configuration of apps and roots with which nothing could be verified rightly.
package enum TrustError: Error, Equatable, Sendable {
    /// A file is no certificate; the text says why.
    case unreadableRoot(String)
    /// There is no root.
    case noRoot
    /// There is no app.
    case noApp
    /// The same bundle identifier twice.
    case repeatedApp(bundleID: String)
    /// Production without the app's number: another app's notifications could not be told apart.
    case missingAppAppleID(bundleID: String)
    /// OpenSSL failed; the text says how.
    case cryptography(String)
}

/// A signed transaction that is verified, and the world it belongs to.
package struct VerifiedTransaction: Hashable, Sendable {
    /// Decoded, with the JWS.
    package let signed: SignedTransaction
    /// The app and environment in its claims.
    package let scope: Scope
}

/// Signed renewal info that is verified; it names no app, so the caller ties it to a transaction.
package struct VerifiedRenewal: Hashable, Sendable {
    /// Decoded, with the JWS.
    package let signed: SignedRenewal
    /// The environment in its claims.
    package let environment: AppEnvironment
    /// The Apple Account in the app, where the renewal info says it.
    package let appTransactionID: String?
    /// The token that the next renewal will carry, in lower case.
    package let appAccountToken: String?
}

/// A signed AppTransaction that is verified: which Apple Account downloaded which app.
package struct VerifiedAppTransaction: Hashable, Sendable {
    /// The app and environment in its claims.
    package let scope: Scope
    /// One Apple Account in one app; absent in what old systems signed.
    package let appTransactionID: String?
    /// When it was signed: receiptCreationDate.
    package let signedDate: Timestamp
    /// The compact JWS, ASCII.
    package let payload: [UInt8]
}
