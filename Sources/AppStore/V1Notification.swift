package import Entitlements
internal import OpenSSL

/// A notification in the form that Apple gave up in 2023: one shared secret and no signature.
///
/// It grants nothing and takes nothing; it names chains about which the App Store can be asked.
/// See: https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv1
package struct V1Notification: Hashable, Sendable {
    /// Apple's name of the type, verbatim; not a V2 type.
    package let type: String
    /// The app that the body claims; empty when absent.
    package let bundleID: String
    /// The environment that the body claims; nil when absent or of no known name.
    package let environment: AppEnvironment?
    /// Every chain that the body names, each once, in the order of the body; a transaction where an
    /// item names no chain.
    package let originalTransactionIDs: [String]
    /// SHA-256 of the body in lower-case hexadecimal: V1 has no id, and a repeat has the same
    /// bytes.
    package let digest: String
    /// The body as it came.
    package let payload: [UInt8]

    private let password: [UInt8]?

    /// Whether the body carries the shared secret; compared in constant time, over digests.
    ///
    /// - Parameter sharedSecret: The secret of the app in App Store Connect.
    /// - Returns: false also for a body without a password.
    package func isAuthenticated(by sharedSecret: [UInt8]) -> Bool {
        guard let password, !sharedSecret.isEmpty else { return false }
        let left = SHA256Digest(of: password.span).bytes
        let right = SHA256Digest(of: sharedSecret.span).bytes
        return constantTimeEqual(left.span, right.span)
    }

    /// Reads a V1 body; every scalar may come as string, number or boolean.
    ///
    /// - Returns: nil when it is not one.
    init?(_ body: JSONObject, payload: [UInt8]) throws(AppStoreError) {
        guard let type = try body.identifier("notification_type") else { return nil }
        let receipt = body.object("unified_receipt")
        guard receipt != nil || body.value("password") != nil else { return nil }
        self.type = type
        bundleID = try body.identifier("bid") ?? ""
        password = body.text("password").map { Array($0.utf8) }
        environment = Self.environment(
            body.text("environment") ?? receipt?.text("environment") ?? "")
        originalTransactionIDs = try Self.chains(body, receipt)
        digest = SHA256Digest(of: payload.span).description
        self.payload = payload
    }

    /// The endpoint says PROD where the receipt inside says Production.
    private static func environment(_ name: String) -> AppEnvironment? {
        switch name.lowercased() {
        case "prod", "production": .production
        case "sandbox": .sandbox
        default: nil
        }
    }

    private static func chains(
        _ body: JSONObject, _ receipt: JSONObject?
    ) throws(AppStoreError) -> [String] {
        var ids: [String] = []
        var known: Set<ExactName> = []
        var objects = [body]
        for name in ["latest_receipt_info", "pending_renewal_info"] {
            for value in receipt?.array(name) ?? [] {
                if let object = receipt?.object(value) { objects.append(object) }
            }
        }
        for object in objects {
            var id = try object.identifier("original_transaction_id")
            if id == nil { id = try object.identifier("transaction_id") }
            guard let id else { continue }
            if known.insert(ExactName(id)).inserted { ids.append(id) }
        }
        return ids
    }
}
