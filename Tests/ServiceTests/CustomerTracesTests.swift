import Entitlements
import Storage
import TestSupport
import Testing

@testable import Service

@Suite struct CustomerTracesTests {
    @Test func `numbers, names and words are found wherever they stand`() throws {
        let fixture = try ServiceFixture()
        try LedgerForgettingTests.makeMary(fixture)
        try fixture.notify(
            "SUBSCRIBED",
            transaction: try fixture.transaction(
                "30", to: 9_000, changes: ["appAccountToken": .string("token-two")]))
        try fixture.link("mary-smith", .originalTransaction("30"))
        let key = CustomerKey(scope: ScopeNumber(1), number: 1)
        let bytes = try #require(try fixture.store.value(for: Key.customer(key), in: .customers))
        let record = try RecordCodec.decodeCustomer(bytes)
        let traces = try CustomerTraces(of: key, record, in: fixture.store)
        #expect(traces.numbers == [1, 2])
        #expect(
            traces.names == [
                Identity(.appAccountToken, "token-of-mary"),
                Identity(.appTransaction, "account-of-mary"),
                Identity(.appAccountToken, "token-two"),
            ])
        var entries: [AuditRecord] = []
        for key in traces.auditKeys {
            let bytes = try #require(try fixture.store.value(for: key, in: .audit))
            entries.append(try RecordCodec.decodeAudit(bytes))
        }
        #expect(entries.map(\.action).contains("HOUSEHOLD_JOINED"))
        #expect(entries.count > 3 && entries.allSatisfy { $0.customer == "mary-smith" })
        let other = CustomerKey(scope: ScopeNumber(1), number: 77)
        let nobody = try CustomerTraces(of: other, CustomerRecord(), in: fixture.store)
        #expect(nobody.numbers == [77] && nobody.names == [] && nobody.auditKeys == [])
    }

    @Test func `a record that does not decode is told`() throws {
        let store = MemoryStore()
        var changes = ChangeSet()
        let key = CustomerKey(scope: ScopeNumber(1), number: 1)
        changes.put([9, 9], for: Key.customer(key), in: .customers)
        try store.commit(changes)
        #expect(throws: StorageError.self) {
            try CustomerTraces(of: key, CustomerRecord(), in: store)
        }
    }
}
