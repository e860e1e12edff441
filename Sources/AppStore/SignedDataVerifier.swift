package import Entitlements
internal import OpenSSL

/// Decides what is signed by Apple for one of the configured apps.
///
/// Any thread may use it; a verification takes about 0.1 ms, and 3 ms more for a chain that was not
/// seen lately. Nothing here asks a clock or the network: certificates must have been valid when
/// the payload was signed, so what is old stays verifiable.
package final class SignedDataVerifier: Sendable {
    private let apps: [ExactName: TrustedApp]
    private let chains: SigningChains

    /// A verifier for these apps and no other.
    ///
    /// - Parameters:
    ///   - apps: The apps with the environments that are accepted.
    ///   - roots: Where chains may end.
    /// - Throws: ``TrustError`` for a configuration that cannot be right.
    package init(apps: [TrustedApp], roots: [TrustedRoot]) throws(TrustError) {
        guard !apps.isEmpty else { throw .noApp }
        guard !roots.isEmpty else { throw .noRoot }
        var byBundleID: [ExactName: TrustedApp] = [:]
        for app in apps {
            guard byBundleID.updateValue(app, forKey: ExactName(app.bundleID)) == nil else {
                throw .repeatedApp(bundleID: app.bundleID)
            }
            guard app.appAppleID != nil || !app.environments.contains(.production) else {
                throw .missingAppAppleID(bundleID: app.bundleID)
            }
        }
        self.apps = byBundleID
        do throws(OpenSSLError) {
            chains = SigningChains(policy: try ChainPolicy(roots: roots.map(\.certificate)))
        } catch {
            throw .cryptography("\(error)")
        }
    }

    private init(apps: [ExactName: TrustedApp], chains: SigningChains) {
        self.apps = apps
        self.chains = chains
    }

    /// The same for callers that must not spend 3 ms on a stranger: it remembers the same chains,
    /// and throws ``AppStoreError/untrustedChain(_:)`` at once for any other. That error says
    /// nothing about the chain, and from here it comes for no other reason.
    package func withKnownChainsOnly() -> SignedDataVerifier {
        SignedDataVerifier(apps: apps, chains: chains.knownOnes)
    }

    /// Verifies what Apple POSTed: `{"signedPayload":"..."}`, a bare JWS, or a V1 body.
    ///
    /// - Parameter body: The bytes as they came.
    /// - Returns: The verified notification, with every JWS in it verified; or the V1 body, which
    /// is
    ///   decoded only.
    /// - Throws: ``AppStoreError``.
    package func verifyNotification(_ body: [UInt8]) throws(AppStoreError) -> NotificationEvent {
        guard !body.isEmpty else { throw .malformedPayload("the body is empty") }
        guard isJSON(body) else { return .signed(try signedNotification(body)) }
        let object: JSONObject
        do throws(JSONError) {
            object = try JSONObject(body)
        } catch {
            throw .malformedPayload(
                "the body is no JSON object: expected \(error.expected) at byte \(error.offset)")
        }
        if let jws = object.bytes("signedPayload") { return .signed(try signedNotification(jws)) }
        guard let notification = try V1Notification(object, payload: body) else {
            throw .malformedPayload("the body has no signedPayload and is no V1 notification")
        }
        return .unsigned(notification)
    }

    /// Verifies a signed transaction that an app or the App Store Server API handed in.
    ///
    /// - Parameter jws: The compact form, ASCII.
    /// - Returns: The transaction and its world.
    /// - Throws: ``AppStoreError``.
    package func verifyTransaction(_ jws: [UInt8]) throws(AppStoreError) -> VerifiedTransaction {
        let payload = try SignedPayload(verifying: jws, chains: chains)
        let part = "the transaction"
        let app = try app(payload.claims, part)
        let scope = Scope(
            bundleID: app.bundleID, environment: try environment(payload.claims, of: app, part))
        let transaction = try Transaction(payload.claims, signedDate: try payload.signedDate())
        return VerifiedTransaction(
            signed: SignedTransaction(transaction: transaction, payload: jws), scope: scope)
    }

    /// Verifies signed renewal info that an app or the App Store Server API handed in.
    ///
    /// - Parameter jws: The compact form, ASCII.
    /// - Returns: The renewal info. It names no app: the caller must find its chain.
    /// - Throws: ``AppStoreError``.
    package func verifyRenewal(_ jws: [UInt8]) throws(AppStoreError) -> VerifiedRenewal {
        let payload = try SignedPayload(verifying: jws, chains: chains)
        let part = "the renewal info"
        guard let name = payload.claims.text("environment") else {
            throw .missingClaim("environment is absent from \(part)")
        }
        guard let environment = AppEnvironment(name: name),
            apps.values.contains(where: { $0.environments.contains(environment) })
        else {
            throw .wrongEnvironment("\(part) is of \(quoted(name)), which is not configured")
        }
        let renewal = try RenewalInfo(payload.claims, signedDate: try payload.signedDate())
        return VerifiedRenewal(
            signed: SignedRenewal(renewal: renewal, payload: jws), environment: environment,
            appTransactionID: try payload.claims.identifier("appTransactionId"),
            appAccountToken: try payload.claims.token("appAccountToken"))
    }

    /// Verifies a signed AppTransaction.
    ///
    /// - Parameter jws: The compact form, ASCII.
    /// - Returns: Whose download of which app it is.
    /// - Throws: ``AppStoreError``.
    package func verifyAppTransaction(
        _ jws: [UInt8]
    ) throws(AppStoreError) -> VerifiedAppTransaction {
        let payload = try SignedPayload(verifying: jws, chains: chains)
        let part = "the app transaction"
        let app = try app(payload.claims, part)
        guard let name = payload.claims.text("receiptType") else {
            throw .missingClaim("receiptType is absent from \(part)")
        }
        try checkAppAppleID(payload.claims, of: app, environmentName: name, part)
        let environment = try environment(named: name, of: app, part)
        return VerifiedAppTransaction(
            scope: Scope(bundleID: app.bundleID, environment: environment),
            appTransactionID: try payload.claims.identifier("appTransactionId"),
            signedDate: try payload.signedDate("receiptCreationDate"), payload: jws)
    }

    /// The world that a V1 body claims, for a caller that has checked its password.
    ///
    /// - Parameter notification: A V1 body.
    /// - Returns: The app and environment.
    /// - Throws: ``AppStoreError/wrongApp(_:)``, ``AppStoreError/wrongEnvironment(_:)``.
    package func scope(of notification: V1Notification) throws(AppStoreError) -> Scope {
        let part = "the V1 notification"
        guard let app = apps[notification.bundleID] else {
            throw wrongApp(notification.bundleID, part)
        }
        guard let environment = notification.environment,
            app.environments.contains(environment)
        else {
            let name = notification.environment?.name ?? "unknown"
            throw .wrongEnvironment(
                "\(part) is of \(quoted(name)), which is not configured for \(app.bundleID)")
        }
        return Scope(bundleID: app.bundleID, environment: environment)
    }
}

// MARK: - Notifications

extension SignedDataVerifier {
    private func signedNotification(_ jws: [UInt8]) throws(AppStoreError) -> SignedNotification {
        let payload = try SignedPayload(verifying: jws, chains: chains)
        let claims = payload.claims
        let part = try NotificationPart(claims)
        let scope = try scope(of: part)
        let signedDate = try payload.signedDate()
        let name = "the notification"
        let uuid = try claims.required("notificationUUID", in: name)
        let type = try claims.required("notificationType", in: name)
        var notification = Notification(
            notificationUUID: uuid, type: type, subtype: try claims.identifier("subtype") ?? "",
            signedDate: signedDate, scope: scope)
        switch part {
        case .data(let data): try read(data, into: &notification)
        case .appData(let data): try checkAppTransaction(in: data, scope)
        case .summary, .externalPurchaseToken: break
        }
        return SignedNotification(notification: notification, payload: jws)
    }

    private func scope(of part: NotificationPart) throws(AppStoreError) -> Scope {
        let name = "the notification"
        let app = try app(part.claims, name)
        guard let environmentName = part.environmentName else {
            throw .missingClaim("environment is absent from \(name)")
        }
        try checkAppAppleID(part.claims, of: app, environmentName: environmentName, name)
        return Scope(
            bundleID: app.bundleID,
            environment: try environment(named: environmentName, of: app, name))
    }

    private func read(
        _ data: JSONObject, into notification: inout Notification
    ) throws(AppStoreError) {
        let scope = notification.scope
        notification.status = data.integer32("status")
        if let jws = try signedText("signedTransactionInfo", in: data) {
            let verified = try verifyTransaction(jws)
            try checkSame(verified.scope, as: scope, "the transaction in the notification")
            notification.transaction = verified.signed
        }
        if let jws = try signedText("signedRenewalInfo", in: data) {
            let verified = try verifyRenewal(jws)
            let part = "the renewal info in the notification"
            try checkSame(
                Scope(bundleID: scope.bundleID, environment: verified.environment), as: scope, part)
            notification.renewal = verified.signed
            try checkSameChain(notification)
        }
    }

    private func checkSameChain(_ notification: Notification) throws(AppStoreError) {
        guard let transaction = notification.transaction?.transaction,
            let renewal = notification.renewal?.renewal,
            !isSame(transaction.originalTransactionID, renewal.originalTransactionID)
        else { return }
        throw .renewalMismatch(
            "the renewal info is of chain \(quoted(renewal.originalTransactionID)), "
                + "the transaction beside it of \(quoted(transaction.originalTransactionID))")
    }

    private func checkAppTransaction(
        in data: JSONObject, _ scope: Scope
    ) throws(AppStoreError) {
        guard let jws = try signedText("signedAppTransactionInfo", in: data) else { return }
        let verified = try verifyAppTransaction(jws)
        try checkSame(verified.scope, as: scope, "the app transaction in the notification")
    }

    /// A JWS inside a payload; what is there and no string must not be passed over.
    private func signedText(
        _ name: String, in data: JSONObject
    ) throws(AppStoreError) -> [UInt8]? {
        guard let value = data.value(name) else { return nil }
        guard let jws = data.bytes(value) else {
            throw .malformedPayload("\(name) is no string")
        }
        return jws
    }

    private func checkSame(
        _ inner: Scope, as outer: Scope, _ part: String
    ) throws(AppStoreError) {
        guard isSame(inner.bundleID, outer.bundleID) else {
            throw .wrongApp(
                "\(part) is of \(quoted(inner.bundleID)), the rest of \(quoted(outer.bundleID))")
        }
        guard inner.environment == outer.environment else {
            throw .wrongEnvironment(
                "\(part) is of \(inner.environment.name), the rest of \(outer.environment.name)")
        }
    }
}

// MARK: - Apps and environments

extension SignedDataVerifier {
    private func app(_ claims: JSONObject, _ part: String) throws(AppStoreError) -> TrustedApp {
        guard let bundleID = claims.text("bundleId") else {
            throw .missingClaim("bundleId is absent from \(part)")
        }
        guard let app = apps[bundleID] else { throw wrongApp(bundleID, part) }
        return app
    }

    private func wrongApp(_ bundleID: String, _ part: String) -> AppStoreError {
        let configured = apps.keys.map(\.text).sorted().joined(separator: ", ")
        return .wrongApp("\(part) is for \(quoted(bundleID)); configured: \(configured)")
    }

    /// Sandbox payloads carry no number; Production's must carry the right one.
    private func checkAppAppleID(
        _ claims: JSONObject, of app: TrustedApp, environmentName: String, _ part: String
    ) throws(AppStoreError) {
        guard environmentName == AppEnvironment.production.name,
            let expected = app.appAppleID
        else { return }
        let found = claims.integer("appAppleId")
        guard found == expected else {
            throw .wrongApp(
                "\(part) has appAppleId \(found.map { "\($0)" } ?? "absent"); configured for "
                    + "\(app.bundleID): \(expected)")
        }
    }

    private func environment(
        _ claims: JSONObject, of app: TrustedApp, _ part: String
    ) throws(AppStoreError) -> AppEnvironment {
        guard let name = claims.text("environment") else {
            throw .missingClaim("environment is absent from \(part)")
        }
        return try environment(named: name, of: app, part)
    }

    private func environment(
        named name: String, of app: TrustedApp, _ part: String
    ) throws(AppStoreError) -> AppEnvironment {
        guard let environment = AppEnvironment(name: name),
            app.environments.contains(environment)
        else {
            throw .wrongEnvironment(
                "\(part) is of \(quoted(name)), which is not configured for \(app.bundleID)")
        }
        return environment
    }
}

/// Whether the first character that is no white space opens an object; a JWS never starts so.
func isJSON(_ body: [UInt8]) -> Bool {
    let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
    return body.first { !blanks.contains($0) } == UInt8(ascii: "{")
}
