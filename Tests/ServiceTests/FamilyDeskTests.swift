import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct FamilyDeskTests {
    @Test func `whoever keeps access on a refunded purchase is named, with how sure that is`()
        throws
    {
        let fixture = try ServiceFixture()
        try fixture.makeFamily(["mary", "tom"])
        #expect(try fixture.audit().findings == [])
        _ = try fixture.desk.perform(fixture.refund()).get()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        let page = try fixture.audit()
        #expect(page.nextPageToken == "")
        #expect(page.findings.map(\.copy.customerID) == ["mary", "tom"])
        let finding = page.findings[0]
        #expect(finding.confidence == .likely)
        #expect(finding.copy.reason == .active && finding.copy.transactionID == "2")
        #expect(finding.purchase.customerID == "buyer" && finding.purchase.reason == .refunded)
        #expect(finding.grantedUntil == ServiceFixture.date(90_000))
        #expect(finding.refreshedAt == 0 && !finding.isRefreshQueued)
        #expect(
            finding.explanation
                == "the refunded purchase has the same product and dates; no REVOKE of this copy "
                + "is stored; family.cut is declared, so that recognised families are not "
                + "suspended; the history was never fetched from Apple")
        // His own REVOKE settles it; after the period nobody is left.
        try fixture.notify(
            "REVOKE",
            transaction: try fixture.transaction(
                "2", to: 90_000, shared: true, revoked: 4_000, changes: noLineItem))
        #expect(try fixture.findings().map(\.copy.customerID) == ["tom"])
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(90_000))
        #expect(try fixture.findings() == [])
    }

    @Test func `whoever is suspended is no finding`() throws {
        let fixture = try ServiceFixture.cutting()
        try fixture.makeFamily(["mary", "tom"])
        _ = try fixture.desk.perform(fixture.refund()).get()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        #expect(try fixture.findings() == [])
        // Unless evidence of his own has lifted it.
        try fixture.notify(
            "DID_RENEW", signed: 4_500,
            transaction: try fixture.transaction(
                "3", to: 90_000, shared: true, signed: 4_500, changes: noLineItem))
        let findings = try fixture.findings()
        #expect(findings.map(\.copy.customerID) == ["tom"])
        #expect(
            findings.first?.explanation.contains(
                "what Apple signed after the refund says that it is shared still") == true)
    }

    @Test func `a household's members are named when nothing may suspend them`() throws {
        let fixture = try ServiceFixture.cutting(.off) { $0.isAppStoreConfigured = true }
        // Dates differ: only the household says that they share.
        try fixture.link("buyer", .originalTransaction("1"), household: "h")
        try fixture.notify("SUBSCRIBED", transaction: try fixture.transaction("1", to: 90_000))
        try fixture.link("mary", .originalTransaction("2"), household: "h")
        try fixture.notify(
            "SUBSCRIBED",
            transaction: try fixture.transaction("2", from: 1_500, to: 90_000, shared: true))
        try fixture.notify(
            "REFUND", transaction: try fixture.transaction("1", to: 90_000, revoked: 4_000))
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        let finding = try #require(try fixture.findings().first)
        #expect(finding.confidence == .declared && finding.copy.customerID == "mary")
        #expect(finding.isRefreshQueued)
        #expect(finding.explanation.hasPrefix("bought in the declared household; no REVOKE"))
        #expect(finding.explanation.contains("family.cut is off"))
        // Somebody else of them bought it as well: her copy may rest on that.
        try fixture.link("tom", .originalTransaction("3"), household: "h")
        try fixture.notify("SUBSCRIBED", transaction: try fixture.transaction("3", to: 90_000))
        #expect(try fixture.findings() == [])
    }

    @Test func `that he would keep the product anyhow is said`() throws {
        let fixture = try ServiceFixture()
        try fixture.makeFamily(["mary"])
        try fixture.upload("mary", try fixture.transaction("30", from: 2_000, to: 95_000))
        _ = try fixture.desk.perform(fixture.refund()).get()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        let finding = try #require(try fixture.findings().first)
        #expect(finding.explanation.contains("another transaction of the product grants as well"))
    }

    @Test func `a prorated refund that everybody may keep is no finding`() throws {
        for isKept in [true, false] {
            let policy = ProductPolicy(keepsProratedRefunds: isKept)
            let fixture = try ServiceFixture(
                catalog: Catalog(products: ["p": Catalog.Product(policy: policy)]))
            try fixture.makeFamily(["mary"], to: nil)
            try fixture.notify(
                "REFUND",
                transaction: try fixture.transaction(
                    "1", revoked: 4_000, changes: ["revocationType": "REFUND_PRORATED"]))
            fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
            #expect(try fixture.findings().count == (isKept ? 0 : 1))
        }
    }
}
