import Entitlements
import Service
import SnapshotTable
import Storage
import TestSupport
import Testing

@Suite struct AccessReaderTests {
    static let catalog = Catalog(products: [
        "a": Catalog.Product(entitlements: ["plus"]),
        "b": Catalog.Product(entitlements: ["plus", "all"]),
        "season": Catalog.Product(
            entitlements: ["all"], policy: ProductPolicy(duration: 1_000)),
    ])

    private func plus(
        _ fixture: ServiceFixture, at offset: Int64, _ name: String = "plus"
    ) throws -> AccessVerdict {
        try fixture.desk.check(
            .customer("ann"), name, at: ServiceFixture.date(offset), isEntitlement: true,
            in: fixture.scope)
    }

    @Test func `a name is the OR over its products, and runs through them`() throws {
        let fixture = try ServiceFixture(catalog: Self.catalog)
        try fixture.upload(
            "ann", try fixture.transaction("1", product: "a", from: 1_000, to: 2_000),
            try fixture.transaction("2", product: "b", from: 2_000, to: 3_000),
            try fixture.transaction("3", product: "a", from: 2_500, to: 2_600),
            try fixture.transaction("4", product: "a", from: 4_000, to: 5_000))
        let first = try plus(fixture, at: 1_500)
        #expect(first.reason == .active && first.productID == "a")
        #expect(first.validUntil == ServiceFixture.date(3_000))
        // The grant with the latest end is reported.
        #expect(try plus(fixture, at: 2_550).productID == "b")
        let gap = try plus(fixture, at: 3_000)
        // The reason of the newest purchase that has started.
        #expect(gap.reason == .expired && gap.productID == "a" && gap.transactionID == "3")
        #expect(gap.validUntil == ServiceFixture.date(4_000))
        #expect(try plus(fixture, at: 4_500).validUntil == ServiceFixture.date(5_000))
        #expect(try plus(fixture, at: 5_000).validUntil == 0)
        #expect(try plus(fixture, at: 500).reason == .notStarted)
        #expect(try plus(fixture, at: 500).validUntil == ServiceFixture.date(1_000))
    }

    @Test func `a name whose product was never bought, and one that nobody has`() throws {
        let fixture = try ServiceFixture(catalog: Self.catalog)
        try fixture.upload("ann", try fixture.transaction("1", product: "other"))
        for name in ["plus", "all", "none", "a", ""] {
            let verdict = try plus(fixture, at: 2_000, name)
            #expect(verdict.reason == .noPurchase, "\(name)")
            #expect(verdict.transactionID.isEmpty && verdict.validUntil == 0)
        }
        #expect(
            try fixture.desk.check(
                .customer("bob"), "plus", isEntitlement: true, in: fixture.scope
            ).reason == .unknownCustomer)
    }

    @Test func `a name applies each product's own policy`() throws {
        let fixture = try ServiceFixture(catalog: Self.catalog)
        try fixture.upload(
            "ann",
            try fixture.transaction(
                "1", product: "season", from: 1_000,
                changes: ["type": "Non-Renewing Subscription"]))
        #expect(try plus(fixture, at: 1_999, "all").reason == .active)
        #expect(try plus(fixture, at: 1_000, "all").validUntil == ServiceFixture.date(2_000))
        #expect(try plus(fixture, at: 2_000, "all").reason == .expired)
    }

    @Test func `now is the clock's instant, and never before what was signed`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("ann", try fixture.transaction("1", from: 1_000, to: 5_000))
        func now() throws -> AccessReason {
            try fixture.desk.check(.customer("ann"), "p", in: fixture.scope).reason
        }
        // Signed at 1,000 by Apple's clock, ahead of ours: it counts at once.
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(500))
        #expect(try now() == .active)
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(4_999))
        #expect(try now() == .active)
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        #expect(try now() == .expired)
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(500))
        // A refund dated ahead of our clock ends access at once too.
        try fixture.upload("ann", try fixture.transaction("1", to: 5_000, revoked: 4_000))
        #expect(try now() == .refunded)
    }

    @Test func `the last of all instants is answered like the one before`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        for instant in [Int64.max, Int64.max - 1] as [Int64] {
            let verdict = try fixture.desk.check(
                .customer("ann"), "p", at: instant, in: fixture.scope)
            #expect(verdict.reason == .active && verdict.validUntil == 0)
        }
    }

    @Test func `an answer names product, transaction, chain and ownership`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload(
            "ann", try fixture.transaction("2", original: "1", to: 9_000, shared: true))
        let verdict = try fixture.check("ann")
        #expect(verdict.productID == "p" && verdict.transactionID == "2")
        #expect(verdict.originalTransactionID == "1" && verdict.ownership == .familyShared)
        let none = try fixture.check("ann", "q")
        #expect(none.reason == .noPurchase && none.productID == "q" && none.transactionID.isEmpty)
        #expect(none.ownership == .unspecified)
    }

    /// Neither warmed, nor with room for a single customer: every answer comes from the store.
    @Test(arguments: [(false, 1 << 24), (true, 4_096), (false, 4_096)])
    func `without the table the answers are the same`(isWarm: Bool, cache: Int) throws {
        let full = try ServiceFixture()
        let store = full.store
        try full.upload("ann", try full.transaction("1", to: 9_000))
        try full.upload("bob", try full.transaction("2", revoked: 4_000))
        try full.upload("", try full.transaction("3"))
        let other = try ServiceFixture(store: store, isWarm: isWarm, cacheByteCountMax: cache)
        for name in ["ann", "bob", "eve"] {
            for product in ["p", "q"] {
                for offset: Int64 in [500, 3_000, 5_000, 9_000] {
                    #expect(
                        try other.check(name, product, at: offset)
                            == full.check(name, product, at: offset))
                }
            }
        }
        #expect(!other.service.reader.table.isComplete)
        // A change is seen at once, whether or not there is room for it.
        try other.upload("ann", try other.transaction("1", to: 9_000, revoked: 4_500))
        #expect(try other.reason("ann") == .refunded)
        try other.upload("zoe", try other.transaction("9"))
        #expect(try other.reason("zoe") == .active)
        let together = try other.desk.checkTogether(
            [.customer("ann"), .customer("zoe"), .originalTransaction("3")], "p",
            at: ServiceFixture.date(5_000), in: other.scope)
        #expect(together.map(\.reason) == [.refunded, .active, .active])
    }

    @Test func `a damaged snapshot is no answer`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        try damageSnapshots(of: fixture.store) { Array($0.dropLast()) }
        #expect(try fixture.reason("ann") == .active)
        let cold = try ServiceFixture(store: fixture.store, isWarm: false)
        #expect(throws: Refusal.self) { try cold.reason("ann") }
        #expect(throws: StorageError.self) { try cold.service.warm() }
        #expect(!cold.service.reader.table.isComplete)
        #expect(try cold.reason("bob") == .unknownCustomer)
    }
}

/// Rewrites every stored snapshot.
func damageSnapshots(of store: MemoryStore, _ damage: ([UInt8]) -> [UInt8]) throws {
    var changes = ChangeSet()
    try store.scan(.snapshots, prefix: [], from: nil, reversed: false) { key, value in
        changes.put(damage(value), for: key, in: .snapshots)
        return true
    }
    try store.commit(changes)
}
