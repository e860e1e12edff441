import Entitlements
import Testing

struct ExactNameTests {
    /// The same text to a reader, other bytes: é in one scalar and in two; two orders of marks.
    static let lookalikes = [("caf\u{E9}", "cafe\u{301}"), ("a\u{323}\u{307}", "a\u{307}\u{323}")]

    @Test(arguments: lookalikes)
    func `names that only look alike are two names`(left: String, right: String) {
        #expect(left == right, "Swift's strings take them for one")
        #expect(ExactName(left) != ExactName(right))
        #expect(Identity(.customer, left) != Identity(.customer, right))
        var values: [ExactName: Int] = [:]
        values[left] = 1
        values[right, default: 0] += 2
        #expect(values[left] == 1 && values[right] == 2)
        var names: Set<ExactName> = []
        names.insert(left)
        #expect(names.contains(left) && !names.contains(right))
    }

    @Test(arguments: lookalikes)
    func `apps whose ids only look alike are two worlds`(left: String, right: String) {
        let scopes = [
            Scope(bundleID: left, environment: .sandbox),
            Scope(bundleID: right, environment: .sandbox),
            Scope(bundleID: left, environment: .production),
        ]
        #expect(Set(scopes).count == 3)
    }

    @Test func `names sort by their bytes`() {
        let names: [ExactName] = ["b", "a", "é", "Z", "aa"]
        #expect(names.sorted().map(\.text) == ["Z", "a", "aa", "b", "é"])
        #expect(ExactName("x").description == "x")
    }

    @Test(arguments: lookalikes)
    func `products that only look alike have answers of their own`(left: String, right: String) {
        let bought = Transaction(
            transactionID: "1", originalTransactionID: "1", productID: left,
            rawType: "Non-Consumable", rawOwnership: "PURCHASED",
            purchaseDate: Timestamp(milliseconds: 1), signedDate: Timestamp(milliseconds: 2))
        let history = CustomerHistory(transactions: ["1": TransactionFact(transaction: bought)])
        let grants = history.grantsByProduct()
        #expect(grants[left]?.count == 1)
        #expect(grants[right] == nil)
    }
}
