/// What the operator says of an app's products.
package struct Catalog: Hashable, Sendable {
    /// One product's entry.
    package struct Product: Hashable, Sendable {
        /// The names that the product unlocks besides its own id.
        package var entitlements: [String]
        /// What applies when its transactions are read.
        package var policy: ProductPolicy
        /// What serving one unit costs, in millionths of the operator's currency.
        package var unitCostMicros: Int64

        /// An entry.
        package init(
            entitlements: [String] = [], policy: ProductPolicy = ProductPolicy(),
            unitCostMicros: Int64 = 0
        ) {
            self.entitlements = entitlements
            self.policy = policy
            self.unitCostMicros = unitCostMicros
        }
    }

    /// The entries by productId.
    package let products: [ExactName: Product]
    /// Which products unlock a name, sorted.
    package let productIDsByEntitlement: [ExactName: [ExactName]]
    /// What applies to a product that has no entry.
    package let defaultPolicy: ProductPolicy

    /// A catalog of these entries.
    ///
    /// - Parameters:
    ///   - products: the entries by productId.
    ///   - familyCut: which families a buyer's refund suspends.
    package init(products: [ExactName: Product] = [:], familyCut: FamilyCut = .declared) {
        var names: [ExactName: [ExactName]] = [:]
        for (productID, product) in products {
            for name in Set(product.entitlements.map { ExactName($0) }) {
                names[name, default: []].append(productID)
            }
        }
        self.products = products.mapValues {
            var product = $0
            product.policy.familyCut = familyCut
            return product
        }
        productIDsByEntitlement = names.mapValues { $0.sorted() }
        defaultPolicy = ProductPolicy(familyCut: familyCut)
    }

    /// What applies to `productID`.
    package func policy(for productID: String) -> ProductPolicy {
        products[productID]?.policy ?? defaultPolicy
    }

    /// The names that `productID` unlocks, as configured.
    package func entitlements(of productID: String) -> [String] {
        products[productID]?.entitlements ?? []
    }
}
