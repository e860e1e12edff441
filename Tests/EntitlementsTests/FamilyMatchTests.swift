import Entitlements
import Testing

/// A purchase or copy of customer `customer`, whose transaction has the same number.
private func bought(
    _ customer: UInt64, line: String? = nil, refund: PurchaseRefund? = nil
) -> FamilyCandidate {
    FamilyCandidate(
        customer: customer, transactionID: "\(customer)", isPurchase: true, lineItemID: line,
        isEnded: refund != nil, refund: refund)
}

private func shared(
    _ customer: UInt64, _ id: String? = nil, line: String? = nil, isEnded: Bool = false
) -> FamilyCandidate {
    FamilyCandidate(
        customer: customer, transactionID: id ?? "\(customer)", isPurchase: false,
        lineItemID: line, isEnded: isEnded)
}

@Suite struct FamilyMatchTests {
    private func families(_ candidates: [FamilyCandidate]) -> [FamilyMatch] {
        FamilyMatch.families(among: candidates)
    }

    /// The customers who are linked, with the purchase and how it was found.
    private func links(_ candidates: [FamilyCandidate]) -> [String: String] {
        let links = FamilyMatch.links(of: families(candidates))
        return Dictionary(
            uniqueKeysWithValues: links.map {
                ($0.key.text, "\($0.value.transactionID) \($0.value.kind)")
            })
    }

    private func doubts(_ candidates: [FamilyCandidate]) -> [FamilyMatch.Doubt?] {
        families(candidates).map(\.doubt)
    }

    @Test func `one purchase and five copies are a family`() {
        let family = [bought(1)] + (2...6).map { shared($0) }
        #expect(links(family).count == 5)
        #expect(Set(links(family).values) == ["1 likely"])
        #expect(families(family).count == 1)
        #expect(families(family)[0].purchases.map(\.customer) == [1])
        #expect(families(family)[0].copies.map(\.customer) == [2, 3, 4, 5, 6])
    }

    @Test func `a purchase alone and copies alone are nothing`() {
        #expect(families([]) == [])
        #expect(families([bought(1)]) == [])
        #expect(families([shared(1)]) == [])
        #expect(families([shared(1), shared(2)]) == [])
        #expect(families([bought(1), bought(2)]) == [])
        #expect(families([shared(1, line: "L"), shared(2, line: "L")]) == [])
    }

    @Test func `a sixth other is one too many`() {
        let six = [bought(1)] + (2...7).map { shared($0) }
        #expect(doubts(six) == [.morePeopleThanShare])
        #expect(links(six) == [:])
    }

    @Test func `two purchases are one too many`() {
        #expect(doubts([bought(1), bought(2), shared(3)]) == [.severalPurchases])
        #expect(
            doubts([bought(1, line: "L"), bought(2, line: "L"), shared(3, line: "L")])
                == [.severalPurchases])
    }

    @Test func `nobody has a purchase twice`() {
        #expect(doubts([bought(1), shared(1, "9"), shared(2)]) == [.samePersonTwice])
        #expect(doubts([bought(1), shared(2), shared(2, "9")]) == [.samePersonTwice])
        // He left and came back: one of the two has ended.
        let back = [bought(1), shared(2, isEnded: true), shared(2, "9")]
        #expect(links(back) == ["2": "1 likely", "9": "1 likely"])
        // And left again.
        let gone = [bought(1), shared(2, isEnded: true), shared(2, "9", isEnded: true)]
        #expect(links(gone).count == 2)
        // An ended copy of the buyer's own is still his own.
        #expect(
            doubts([bought(1), shared(1, "9", isEnded: true), shared(2)]) == [.samePersonTwice])
        // Whoever left counts among those who share.
        let six = [bought(1), shared(2, isEnded: true)] + (3...7).map { shared($0) }
        #expect(doubts(six) == [.morePeopleThanShare])
    }

    @Test func `a line item that all carry makes it strong`() {
        let family = [bought(1, line: "L"), shared(2, line: "L"), shared(3, line: "L")]
        #expect(links(family) == ["2": "1 strong", "3": "1 strong"])
        let mixed = [bought(1, line: "L"), shared(2, line: "L"), shared(3)]
        #expect(links(mixed) == ["2": "1 likely", "3": "1 likely"])
        #expect(links([bought(1), shared(2, line: "L")]) == ["2": "1 likely"])
        #expect(links([bought(1, line: "L"), shared(2)]) == ["2": "1 likely"])
    }

    @Test func `line items divide before anything else`() {
        #expect(links([bought(1, line: "L"), shared(2, line: "M")]) == [:])
        #expect(doubts([bought(1, line: "L"), shared(2, line: "M")]) == [])
        let two = [
            bought(1, line: "L"), shared(2, line: "L"), bought(3, line: "M"),
            shared(4, line: "M"),
        ]
        #expect(links(two) == ["2": "1 strong", "4": "3 strong"])
        // Two texts that look the same are not the same.
        let composed = [bought(1, line: "é"), shared(2, line: "e\u{301}")]
        #expect(links(composed) == [:])
    }

    @Test func `who names no line item is in doubt where two events fit, and harms nobody`() {
        let two = [
            bought(1, line: "L"), shared(2, line: "L"), bought(3, line: "M"), shared(4),
        ]
        #expect(links(two) == ["2": "1 strong"])
        #expect(doubts(two) == [nil, .severalPurchases])
        let other = [bought(1, line: "L"), shared(2, line: "M"), shared(3)]
        #expect(links(other) == [:])
        #expect(doubts(other) == [.severalLineItems])
        // A whole family that says so does not fall apart because a stranger says nothing.
        let whole = [bought(1, line: "L")] + (2...6).map { shared($0, line: "L") }
        #expect(links(whole + [shared(7)]) == links(whole))
        #expect(doubts(whole + [shared(7)]) == [nil, .severalLineItems])
        // Nor because somebody else bought it without sharing.
        #expect(links(whole + [bought(8)]) == links(whole))
        #expect(doubts(whole + [bought(8)]) == [nil])
    }

    @Test func `a crowd is not looked at`() {
        let lines = (0..<18).flatMap {
            [bought(2 * $0 + 1, line: "\($0)"), shared(2 * $0 + 2, line: "\($0)")]
        }
        #expect(lines.count == FamilyMatch.candidateCountMax)
        #expect(links(lines).count == 18)
        #expect(doubts(lines + [shared(99, line: "x")]) == [.tooManyCandidates])
        #expect(links(lines + [shared(99, line: "x")]) == [:])
        #expect(families((1...50).map { bought($0) }) == [])
    }

    @Test(arguments: UInt64(1)...200)
    func `the order of candidates does not matter, and links keep the rules`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var candidates: [FamilyCandidate] = []
        for id in 1...(2 + generator.next() % 9) {
            candidates.append(
                FamilyCandidate(
                    customer: 1 + generator.next() % 8, transactionID: "t\(id)",
                    isPurchase: generator.oneIn(4),
                    lineItemID: generator.pick([nil, nil, "L", "M"]),
                    isEnded: generator.oneIn(5)))
        }
        let found = families(candidates)
        for _ in 0..<5 {
            #expect(families(candidates.shuffled(using: &generator)) == found, "seed \(seed)")
        }
        for family in found where family.kind != nil {
            #expect(family.purchases.count == 1 && family.doubt == nil)
            #expect((1...5).contains(Set(family.copies.map(\.customer)).count))
            let lines = Set((family.purchases + family.copies).compactMap(\.lineItemID))
            #expect(lines.count <= 1, "seed \(seed)")
            if family.kind == .strong {
                #expect((family.purchases + family.copies).allSatisfy { $0.lineItemID != nil })
            }
        }
        let ids = found.filter { $0.kind != nil }.flatMap(\.copies).map(\.transactionID)
        #expect(Set(ids).count == ids.count, "seed \(seed)")
    }
}

@Suite struct FamilyKeyTests {
    @Test func `only purchases and copies of what can be shared have one`() {
        #expect(FamilyKey(.sample()) != nil)
        #expect(FamilyKey(.sample(ownership: "FAMILY_SHARED")) != nil)
        #expect(FamilyKey(.lifetime()) != nil)
        #expect(FamilyKey(.sample(ownership: "ASSIGNED")) == nil)
        #expect(FamilyKey(.sample(ownership: "LENT")) == nil)
        #expect(FamilyKey(.sample(type: "Consumable")) == nil)
        #expect(FamilyKey(.sample(type: "Non-Renewing Subscription")) == nil)
        #expect(FamilyKey(.sample(from: nil, signed: 1)) == nil)
        #expect(FamilyKey(.sample(to: nil)) != nil)
    }

    @Test func `it is of product, purchase and expiry, to the millisecond`() {
        let key = FamilyKey(.sample("1"))
        #expect(FamilyKey(.sample("2", ownership: "FAMILY_SHARED", signed: 900)) == key)
        #expect(FamilyKey(.sample(product: "q")) != key)
        #expect(FamilyKey(.sample(from: 101)) != key)
        #expect(FamilyKey(.sample(to: 201)) != key)
        // What never ends has no expiry, whatever a payload says.
        let odd = Transaction.lifetime { $0.expiresDate = instant(900) }
        #expect(FamilyKey(odd) == FamilyKey(.lifetime()))
    }

    @Test func `a candidate says what families are recognised by`() throws {
        let refunded = Transaction.sample(signed: 160) {
            $0.revocationDate = instant(150)
            $0.revocationType = "REFUND_PRORATED"
            $0.webOrderLineItemID = "L"
        }
        let candidate = try #require(TransactionFact(transaction: refunded).candidate(of: 7))
        #expect(candidate.customer == 7 && candidate.isPurchase && candidate.isEnded)
        #expect(candidate.lineItemID == "L")
        #expect(
            candidate.refund
                == PurchaseRefund(date: instant(150), isProrated: true, signedDate: instant(160)))
        var fact = TransactionFact(transaction: .sample(ownership: "FAMILY_SHARED"))
        #expect(fact.candidate(of: 7)?.isEnded == false)
        fact.evidence.datelessRevoke = instant(170)
        #expect(fact.candidate(of: 7)?.isEnded == true)
        fact.evidence.grantNotification = instant(171)
        #expect(fact.candidate(of: 7)?.isEnded == false)
        fact.transaction.revocationDate = instant(180)
        #expect(fact.candidate(of: 7)?.isEnded == true)
        #expect(fact.candidate(of: 7)?.refund == nil)
    }
}

@Suite struct MatchedCutTests {
    private let matched = ProductPolicy(familyCut: .matched)

    /// A family copy from 100 to 200 whose recognised purchase was refunded at 150.
    private func history(
        prorated: Bool = false, kind: FamilyLinkKind = .likely, household: [Transaction] = [],
        evidence: Evidence = Evidence(), _ change: (inout Transaction) -> Void = { _ in }
    ) -> CustomerHistory {
        let copy = Transaction.sample("2", ownership: "FAMILY_SHARED", change)
        let refund = PurchaseRefund(
            date: instant(150), isProrated: prorated, signedDate: instant(155))
        let fact = TransactionFact(
            transaction: copy, evidence: evidence,
            matched: MatchedPurchase(transactionID: "1", kind: kind, refund: refund))
        return CustomerHistory(
            transactions: ["2": fact],
            householdPurchases: household.compactMap { HouseholdPurchase($0) })
    }

    @Test func `the policy says whether it counts`() {
        #expect(history().reason(at: 150, under: matched) == .familySuspended)
        #expect(history().decision(at: 149, under: matched).validUntil == 150)
        #expect(history().reason(at: 150, under: ProductPolicy(familyCut: .declared)) == .active)
        #expect(history().reason(at: 150, under: ProductPolicy(familyCut: .off)) == .active)
        #expect(history().decision(at: 149).validUntil == 200)
    }

    @Test func `a purchase that stands cuts nobody`() {
        var fact = TransactionFact(transaction: .sample("2", ownership: "FAMILY_SHARED"))
        fact.matched = MatchedPurchase(transactionID: "1", kind: .strong, refund: nil)
        let history = CustomerHistory(transactions: ["2": fact])
        #expect(history.reason(at: 150, under: matched) == .active)
        #expect(history.grantsByProduct()["p"]?.first?.family == nil)
    }

    @Test func `own evidence lifts it, and leaves the purchase known`() {
        var evidence = Evidence()
        evidence.activeStatus = instant(150)
        #expect(history(evidence: evidence).reason(at: 150, under: matched) == .familySuspended)
        evidence.activeStatus = instant(151)
        let lifted = history(evidence: evidence)
        #expect(lifted.reason(at: 160, under: matched) == .active)
        #expect(
            lifted.grantsByProduct()["p"]?.first?.family
                == FamilyLink(transactionID: "1", kind: .likely, isProrated: false))
    }

    @Test func `a household that bought it goes before, one that did not does not`() {
        let standing = history(household: [.sample("9", from: 120, to: 300)])
        #expect(standing.reason(at: 160, under: matched) == .active)
        #expect(standing.grantsByProduct()["p"]?.first?.family == nil)
        let refunded = Transaction.sample("9", from: 120, to: 300, signed: 170) {
            $0.revocationDate = instant(170)
        }
        let declared = history(household: [refunded])
        #expect(declared.reason(at: 160, under: matched) == .active)
        #expect(declared.reason(at: 170) == .familySuspended)
        #expect(
            declared.grantsByProduct()["p"]?.first?.family
                == FamilyLink(transactionID: "9", kind: .declared, isProrated: false))
        let elsewhere = history(household: [.sample("9", product: "q")])
        #expect(elsewhere.reason(at: 160, under: matched) == .familySuspended)
    }

    @Test func `a prorated refund that is kept cuts no copy of what does not renew`() {
        let keeping = ProductPolicy(keepsProratedRefunds: true, familyCut: .matched)
        let copy = TransactionFact(
            transaction: .lifetime("2", ownership: "FAMILY_SHARED"),
            matched: MatchedPurchase(
                transactionID: "1", kind: .likely,
                refund: PurchaseRefund(
                    date: instant(150), isProrated: true, signedDate: instant(150))))
        let lifetime = CustomerHistory(transactions: ["2": copy])
        #expect(lifetime.reason(at: 160, under: keeping) == .active)
        #expect(lifetime.reason(at: 160, under: matched) == .familySuspended)
        #expect(history(prorated: true).reason(at: 160, under: keeping) == .familySuspended)
    }

    @Test func `it is no proof of the cause of a revocation`() {
        let dated = history { $0.revocationDate = instant(140) }
        let revocation = dated.grantsByProduct()["p"]?.first?.revocation
        #expect(revocation?.reason == .familyRefunded && revocation?.isCertain == false)
        var evidence = Evidence()
        evidence.datelessRevoke = instant(160)
        let undated = history(evidence: evidence)
        #expect(undated.reason(at: 155, under: matched) == .familySuspended)
        #expect(undated.reason(at: 160, under: matched) == .familyLeft)
    }

    @Test func `the signature of the refund counts as news to the member`() {
        #expect(history().newestSignedDate == instant(155))
    }
}
