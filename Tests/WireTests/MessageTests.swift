import Testing
import Wire

@Suite struct MessageTests {
    @Test func `a customer's name is at hand whatever its kind`() {
        let names: [Message.CustomerRef] = [
            .customerID("a"), .appAccountToken("b"), .appTransactionID("c"),
            .originalTransactionID("d"),
        ]
        #expect(names.map(\.text) == ["a", "b", "c", "d"])
        #expect(Set(names).count == 4)
    }

    @Test func `a scope is that of the only app in Production where nothing is said`() {
        let scope = Message.Scope()
        #expect(scope.bundleID.isEmpty)
        #expect(scope.environment == .unspecified)
    }
}
