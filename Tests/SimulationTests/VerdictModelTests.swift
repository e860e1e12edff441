import Testing
import Wire

@testable import Simulation

@Suite struct VerdictModelTests {
    private func verdict(
        _ list: WriteList, _ person: FamilyModel.Person = .account(0), at instant: Int64,
        _ product: SimulatedProduct = .month, _ catalog: SimulatedCatalog = SimulatedCatalog()
    ) -> VerdictModel.Verdict {
        VerdictModel(of: person, in: list.model, catalog).verdict(on: product, at: instant)
    }

    @Test func `a period is half-open`() {
        var list = WriteList()
        list.notify("SUBSCRIBED", copy(1), signed: 1_000)
        #expect(verdict(list, at: 999) == .init(reason: .notStarted, validUntil: 1_000))
        let granted = VerdictModel.Verdict(reason: .active, validUntil: 9_000, transactions: [1])
        #expect(verdict(list, at: 1_000) == granted)
        #expect(verdict(list, at: 8_999) == granted)
        #expect(verdict(list, at: 9_000).reason == .expired)
        #expect(verdict(list, at: 1_000, .pro).reason == .noPurchase)
        #expect(verdict(list, .unknown, at: 1_000).reason == .unknownCustomer)
    }

    @Test func `periods that touch run through`() {
        var list = WriteList()
        list.notify("SUBSCRIBED", copy(1), signed: 1_000)
        list.notify("DID_RENEW", copy(2, chain: 1, from: 9_000, to: 12_000), signed: 9_000)
        #expect(verdict(list, at: 2_000).validUntil == 12_000)
        #expect(verdict(list, at: 2_000).transactions == [1])
    }

    @Test func `grace raises the newest transaction alone`() {
        var list = WriteList()
        let renewal = RenewalCopy(
            chain: 1, product: .month, graceExpires: 15_000, isInBillingRetry: true, signed: 9_001)
        list.notify("DID_FAIL_TO_RENEW", copy(1), signed: 9_001, renewal: renewal, status: 4)
        #expect(verdict(list, at: 9_000).reason == .gracePeriod)
        #expect(verdict(list, at: 15_000).reason == .billingRetry)
        list.notify("DID_RENEW", copy(2, chain: 1, from: 8_500, to: 9_500), signed: 9_002)
        #expect(verdict(list, at: 9_000).transactions == [2])
        #expect(verdict(list, at: 9_600).reason == .gracePeriod)
    }

    @Test func `a refund counts from its date or its signing, whichever is earlier`() {
        var list = WriteList()
        let refunded = copy(1, signed: 4_000) { $0.revoked = 5_000 }
        list.notify("REFUND", refunded, signed: 4_000)
        #expect(verdict(list, at: 3_999).validUntil == 4_000)
        #expect(verdict(list, at: 4_000).reason == .refunded)
    }

    @Test func `a REVOKE without a date holds until something later says otherwise`() {
        var list = WriteList()
        let shared = copy(1, shared: true)
        list.notify("SUBSCRIBED", shared, signed: 1_000)
        list.notify("REVOKE", shared, signed: 2_000)
        #expect(verdict(list, at: 1_999).reason == .active)
        #expect(verdict(list, at: 2_000).reason == .familyLeft)
        list.notify("DID_CHANGE_RENEWAL_STATUS", shared, signed: 2_000, status: 1)
        #expect(verdict(list, at: 2_000).reason == .familyLeft)
        list.notify("DID_RENEW", shared, signed: 2_001)
        #expect(verdict(list, at: 2_000).reason == .active)
    }

    @Test func `a household's refund suspends its copies, and a later status lifts that`() {
        var list = WriteList()
        for person in 0...1 {
            list.add(.link(customer: person, identity: .account(person)))
            list.add(.household(customer: person, household: 0))
        }
        let shared = copy(2, person: 1, shared: true)
        list.notify("SUBSCRIBED", shared, signed: 1_000)
        list.notify("REFUND", copy(1, signed: 4_000) { $0.revoked = 3_000 }, signed: 4_000)
        #expect(verdict(list, .named(1), at: 2_999).validUntil == 3_000)
        #expect(verdict(list, .named(1), at: 3_000).reason == .familySuspended)
        list.notify("DID_CHANGE_RENEWAL_STATUS", shared, signed: 3_001, status: 1)
        #expect(verdict(list, .named(1), at: 3_000).reason == .active)
        #expect(verdict(list, .named(0), at: 3_000).reason == .refunded)
    }

    @Test func `the catalog decides about seasons and refunds in part`() {
        var list = WriteList()
        var catalog = SimulatedCatalog()
        let season = copy(1, product: .season, signed: 3_000) {
            $0.revoked = 2_000
            $0.revocationType = "REFUND_PRORATED"
        }
        list.notify("REFUND", season, signed: 3_000)
        #expect(verdict(list, at: 2_500, .season, catalog).reason == .refunded)
        catalog.keepsProratedSeason = true
        #expect(verdict(list, at: 2_500, .season, catalog).validUntil == 21_000)
        catalog.seasonDuration = 0
        #expect(verdict(list, at: 2_500, .season, catalog).reason == .incomplete)
    }

    @Test func `an upgrade ends where the next purchase begins`() {
        var list = WriteList()
        let left = copy(1, signed: 2) { $0.isUpgraded = true }
        list.notify("DID_CHANGE_RENEWAL_PREF", left, signed: 3)
        #expect(verdict(list, at: 5_000).reason == .upgraded)
        let next = copy(2, chain: 1, product: .pro, from: 4_000, to: 8_000)
        list.notify("DID_CHANGE_RENEWAL_PREF", next, signed: 4)
        #expect(verdict(list, at: 3_999).reason == .active)
        #expect(verdict(list, at: 4_000).reason == .upgraded)
    }

    @Test func `an entitlement is the OR over its products`() {
        var list = WriteList()
        list.notify("SUBSCRIBED", copy(1), signed: 1)
        list.notify("SUBSCRIBED", copy(2, product: .pro, from: 9_000, to: 11_000), signed: 2)
        let model = VerdictModel(of: .account(0), in: list.model, SimulatedCatalog())
        #expect(model.verdictOnEntitlement(at: 2_000).validUntil == 11_000)
        #expect(model.verdictOnEntitlement(at: 11_000).isGranted == false)
    }
}
