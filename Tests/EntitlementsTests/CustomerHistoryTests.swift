import Entitlements
import Testing

@Suite struct GraceAndRetryTests {
    let renewal = RenewalInfo.sample("1", retry: true, grace: 250)

    @Test(
        arguments: [
            (199, AccessReason.active), (200, .gracePeriod), (249, .gracePeriod),
            (250, .billingRetry),
        ] as [(Int64, AccessReason)])
    func `grace carries the newest of the chain to its date`(at: Int64, reason: AccessReason) {
        let history = CustomerHistory(.sample("1", from: 100, to: 200), renewals: [renewal])
        #expect(history.reason(at: at) == reason)
        #expect(history.decision(at: 150).validUntil == 250)
    }

    @Test func `an older transaction of the chain has no grace and no retry`() {
        let history = CustomerHistory(
            .sample("1", from: 100, to: 200), .sample("2", original: "1", from: 210, to: 220),
            renewals: [renewal])
        #expect(history.reason(at: 205) == .expired)
        #expect(history.reason(at: 230) == .gracePeriod)
    }

    @Test func `the newest of the chain may be of another product`() {
        let history = CustomerHistory(
            .sample("1", product: "p", from: 100, to: 200),
            .sample("2", original: "1", product: "q", from: 150, to: 240), renewals: [renewal])
        #expect(history.reason("p", at: 205) == .expired)
        #expect(history.reason("q", at: 245) == .gracePeriod)
    }

    @Test func `grace never shortens a period`() {
        let history = CustomerHistory(
            .sample("1", from: 100, to: 200), renewals: [.sample("1", grace: 150)])
        #expect(history.reason(at: 199) == .active)
        #expect(history.reason(at: 200) == .expired)
    }

    @Test func `retry is no access, and only said once the period is over`() {
        let history = CustomerHistory(
            .sample("1", from: 100, to: 200), renewals: [.sample("1", retry: true)])
        #expect(history.reason(at: 199) == .active)
        #expect(history.reason(at: 200) == .billingRetry)
    }

    @Test func `grace rescues neither the revoked nor the upgraded`() {
        let revoked = CustomerHistory(
            .sample("1", from: 100, to: 200, signed: 150) { $0.revocationDate = instant(150) },
            renewals: [renewal])
        #expect(revoked.reason(at: 210) == .refunded)
        let upgraded = CustomerHistory(
            .sample("1", from: 100, to: 200) { $0.isUpgraded = true }, renewals: [renewal])
        #expect(upgraded.reason(at: 210) == .upgraded)
    }

    @Test func `renewal info of another chain, or a renewalDate, extends nothing`() {
        var other = RenewalInfo.sample("2", retry: true, grace: 900)
        other.renewalDate = instant(900)
        var own = RenewalInfo.sample("1")
        own.renewalDate = instant(900)
        let history = CustomerHistory(.sample("1", from: 100, to: 200), renewals: [other, own])
        #expect(history.reason(at: 200) == .expired)
    }

    @Test func `a non-consumable has no grace`() {
        let history = CustomerHistory(.lifetime("1"), renewals: [renewal])
        #expect(history.reason(at: 10_000) == .active)
    }
}

@Suite struct UpgradeTests {
    @Test func `an upgrade counts from the next purchase of the group on`() {
        let history = CustomerHistory(
            .sample("1", product: "p", from: 100, to: 900) { $0.isUpgraded = true },
            .sample("2", product: "q", from: 300, to: 400),
            .sample("3", product: "q", from: 400, to: 500))
        #expect(history.reason(at: 299) == .active)
        #expect(history.decision(at: 150).validUntil == 300)
        #expect(history.reason(at: 300) == .upgraded)
    }

    @Test func `without a known successor it never grants`() {
        let history = CustomerHistory(
            .sample("1", product: "p", from: 100, to: 900) { $0.isUpgraded = true },
            .sample("2", product: "q", from: 50, to: 400),
            .sample("3", product: "q", from: 300, to: 400) { $0.subscriptionGroupID = "other" })
        #expect(history.reason(at: 100) == .upgraded)
        #expect(history.reason(at: 99) == .notStarted)
        #expect(history.decision(at: 99).validUntil == 0)
    }

    @Test func `what is not marked as upgraded goes on beside the new product`() {
        let history = CustomerHistory(
            .sample("1", product: "p", from: 100, to: 900),
            .sample("2", product: "q", from: 300, to: 400))
        #expect(history.reason(at: 350) == .active)
    }
}

@Suite struct HouseholdTests {
    static let day: Int64 = 86_400_000

    private func refunded(
        _ id: String, from: Int64 = 100, to: Int64 = 200, at refund: Int64 = 150,
        _ change: (inout Transaction) -> Void = { _ in }
    ) -> Transaction {
        .sample(id, from: from, to: to, signed: refund) {
            $0.revocationDate = instant(refund)
            change(&$0)
        }
    }

    private func shared(_ change: (inout Transaction) -> Void = { _ in }) -> Transaction {
        .sample("2", ownership: "FAMILY_SHARED", from: 100, to: 200, signed: 100, change)
    }

    @Test func `the refund of the only purchase suspends from its date on`() {
        let history = CustomerHistory(shared(), household: [refunded("1")])
        #expect(history.reason(at: 149) == .active)
        #expect(history.decision(at: 149).validUntil == 150)
        #expect(history.reason(at: 150) == .familySuspended)
        #expect(history.reason(at: 150, under: ProductPolicy(familyCut: .off)) == .active)
    }

    @Test func `nothing bought in the household suspends nobody`() {
        #expect(CustomerHistory(shared(), household: []).reason(at: 150) == .active)
        let other = refunded("1") { $0.productID = "q" }
        #expect(CustomerHistory(shared(), household: [other]).reason(at: 150) == .active)
    }

    @Test func `one purchase that stands keeps everybody`() {
        let history = CustomerHistory(
            shared(), household: [refunded("1"), .sample("3", from: 120, to: 300)])
        #expect(history.reason(at: 150) == .active)
    }

    @Test func `several refunds count from the latest on`() {
        let history = CustomerHistory(
            shared(), household: [refunded("1", at: 150), refunded("3", at: 170)])
        #expect(history.reason(at: 169) == .active)
        #expect(history.reason(at: 170) == .familySuspended)
    }

    @Test(
        arguments: [
            (0, 100, AccessReason.active), (0, 101, .familySuspended), (199, 300, .familySuspended),
            (200, 300, .active),
        ] as [(Int64, Int64, AccessReason)])
    func `only a purchase whose period overlaps counts`(
        from: Int64, to: Int64, reason: AccessReason
    ) {
        let history = CustomerHistory(shared(), household: [refunded("1", from: from, to: to)])
        #expect(history.reason(at: 160) == reason)
    }

    @Test func `what was bought by oneself is never suspended`() {
        let history = CustomerHistory(
            .sample("2", from: 100, to: 200), household: [refunded("1")])
        #expect(history.reason(at: 160) == .active)
    }

    @Test func `a refund of a shared or assigned copy is no purchase of the household`() {
        for ownership in ["FAMILY_SHARED", "ASSIGNED", "LENT"] {
            let copy = refunded("1") { $0.rawOwnership = ownership }
            #expect(CustomerHistory(shared(), household: [copy]).reason(at: 160) == .active)
        }
    }

    @Test func `a revocation of a purchase that reversed no payment is no refund`() {
        let left = refunded("1") { $0.revocationType = "FAMILY_REVOKE" }
        #expect(CustomerHistory(shared(), household: [left]).reason(at: 160) == .active)
    }

    @Test(
        arguments: [(150, AccessReason.familySuspended), (151, .active)] as [(Int64, AccessReason)])
    func `a grant or an active status signed after the refund lifts it`(
        signed: Int64, reason: AccessReason
    ) {
        var grant = Evidence()
        grant.grantNotification = instant(signed)
        var status = Evidence()
        status.activeStatus = instant(signed)
        for evidence in [grant, status] {
            let history = CustomerHistory(
                shared(), evidence: ["2": evidence], household: [refunded("1")])
            #expect(history.reason(at: 160) == reason)
        }
    }

    @Test(arguments: [(0, AccessReason.familySuspended), (1, .active)] as [(Int64, AccessReason)])
    func `an undated copy of a one-time purchase lifts it after more than a day`(
        extra: Int64, reason: AccessReason
    ) {
        let buyer = Transaction.lifetime("1", signed: 150) { $0.revocationDate = instant(150) }
        let copy = Transaction.lifetime(
            "2", ownership: "FAMILY_SHARED", signed: 150 + Self.day + extra)
        let history = CustomerHistory(copy, household: [buyer])
        #expect(history.reason(at: Self.day * 2) == reason)
    }

    @Test func `an undated copy of a subscription lifts nothing, however late`() {
        let history = CustomerHistory(
            shared { $0.signedDate = instant(150 + 30 * Self.day) }, household: [refunded("1")])
        #expect(history.reason(at: 160) == .familySuspended)
    }

    @Test func `a refund that was reversed is no refund`() {
        let history = CustomerHistory(
            shared(), household: [.sample("1", from: 100, to: 200, signed: 180)])
        #expect(history.reason(at: 160) == .active)
    }

    @Test func `a kept prorated refund leaves what does not renew`() {
        let buyer = Transaction.lifetime("1", signed: 150) {
            $0.revocationDate = instant(150)
            $0.revocationType = "REFUND_PRORATED"
        }
        let history = CustomerHistory(
            .lifetime("2", ownership: "FAMILY_SHARED"), household: [buyer])
        let keeps = ProductPolicy(keepsProratedRefunds: true)
        #expect(history.reason(at: 160) == .familySuspended)
        #expect(history.reason(at: 160, under: keeps) == .active)
        let subscription = CustomerHistory(
            shared(), household: [refunded("1") { $0.revocationType = "REFUND_PRORATED" }])
        #expect(subscription.reason(at: 160, under: keeps) == .familySuspended)
    }
}

@Suite struct CustomerHistoryTests {
    @Test func `now is never before what was signed`() {
        #expect(CustomerHistory().newestSignedDate == nil)
        #expect(CustomerHistory(.sample(signed: 70)).newestSignedDate == instant(70))
        let renewed = CustomerHistory(.sample(signed: 70), renewals: [.sample(signed: 80)])
        #expect(renewed.newestSignedDate == instant(80))
        var evidence = Evidence()
        evidence.datelessRevoke = instant(90)
        let overridden = CustomerHistory(.sample(signed: 70), evidence: ["1": evidence])
        #expect(overridden.newestSignedDate == instant(90))
        let shared = CustomerHistory(.sample(signed: 70), household: [.sample(signed: 95)])
        #expect(shared.newestSignedDate == instant(95))
    }

    @Test func `grants are ordered newest purchase first`() {
        let history = CustomerHistory(
            .sample("10", from: 100, signed: 100), .sample("9", from: 100, signed: 100),
            .sample("8", from: 100, signed: 101), .sample("7", from: 200), .sample("6", from: nil))
        let ids = history.grantsByProduct()["p"]?.map(\.transactionID)
        #expect(ids == ["7", "8", "10", "9", "6"])
    }

    @Test func `a record names what revoked it and whether an override is in force`() {
        var evidence = Evidence()
        evidence.datelessRevoke = instant(150)
        let history = CustomerHistory(
            .lifetime("1", ownership: "FAMILY_SHARED"), evidence: ["1": evidence])
        let record = history.grantsByProduct()["p"]?.first
        #expect(record?.isOverridden == true)
        #expect(record?.revocation?.reason == .familyLeft)
        #expect(record?.revocation?.isPaymentReversed == false)
        #expect(CustomerHistory(.lifetime()).grantsByProduct()["p"]?.first?.revocation == nil)
    }

    /// Copies and evidence in any order and with any repetition come to the same facts.
    @Test(arguments: UInt64(300)...330)
    func `order and repetition of copies and evidence do not matter`(seed: UInt64) {
        var random = RandomHistory(seed: seed)
        // Four contents, each signed under two headers; dates coincide now and then.
        let contents = (0..<4).map { _ in random.transaction(1) }
        let copies = (0..<8).map { index in
            SignedTransaction(
                transaction: contents[index / 2],
                payload: Array("h\(index % 3).p\(index / 2).s\(index)".utf8))
        }
        let evidence = (0..<6).map { _ in random.evidence() }
        var results: Set<TransactionFact> = []
        for _ in 0..<40 {
            let order = (copies + copies.prefix(3)).shuffled(using: &random.generator)
            var winner = order[0]
            for copy in order where copy.supersedes(winner) { winner = copy }
            var merged = Evidence()
            for item in (evidence + evidence).shuffled(using: &random.generator) {
                merged.merge(item)
            }
            results.insert(TransactionFact(transaction: winner.transaction, evidence: merged))
        }
        #expect(results.count == 1, "seed \(seed)")
    }
}
