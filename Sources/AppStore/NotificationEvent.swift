package import Entitlements

/// What came in at the notification endpoint.
package enum NotificationEvent: Hashable, Sendable {
    /// A V2 notification, verified through and through.
    case signed(SignedNotification)
    /// A V1 body: signed by nobody, a hint at most.
    case unsigned(V1Notification)
}

/// A verified V2 notification.
package struct SignedNotification: Hashable, Sendable {
    /// Decoded; transaction and renewal info keep their own JWS.
    ///
    /// Renewal info without a transaction names no app: it counts only when its chain is stored for
    /// the same app, see ``hasUntiedRenewal``.
    package let notification: Notification
    /// The outer compact JWS, ASCII.
    package let payload: [UInt8]

    /// Whether renewal info came without a transaction of its chain, so that the caller must find
    /// the chain among the stored facts of this scope or leave the renewal info aside.
    package var hasUntiedRenewal: Bool {
        notification.renewal != nil && notification.transaction == nil
    }
}

/// The part of a decoded notification that says whose it is.
enum NotificationPart {
    /// `data`: the only part that may carry a transaction.
    case data(JSONObject)
    /// `summary`, of a mass extension.
    case summary(JSONObject)
    /// `externalPurchaseToken`: its environment hides in the id.
    case externalPurchaseToken(JSONObject)
    /// `appData`: about an app, not about a purchase.
    case appData(JSONObject)

    /// The part that is there; they exclude one another.
    init(_ claims: JSONObject) throws(AppStoreError) {
        if let part = claims.object("data") {
            self = .data(part)
        } else if let part = claims.object("summary") {
            self = .summary(part)
        } else if let part = claims.object("externalPurchaseToken") {
            self = .externalPurchaseToken(part)
        } else if let part = claims.object("appData") {
            self = .appData(part)
        } else {
            throw .missingClaim(
                "a notification has data, summary, externalPurchaseToken or appData")
        }
    }

    /// The members of the part.
    var claims: JSONObject {
        switch self {
        case .data(let part), .summary(let part), .externalPurchaseToken(let part),
            .appData(let part):
            part
        }
    }

    /// Apple's name of the environment; nil when absent.
    var environmentName: String? {
        guard case .externalPurchaseToken(let part) = self else {
            return claims.text("environment")
        }
        return part.text("externalPurchaseId").map {
            $0.hasPrefix("SANDBOX") ? AppEnvironment.sandbox.name : AppEnvironment.production.name
        }
    }
}
