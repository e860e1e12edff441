import Entitlements
import Testing

@Suite struct NotificationTests {
    private func notification(_ type: String, _ subtype: String = "") -> Notification {
        Notification(
            notificationUUID: "u", type: type, subtype: subtype, signedDate: instant(1),
            scope: Scope(bundleID: "b", environment: .production))
    }

    @Test(arguments: [
        ("SUBSCRIBED", "INITIAL_BUY"), ("DID_RENEW", ""), ("DID_RENEW", "BILLING_RECOVERY"),
        ("EXPIRED", "PRODUCT_NOT_FOR_SALE"), ("REFUND", "SEATS"), ("REVOKE", ""), ("TEST", ""),
        ("RENEWAL_EXTENSION", "SUMMARY"), ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED"),
        ("UNCLAIM_SEATS", ""), ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"),
    ])
    func `what Apple documents is known`(type: String, subtype: String) {
        #expect(!notification(type, subtype).isUnknown)
    }

    @Test(arguments: [("SEAT_POLICY_CHANGED", ""), ("REFUND", "LATER"), ("refund", ""), ("", "")])
    func `what it does not is unknown, and an unsigned hint never is`(
        type: String, subtype: String
    ) {
        #expect(notification(type, subtype).isUnknown)
        var hint = notification(type, subtype)
        hint.isUnsigned = true
        #expect(!hint.isUnknown)
    }

    @Test(arguments: [
        ("SUBSCRIBED", true), ("ONE_TIME_CHARGE", true), ("DID_RENEW", true),
        ("REFUND_REVERSED", true), ("REVOKE", false), ("REFUND", false), ("EXPIRED", false),
        ("DID_CHANGE_RENEWAL_STATUS", false), ("OFFER_REDEEMED", false),
        ("RENEWAL_EXTENDED", false), ("REFUND_DECLINED", false), ("SUBSCRIBED_LATER", false),
    ])
    func `four types are evidence of a grant`(type: String, isGrant: Bool) {
        #expect(notification(type).isGrant == isGrant)
        #expect(notification(type).isRevoke == (type == "REVOKE"))
    }
}
