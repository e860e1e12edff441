import Entitlements
import Testing

@Suite struct GrantTests {
    static let season = ProductPolicy(duration: 90)

    @Test(
        arguments: [
            (99, AccessReason.notStarted), (100, .active), (199, .active), (200, .expired),
        ] as [(Int64, AccessReason)])
    func `a period is half-open`(at: Int64, reason: AccessReason) {
        #expect(CustomerHistory(.sample(from: 100, to: 200)).reason(at: at) == reason)
    }

    @Test(
        arguments: [(100, AccessReason.active), (189, .active), (190, .expired)]
            as [(Int64, AccessReason)])
    func `a non-renewing purchase lasts the catalog's duration`(at: Int64, reason: AccessReason) {
        let history = CustomerHistory(.sample(type: "Non-Renewing Subscription", from: 100))
        #expect(history.reason(at: at, under: Self.season) == reason)
        #expect(history.reason(at: at) == .incomplete)
    }

    @Test func `a duration beyond the end of time never ends`() {
        let history = CustomerHistory(.sample(type: "Non-Renewing Subscription", from: 100))
        let policy = ProductPolicy(duration: .max)
        #expect(history.decision(at: .max - 1, under: policy).reason == .active)
        #expect(history.decision(at: 100, under: policy).validUntil == 0)
    }

    @Test(arguments: [
        ("Consumable", "PURCHASED", AccessReason.consumable),
        ("Consumable", "ASSIGNED", .consumable), ("Consumable", "FAMILY_SHARED", .notShareable),
        ("Non-Renewing Subscription", "FAMILY_SHARED", .notShareable),
        ("Non-Renewing Subscription", "LENT", .active), ("Seat License", "PURCHASED", .incomplete),
        ("Seat License", "FAMILY_SHARED", .incomplete), ("", "PURCHASED", .incomplete),
        ("Non-Consumable", "FAMILY_SHARED", .active), ("Non-Consumable", "LENT", .active),
        ("Non-Consumable", "ASSIGNED", .active), ("Non-Consumable", "", .active),
    ])
    func `a type that can be no entitlement says so`(
        type: String, ownership: String, reason: AccessReason
    ) {
        let history = CustomerHistory(.sample(type: type, ownership: ownership, from: 100))
        #expect(history.reason(at: 110, under: Self.season) == reason)
    }

    @Test func `an auto-renewable without an end never grants, whatever else is wrong with it`() {
        let history = CustomerHistory(
            .sample(from: 100, to: nil) { $0.revocationDate = instant(100) })
        #expect(history.reason(at: 110) == .incomplete)
        #expect(history.decision(at: 50).validUntil == 0)
    }

    @Test func `a purchase without a date never grants and counts as started`() {
        #expect(CustomerHistory(.lifetime(from: nil)).reason(at: 1) == .incomplete)
    }

    /// All that can end it at once: the first reason in the order of the rules is given.
    @Test func `the first reason that holds is given`() {
        func reason(_ change: (inout Transaction) -> Void) -> AccessReason {
            let x = Transaction.sample(
                "1", ownership: "FAMILY_SHARED", from: 100, to: 120, signed: 100, change)
            return CustomerHistory(
                x, .sample("2", product: "q", from: 130, to: 900),
                household: [.sample("8", from: 100, to: 120) { $0.revocationDate = instant(110) }]
            ).reason(at: 140)
        }
        #expect(
            reason {
                $0.revocationDate = instant(110); $0.isUpgraded = true
            } == .familyRefunded)
        #expect(reason { $0.isUpgraded = true } == .familySuspended)
        let alone = CustomerHistory(
            .sample("1", from: 100, to: 120) { $0.isUpgraded = true },
            .sample("2", product: "q", from: 130, to: 900))
        #expect(alone.reason(at: 140) == .upgraded)
        // Expired before the upgrade took effect.
        #expect(alone.reason(at: 125) == .expired)
    }

    @Test func `a revoked future purchase has not started`() {
        let history = CustomerHistory(
            .sample(from: 100, to: 200, signed: 50) { $0.revocationDate = instant(60) })
        #expect(history.reason(at: 90) == .notStarted)
        #expect(history.decision(at: 90).validUntil == 0)
        #expect(history.reason(at: 100) == .refunded)
    }

    @Test(arguments: [(149, AccessReason.active), (150, .refunded)] as [(Int64, AccessReason)])
    func `a revocation holds from its date on`(at: Int64, reason: AccessReason) {
        let history = CustomerHistory(
            .lifetime(signed: 160) { $0.revocationDate = instant(150) })
        #expect(history.reason(at: at) == reason)
        #expect(history.decision(at: 149).validUntil == 150)
    }

    @Test(arguments: [(139, AccessReason.active), (140, .refunded)] as [(Int64, AccessReason)])
    func `a copy signed before its own revocationDate holds from its signing on`(
        at: Int64, reason: AccessReason
    ) {
        let history = CustomerHistory(
            .lifetime(signed: 140) { $0.revocationDate = instant(150) })
        #expect(history.reason(at: at) == reason)
    }

    @Test(arguments: [
        ("Non-Consumable", true, AccessReason.active), ("Non-Consumable", false, .refunded),
        ("Non-Renewing Subscription", true, .active),
        ("Auto-Renewable Subscription", true, .refunded),
    ])
    func `a prorated refund revokes unless the catalog keeps it for what does not renew`(
        type: String, keeps: Bool, reason: AccessReason
    ) {
        let x = Transaction.sample(type: type, from: 100, to: 200, signed: 120) {
            $0.revocationDate = instant(110)
            $0.revocationType = "REFUND_PRORATED"
            $0.revocationPercentage = 50_000
        }
        let policy = ProductPolicy(duration: 90, keepsProratedRefunds: keeps)
        #expect(CustomerHistory(x).reason(at: 150, under: policy) == reason)
    }

    @Test func `a full refund is never kept`() {
        let x = Transaction.lifetime(signed: 120) {
            $0.revocationDate = instant(110)
            $0.revocationType = "REFUND_FULL"
        }
        let policy = ProductPolicy(keepsProratedRefunds: true)
        #expect(CustomerHistory(x).reason(at: 150, under: policy) == .refunded)
    }

    @Test func `a kept prorated refund does not stop an override`() {
        let x = Transaction.lifetime(ownership: "FAMILY_SHARED", signed: 120) {
            $0.revocationDate = instant(110)
            $0.revocationType = "REFUND_PRORATED"
        }
        var evidence = Evidence()
        evidence.datelessRevoke = instant(130)
        let history = CustomerHistory(x, evidence: ["1": evidence])
        let policy = ProductPolicy(keepsProratedRefunds: true)
        #expect(history.reason(at: 129, under: policy) == .active)
        #expect(history.reason(at: 130, under: policy) == .familyRefunded)
    }
}
