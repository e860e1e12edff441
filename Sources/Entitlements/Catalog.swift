/// What the operator says of an app's products.
package struct Catalog: Hashable, Sendable {
    /// One product's entry.
    package struct Product: Hashable, Sendable {
        /// The names that the product unlocks besides its own id.
        package var entitlements: [String]
        /// What applies when its transactions are read.
        package var policy: ProductPolicy

        /// An entry.
        package init(entitlements: [String] = [], policy: ProductPolicy = ProductPolicy()) {
            self.entitlements = entitlements
            self.policy = policy
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
    ///   - cutsHouseholds: whether a refund in a declared household suspends the members' copies.
    package init(products: [ExactName: Product] = [:], cutsHouseholds: Bool = true) {
        var names: [ExactName: [ExactName]] = [:]
        for (productID, product) in products {
            for name in Set(product.entitlements.map { ExactName($0) }) {
                names[name, default: []].append(productID)
            }
        }
        self.products = products.mapValues {
            var product = $0
            product.policy.cutsHouseholds = cutsHouseholds
            return product
        }
        productIDsByEntitlement = names.mapValues { $0.sorted() }
        defaultPolicy = ProductPolicy(cutsHouseholds: cutsHouseholds)
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
