/// Customers of whom it is known what a server has to answer: what check workloads ask about.
///
/// Nothing is kept per customer: his name, his shape and the numbers of his transactions follow
/// from his index, so ten million of them cost no memory and no cache of the generator.
package struct CheckPopulation: Sendable {
    /// Numbers that ascend with the customer: `first + step * index`, without zeros in front and
    /// all of the same number of digits.
    package struct Series: Equatable, Sendable {
        /// That of customer 0.
        package var first: UInt64
        /// From one customer to the next.
        package var step: UInt64

        /// A series.
        package init(first: UInt64, step: UInt64) {
            self.first = first
            self.step = step
        }

        /// The number of a customer.
        @inline(__always)
        func number(of index: UInt64) -> UInt64 { first &+ step &* index }
    }

    /// What customers of one kind are asked about, and what is answered.
    package struct Shape: Equatable, Sendable {
        /// The product that is asked about.
        package var productID: String
        /// The answer: yes or no.
        package var granted: Bool
        /// The number of the contract's `Reason`.
        package var reason: Int32
        /// The number of the contract's `Ownership`.
        package var ownership: Int32
        /// When the answer flips by itself, in milliseconds since 1970; 0 = never.
        package var validUntilMilliseconds: Int64
        /// The product of the answer; empty = none.
        package var answeredProductID: String
        /// The transaction that decided; nil = none.
        package var transactionIDs: Series?
        /// Its chain; nil = none.
        package var originalTransactionIDs: Series?

        /// A shape; see the properties.
        package init(
            productID: String, granted: Bool, reason: Int32, ownership: Int32,
            validUntilMilliseconds: Int64, answeredProductID: String, transactionIDs: Series?,
            originalTransactionIDs: Series?
        ) {
            self.productID = productID
            self.granted = granted
            self.reason = reason
            self.ownership = ownership
            self.validUntilMilliseconds = validUntilMilliseconds
            self.answeredProductID = answeredProductID
            self.transactionIDs = transactionIDs
            self.originalTransactionIDs = originalTransactionIDs
        }
    }

    /// The most customers: a request remembers his index in 40 bits.
    package static let customerCountMax = 1 << 40

    /// The app; empty = the server's only one.
    package var bundleID: String
    /// The API key that every request carries; empty = none.
    package var apiKey = ""
    /// How many customers there are: indices 0 ..< `customerCount`.
    package var customerCount: Int
    /// What stands before the digits of a name.
    package var namePrefix: String
    /// How many digits a name has.
    package var nameDigitCount: Int
    /// What kinds of customers there are; at most 65,536.
    package var shapes: [Shape]
    /// Which shape the customer of an index has.
    package var shape: @Sendable (_ index: Int) -> Int

    /// A population; see the properties.
    package init(
        bundleID: String, customerCount: Int, namePrefix: String, nameDigitCount: Int,
        shapes: [Shape], shape: @escaping @Sendable (_ index: Int) -> Int
    ) {
        precondition((1...Self.customerCountMax).contains(customerCount))
        precondition((1...19).contains(String(customerCount - 1).utf8.count))
        precondition(nameDigitCount >= String(customerCount - 1).utf8.count)
        precondition(!shapes.isEmpty && shapes.count <= 1 << 16)
        self.bundleID = bundleID
        self.customerCount = customerCount
        self.namePrefix = namePrefix
        self.nameDigitCount = nameDigitCount
        self.shapes = shapes
        self.shape = shape
    }
}
