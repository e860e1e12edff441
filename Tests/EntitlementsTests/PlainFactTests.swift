import Entitlements
import Testing

@Suite struct PlainFactTests {
    /// A fact whose grant rests on nobody else's says the same without its texts.
    @Test(arguments: 0..<300)
    func `it grants what the whole fact grants`(seed: UInt64) throws {
        var random = RandomHistory(seed: seed)
        var history = CustomerHistory()
        let fact = TransactionFact(
            transaction: random.transaction(1), evidence: random.evidence())
        history.transactions["1"] = fact
        let chain = fact.transaction.originalTransactionID
        var renewal = RenewalInfo.sample(chain, retry: random.generator.oneIn(2))
        renewal.gracePeriodExpiresDate = random.optionalDate(oneIn: 2)
        history.renewals[chain] = renewal
        let record = try #require(history.grantsByProduct().values.first?.first)
        let plain = PlainFact(fact)
        #expect(plain.grant(terms: RenewalTerms(renewal), successor: nil) == record.grant)
        #expect(plain.override == fact.evidence.override(of: fact.transaction)?.milliseconds)
        let newest = max(
            fact.transaction.signedDate, fact.evidence.newestDate ?? .distantPast)
        #expect(plain.newestDate == newest.milliseconds)
    }

    @Test func `what followed an upgrade ends it`() {
        var plain = PlainFact(type: .autoRenewable, ownership: .purchased, signedDate: 1)
        plain.isUpgraded = true
        #expect(plain.grant(terms: nil, successor: 50).upgradedFrom == 50)
        #expect(plain.grant(terms: nil, successor: nil).upgradedFrom == .min)
        plain.isUpgraded = false
        #expect(plain.grant(terms: nil, successor: 50).upgradedFrom == .max)
    }

    @Test(arguments: [
        ("REFUND_FULL", RevocationKind.refundFull), ("REFUND_PRORATED", .refundProrated),
        ("FAMILY_REVOKE", .familyRevoke), ("ASSIGNMENT_REVOKE", .assignmentRevoke),
        ("LATER_TYPE", .unspecified),
    ])
    func `kinds of revocations have their names`(name: String, kind: RevocationKind) {
        #expect(RevocationKind(name: name) == kind)
        #expect(RevocationKind(name: nil) == .unspecified)
    }
}
