import Entitlements
import Service
import SnapshotTable
import Storage
import Synchronization
import TestSupport
import Testing

@Suite struct WarmingTests {
    private static let count = 9_000

    /// Customers by link alone: no signature is needed. More than one walk of warming takes.
    private func makeStore() throws -> MemoryStore {
        let fixture = try ServiceFixture()
        for number in 0..<Self.count {
            try fixture.link("customer-\(number)", .originalTransaction("\(number)"))
        }
        return fixture.store
    }

    @Test func `everybody who has a name is in the table afterwards, in every world`() throws {
        let store = try makeStore()
        let first = try ServiceFixture(store: store)
        let sandbox = try #require(
            first.desk.scopeIndex(Scope(bundleID: "com.example.meadow", environment: .sandbox)))
        try first.link("in the sandbox", .originalTransaction("s"), in: sandbox)
        let cold = try ServiceFixture(store: store, isWarm: false)
        #expect(!cold.service.reader.table.isComplete)
        try cold.service.warm()
        #expect(cold.service.reader.table.isComplete)
        #expect(cold.service.reader.tableUsage.customers == Self.count + 1)
        #expect(try cold.reason("customer-0") == .noPurchase)
        #expect(try cold.reason("customer-\(Self.count)") == .unknownCustomer)
        #expect(cold.service.reader.counters.storeReadCount == 0)
    }

    @Test func `a table without room for all takes some, and the rest come when asked for`() throws
    {
        let store = try makeStore()
        let cold = try ServiceFixture(store: store, cacheByteCountMax: 1 << 18)
        let table = cold.service.reader.table
        #expect(!table.isComplete)
        #expect(table.usage.customers > 500 && table.usage.customers < Self.count)
        for number in 0..<Self.count {
            #expect(try cold.reason("customer-\(number)") == .noPurchase)
        }
        #expect(try cold.reason("nobody") == .unknownCustomer)
        let readCount = cold.service.reader.counters.storeReadCount
        #expect(try cold.reason("customer-\(Self.count - 1)") == .noPurchase)
        #expect(cold.service.reader.counters.storeReadCount == readCount)
        #expect(table.usage.bytes <= 1 << 18)
    }

    @Test func `what is ingested while nothing is in memory is seen at once`() throws {
        let fixture = try ServiceFixture(cacheByteCountMax: 1 << 16)
        for number in 0..<1_000 {
            let name = "customer-\(number)"
            #expect(try fixture.reason(name) == .unknownCustomer)
            try fixture.link(name, .originalTransaction("\(number)"))
            #expect(try fixture.reason(name) == .noPurchase)
            let older = "customer-\(number / 2)"
            #expect(try fixture.reason(older) == .noPurchase)
        }
        try fixture.upload("customer-3", try fixture.transaction("3"))
        #expect(try fixture.reason("customer-3") == .active)
    }

    /// As an earlier release left it: snapshots of named customers under their numbers.
    @Test func `an older store is changed once, and answers as before`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        try fixture.notify("SUBSCRIBED", transaction: try fixture.transaction("2"))
        let store = fixture.store
        var changes = ChangeSet()
        try store.scan(.customers, prefix: [], from: nil, reversed: false) { key, value in
            guard key.count == Key.customerByteCount,
                let record = try? RecordCodec.decodeCustomer(value), !record.name.isEmpty
            else { return true }
            let scope = ScopeNumber(UInt16(key[0]) << 8 | UInt16(key[1]))
            let customer = CustomerKey(scope: scope, number: Key.trailingNumber(of: key))
            let named = Key.snapshot(of: customer, named: record.name)
            if let snapshot = try? store.value(for: named, in: .snapshots) {
                changes.put(snapshot, for: key, in: .snapshots)
                changes.delete(named, in: .snapshots)
            }
            return true
        }
        changes.delete(Key.namedSnapshots, in: .meta)
        try store.commit(changes)
        let notices = Mutex<[ServiceNotice]>([])
        let cold = try ServiceFixture(store: store, isWarm: false) {
            $0.onNotice = { notice in notices.withLock { $0.append(notice) } }
        }
        #expect(try cold.reason("ann") == .active)
        let told = notices.withLock { $0 }
        #expect(told == [false, true].map { .converting(snapshotCount: 1, isDone: $0) })
        let commitCount = store.commitCount
        let again = try ServiceFixture(store: store) {
            $0.onNotice = { notice in notices.withLock { $0.append(notice) } }
        }
        #expect(store.commitCount == commitCount)
        #expect(notices.withLock { $0 }.count == 2)
        #expect(again.service.reader.table.isComplete)
        #expect(try again.reason("ann") == .active)
        #expect(try again.desk.check(.originalTransaction("1"), "p", in: again.scope).isGranted)
        #expect(try again.desk.check(.originalTransaction("2"), "p", in: again.scope).isGranted)
    }
}
