/// What a verified notification of Apple's says, apart from the raw bytes.
///
/// See: https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload
package struct Notification: Hashable, Sendable {
    /// Apple's unique id of the notification; repeats carry the same.
    package var notificationUUID: String
    /// Apple's name of the type, verbatim.
    package var type: String
    /// Apple's name of the subtype, verbatim; empty when absent.
    package var subtype: String
    /// When Apple signed it.
    package var signedDate: Timestamp
    /// The world that it belongs to.
    package var scope: Scope
    /// `data.status`, 1...5, when carried.
    package var status: Int32?
    /// The one transaction that it names.
    package var transaction: SignedTransaction?
    /// The renewal info of the same chain.
    package var renewal: SignedRenewal?
    /// Whether it came as an unsigned V1 body: stored and counted, never evidence.
    package var isUnsigned: Bool
    /// The chains that an unsigned body names, about which Apple can be asked.
    package var hintedChains: [String]

    /// A notification without data.
    package init(
        notificationUUID: String, type: String, subtype: String, signedDate: Timestamp,
        scope: Scope
    ) {
        self.notificationUUID = notificationUUID
        self.type = type
        self.subtype = subtype
        self.signedDate = signedDate
        self.scope = scope
        self.isUnsigned = false
        hintedChains = []
    }

    /// Whether type or subtype are unknown to this release.
    package var isUnknown: Bool {
        !isUnsigned && (!Self.types.contains(type) || !Self.subtypes.contains(subtype))
    }

    /// Whether it says that the customer has lost a shared product.
    package var isRevoke: Bool { type == "REVOKE" }

    /// Whether it says that its transaction gives access: what clears an override.
    package var isGrant: Bool {
        switch type {
        case "SUBSCRIBED", "ONE_TIME_CHARGE", "DID_RENEW", "REFUND_REVERSED": true
        default: false
        }
    }

    /// The types of the API up to Notifications 2.23.
    package static let types: Set<String> = [
        "SUBSCRIBED", "ONE_TIME_CHARGE", "DID_RENEW", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED",
        "EXPIRED", "DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_PREF", "OFFER_REDEEMED",
        "PRICE_INCREASE", "REFUND", "REFUND_DECLINED", "REFUND_REVERSED", "REVOKE",
        "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "TEST",
        "EXTERNAL_PURCHASE_TOKEN", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION",
        "PRICE_CHANGE", "UNCLAIM_SEATS",
    ]

    /// The subtypes of the API up to Notifications 2.23; the empty one is no subtype.
    private static let subtypes: Set<String> = [
        "", "INITIAL_BUY", "RESUBSCRIBE", "BILLING_RECOVERY", "GRACE_PERIOD", "VOLUNTARY",
        "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", "AUTO_RENEW_ENABLED",
        "AUTO_RENEW_DISABLED", "UPGRADE", "DOWNGRADE", "PENDING", "ACCEPTED", "SEATS", "SUMMARY",
        "FAILURE", "UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER", "INCREASE_QUANTITY",
        "DECREASE_QUANTITY",
    ]
}

/// What became of a notification; the raw values are those of the wire and of stored records.
package enum Disposition: UInt8, Hashable, Sendable {
    /// A fact, a newer copy, an override or a piece of evidence came in; of an unsigned body: a
    /// fetch from Apple of whom it names is queued.
    case applied = 1
    /// A notification of this UUID is stored already.
    case duplicate = 2
    /// All that it carried was known or older.
    case stale = 3
    /// It carried nothing of a customer.
    case noEffect = 4
    /// Its type or subtype is unknown; what facts it carried were applied all the same.
    case storedUnknown = 5
}
