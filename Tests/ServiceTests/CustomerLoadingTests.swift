import Entitlements
import Storage
import TestSupport
import Testing

@testable import Service

@Suite struct CustomerLoadingTests {
    /// Ann with nine purchases, each of which was said to be hers: a long history.
    private func makeFixture() throws -> ServiceFixture {
        let fixture = try ServiceFixture {
            $0.longHistoryLimits = LongHistoryLimits(
                transactionCountMax: 4, headCount: 2, chainCountMax: 9)
        }
        for number in 1...9 {
            try fixture.upload(
                "ann",
                try fixture.transaction("\(number)", product: "life", from: Int64(number) * 1_000))
        }
        return fixture
    }

    private func load(_ fixture: ServiceFixture) throws -> CustomerState {
        let key = CustomerKey(scope: ScopeNumber(1), number: 1)
        return try #require(try CustomerState.load(key, from: fixture.store))
    }

    @Test func `of a long history neither facts nor links are read`() throws {
        let state = try load(try makeFixture())
        #expect(state.record.name == "ann")
        #expect(!state.isWhole)
        #expect(state.long?.transactionCount == 9)
        #expect(state.transactions.isEmpty)
        #expect(state.said.isEmpty)
    }

    @Test func `completed it has what is stored, and what was changed since`() throws {
        let fixture = try makeFixture()
        var state = try load(fixture)
        let stored = try StoredFacts(of: state.key, from: fixture.store)
        state.said.insert(Identity(.appTransaction, "A"))
        var fact = try #require(stored.transactions["3"])
        fact.transaction.productID = "q"
        state.put(fact)
        let whole = try state.completed(with: stored)
        #expect(whole.isWhole && whole.long == nil)
        #expect(whole.transactions.count == 9)
        #expect(whole.transactions["3"]?.transaction.productID == "q")
        let chains = (1...9).map { Identity(.originalTransaction, "\($0)") }
        #expect(whole.said == Set(chains + [Identity(.appTransaction, "A")]))
    }

    @Test func `a damaged snapshot has everything read`() throws {
        let fixture = try makeFixture()
        try damageSnapshots(of: fixture.store) { Array($0.dropLast(5)) }
        let state = try load(fixture)
        #expect(state.isWhole)
        #expect(state.transactions.count == 9)
        #expect(state.said.count == 9)
    }

    @Test func `so has a household, and whoever shares identities with somebody named`() throws {
        let fixture = try makeFixture()
        try fixture.link("ann", .originalTransaction("1"), household: "h")
        #expect(try load(fixture).isWhole)
        let other = try makeFixture()
        try other.upload(
            "bob",
            try other.transaction(
                "20", product: "life", changes: ["appTransactionId": .string("A")]))
        try other.upload(
            "ann",
            try other.transaction(
                "21", product: "life", changes: ["appAccountToken": .string("t")]))
        #expect(try !load(other).isWhole)
    }

    @Test func `a link that does not decode is told`() throws {
        let fixture = try makeFixture()
        let key = CustomerKey(scope: ScopeNumber(1), number: 1)
        var changes = ChangeSet()
        changes.put([], for: Key.customer(key) + [0xFF, 0x41], in: .customers)
        try fixture.store.commit(changes)
        #expect(try !load(fixture).isWhole)
        #expect(throws: StorageError.self) {
            try StoredLinks(of: key, from: fixture.store).said()
        }
        #expect(try StoredLinks(of: key, from: fixture.store).hinted().isEmpty)
    }
}
