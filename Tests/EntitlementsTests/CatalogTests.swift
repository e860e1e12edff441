import Entitlements
import Testing

@Suite struct CatalogTests {
    let catalog = Catalog(
        products: [
            "b": Catalog.Product(
                entitlements: ["plus", "all", "plus"], policy: ProductPolicy(duration: 7)),
            "a": Catalog.Product(entitlements: ["plus"]),
        ], familyCut: .off)

    @Test func `a name lists its products once, sorted`() {
        #expect(catalog.productIDsByEntitlement == ["plus": ["a", "b"], "all": ["b"]])
        #expect(catalog.entitlements(of: "b") == ["plus", "all", "plus"])
    }

    @Test func `a product that is not listed works by its own id`() {
        #expect(catalog.policy(for: "c") == ProductPolicy(familyCut: .off))
        #expect(catalog.entitlements(of: "c") == [])
        #expect(Catalog().policy(for: "c") == ProductPolicy())
    }

    @Test func `whether households are cut holds for every product`() {
        #expect(catalog.policy(for: "b") == ProductPolicy(duration: 7, familyCut: .off))
        #expect(catalog.policy(for: "a").familyCut == .off)
    }
}
