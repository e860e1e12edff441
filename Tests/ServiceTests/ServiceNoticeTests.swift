import Entitlements
import Testing

@testable import Service

struct ServiceNoticeTests {
    private func transaction(_ type: String, purchased: Bool = true) -> Transaction {
        Transaction(
            transactionID: "1", originalTransactionID: "1", productID: "season", rawType: type,
            rawOwnership: "PURCHASED",
            purchaseDate: purchased ? Timestamp(milliseconds: 1) : nil,
            signedDate: Timestamp(milliseconds: 2))
    }

    @Test func `a non-renewing product without a duration is named`() {
        let season = transaction("Non-Renewing Subscription")
        #expect(ServiceNotice(season, catalog: Catalog()) == .missingDuration(productID: "season"))
        let named = Catalog(products: ["season": .init(policy: ProductPolicy(duration: 1))])
        #expect(ServiceNotice(season, catalog: named) == nil)
    }

    @Test func `a transaction that lacks a date is named`() {
        let incomplete = ServiceNotice.incompleteTransaction(
            transactionID: "1", productID: "season")
        var auto = transaction("Auto-Renewable Subscription")
        #expect(ServiceNotice(auto, catalog: Catalog()) == incomplete)
        auto.expiresDate = Timestamp(milliseconds: 3)
        #expect(ServiceNotice(auto, catalog: Catalog()) == nil)
        let undated = transaction("Non-Consumable", purchased: false)
        #expect(ServiceNotice(undated, catalog: Catalog()) == incomplete)
        #expect(ServiceNotice(transaction("Non-Consumable"), catalog: Catalog()) == nil)
    }
}
