import Entitlements
import SnapshotTable
import Testing

struct CompiledCatalogTests {
    private let catalog = CompiledCatalog([
        Catalog(
            products: [
                "b": .init(entitlements: ["plus", "all"], policy: ProductPolicy(duration: 2)),
                "a": .init(entitlements: ["all"], policy: ProductPolicy(duration: 1)),
                "abc": .init(policy: ProductPolicy(keepsProratedRefunds: true)),
            ]),
        Catalog(products: ["a": .init(policy: ProductPolicy(duration: 7))], familyCut: .off),
    ])

    private func policy(_ name: String, in world: Int) -> ProductPolicy {
        let bytes = Array(name.utf8)
        return catalog.policy(for: bytes.span, in: world)
    }

    private func durations(of name: String, in world: Int) -> [Int64] {
        let bytes = Array(name.utf8)
        let members = catalog.products(of: bytes.span, in: world)
        return members.map { catalog.policy(ofMember: $0).duration }
    }

    @Test func `a product is found by its bytes, in its own world`() {
        #expect(policy("a", in: 0).duration == 1)
        #expect(policy("b", in: 0).duration == 2)
        #expect(policy("abc", in: 0).keepsProratedRefunds)
        #expect(policy("a", in: 1).duration == 7)
    }

    @Test(arguments: ["", "ab", "abcd", "c", "A"])
    func `a product without an entry has the world's default`(name: String) {
        #expect(policy(name, in: 0) == ProductPolicy())
        #expect(policy(name, in: 1) == ProductPolicy(familyCut: .off))
    }

    @Test func `a name leads to its products; an unknown one to none`() {
        #expect(durations(of: "all", in: 0) == [1, 2])
        #expect(durations(of: "plus", in: 0) == [2])
        #expect(durations(of: "nothing", in: 0) == [])
        #expect(durations(of: "all", in: 1) == [])
    }
}
