package import Entitlements

/// The catalogs of all worlds, flat: look-ups by the bytes of a request read arrays of plain
/// values, so they make no text, allocate nothing and count no references.
package final class CompiledCatalog: Sendable {
    private let names: CatalogNames

    /// The catalogs in the order of their worlds.
    package init(_ catalogs: [Catalog]) {
        var names = CatalogNames()
        for catalog in catalogs { names.append(catalog) }
        self.names = names
    }

    /// What applies to the product of this name in a world.
    package func policy(for name: Span<UInt8>, in world: Int) -> ProductPolicy {
        names.policy(for: name, in: world)
    }

    /// The products of an entitlement, as positions for the functions below; empty when no product
    /// has it.
    package func products(of name: Span<UInt8>, in world: Int) -> Range<Int> {
        names.products(of: name, in: world)
    }

    /// The policy of a product of an entitlement.
    package func policy(ofMember index: Int) -> ProductPolicy { names.policy(ofMember: index) }

    /// Where a product of an entitlement stands in a snapshot; nil when nowhere.
    package func position(ofMember index: Int, in view: borrowing SnapshotView) -> Int? {
        names.position(ofMember: index, in: view)
    }
}

/// All names of all catalogs, one after the other.
private struct CatalogNames {
    /// A name, as a range of `bytes`.
    private struct Name: BitwiseCopyable {
        var start: Int
        var count: Int
    }

    /// All names, one after the other.
    private var bytes: [UInt8] = []
    /// Products with an entry, sorted by name within a world.
    private var products: [Name] = []
    private var policies: [ProductPolicy] = []
    /// Entitlement names, sorted within a world, and the range of `members` of each.
    private var entitlements: [Name] = []
    private var memberRanges: [Range<Int>] = []
    /// Products of entitlements, as positions in `products`.
    private var members: [Int] = []
    /// Per world: its range of `products` and of `entitlements`, and what applies to other
    /// products.
    private var productRanges: [Range<Int>] = []
    private var entitlementRanges: [Range<Int>] = []
    private var defaultPolicies: [ProductPolicy] = []

    /// Adds the next world.
    mutating func append(_ catalog: Catalog) {
        defaultPolicies.append(catalog.defaultPolicy)
        let firstProduct = products.count
        let ids = catalog.products.keys.sorted().map(\.text)
        var positions: [ExactName: Int] = [:]
        for id in ids {
            positions[id] = products.count
            products.append(append(id))
            policies.append(catalog.policy(for: id))
        }
        productRanges.append(firstProduct..<products.count)
        let firstEntitlement = entitlements.count
        for name in catalog.productIDsByEntitlement.keys.sorted() {
            let firstMember = members.count
            let ids = catalog.productIDsByEntitlement[name] ?? []
            members += ids.compactMap { positions[$0] }
            entitlements.append(append(name.text))
            memberRanges.append(firstMember..<members.count)
        }
        entitlementRanges.append(firstEntitlement..<entitlements.count)
    }

    private mutating func append(_ name: String) -> Name {
        let start = bytes.count
        bytes.append(contentsOf: name.utf8)
        return Name(start: start, count: bytes.count - start)
    }

    /// What applies to the product of this name in a world.
    func policy(for name: Span<UInt8>, in world: Int) -> ProductPolicy {
        guard let position = position(of: name, in: productRanges[world], isProduct: true) else {
            return defaultPolicies[world]
        }
        return policies[position]
    }

    /// Where the products of an entitlement stand in `product(at:)`; empty when no product has it.
    func products(of name: Span<UInt8>, in world: Int) -> Range<Int> {
        position(of: name, in: entitlementRanges[world], isProduct: false)
            .map { memberRanges[$0] } ?? 0..<0
    }

    /// The policy of a product of an entitlement.
    func policy(ofMember index: Int) -> ProductPolicy { policies[members[index]] }

    /// Where a product of an entitlement stands in a snapshot; nil when nowhere.
    func position(ofMember index: Int, in view: borrowing SnapshotView) -> Int? {
        let name = products[members[index]]
        return view.index(ofProduct: bytes.span.extracting(name.start..<name.start + name.count))
    }

    private func position(of name: Span<UInt8>, in range: Range<Int>, isProduct: Bool) -> Int? {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            let comparison = order(isProduct ? products[middle] : entitlements[middle], name)
            if comparison == 0 { return middle }
            if comparison < 0 { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    private func order(_ left: Name, _ right: Span<UInt8>) -> Int {
        SnapshotTable.order(
            bytes.span.extracting(left.start..<left.start &+ left.count), right)
    }
}
