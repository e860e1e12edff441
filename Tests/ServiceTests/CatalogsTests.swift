import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct CatalogsTests {
    private static let names = Catalog(products: ["p": .init(entitlements: ["plus"])])

    private func granted(
        _ fixture: ServiceFixture, _ name: String, _ entitlement: String
    ) throws -> Bool {
        try fixture.desk.check(
            .customer(name), entitlement, at: ServiceFixture.date(5_000), isEntitlement: true,
            in: fixture.scope
        ).isGranted
    }

    @Test func `new names, durations and policies answer at once, and nothing is rewritten`()
        throws
    {
        let fixture = try ServiceFixture()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        try fixture.upload(
            "ann", try fixture.transaction("1"),
            try fixture.transaction(
                "2", product: "season",
                changes: ["type": "Non-Renewing Subscription"]),
            try fixture.transaction(
                "3", product: "kept", revoked: 2_000,
                changes: ["revocationType": "REFUND_PRORATED"]))
        #expect(try !granted(fixture, "ann", "plus"))
        #expect(try fixture.reason("ann", "season") == .incomplete)
        #expect(try fixture.reason("ann", "kept") == .refunded)
        let records = try fixture.records()
        let revision = fixture.service.revision
        fixture.service.reload(catalogs: [
            "com.example.meadow": Catalog(
                products: [
                    "p": .init(entitlements: ["plus"]),
                    "season": .init(policy: ProductPolicy(duration: 10_000)),
                    "kept": .init(policy: ProductPolicy(keepsProratedRefunds: true)),
                ])
        ])
        #expect(try granted(fixture, "ann", "plus"))
        #expect(try fixture.check("ann", "season").validUntil == ServiceFixture.date(11_000))
        #expect(try fixture.reason("ann", "season", at: 11_000) == .expired)
        #expect(try fixture.reason("ann", "kept") == .active)
        #expect(try fixture.records() == records)
        #expect(fixture.service.revision == revision)
        // Reads, rebuilds and what events tell of changes go by it too.
        let view = try fixture.view(.customer("ann"))
        #expect(view.entitlements.map(\.reason) == [.active, .active, .active])
        #expect(view.entitlements.first { $0.productID == "p" }?.names == ["plus"])
        let changes = try fixture.notify(
            "REFUND",
            transaction: try fixture.transaction(
                "3", product: "kept", revoked: 2_000, signed: 4_000,
                changes: ["revocationType": "REFUND_FULL"])
        ).changes
        #expect(changes.map(\.productID) == ["kept"])
        // And back.
        fixture.service.reload(catalogs: ["com.example.meadow": Catalog()])
        #expect(try !granted(fixture, "ann", "plus"))
        #expect(try fixture.reason("ann", "season") == .incomplete)
    }

    @Test func `an app that is not named keeps its catalog, and a strange one is ignored`() throws {
        let fixture = try ServiceFixture(catalog: Self.names) { configuration in
            configuration.apps.append(
                AppConfiguration(
                    bundleID: "com.example.other", appAppleID: 2, environments: [.production],
                    catalog: Catalog(products: ["p": .init(entitlements: ["other"])])))
        }
        try fixture.upload("ann", try fixture.transaction("1"))
        fixture.service.reload(catalogs: [
            "com.example.other": Catalog(), "com.example.strange": Self.names,
        ])
        #expect(try granted(fixture, "ann", "plus"))
        fixture.service.reload(catalogs: [:])
        #expect(try granted(fixture, "ann", "plus"))
    }

    @Test func `what is odd under the new catalog is told`() throws {
        let notices = Atomic64()
        let fixture = try ServiceFixture { $0.onNotice = { _ in _ = notices.next() } }
        let season = try fixture.transaction(
            "2", product: "season", changes: ["type": "Non-Renewing Subscription"])
        try fixture.upload("ann", season)
        #expect(notices.current == 1)
        fixture.service.reload(catalogs: [
            "com.example.meadow": Catalog(
                products: ["season": .init(policy: ProductPolicy(duration: 1))])
        ])
        try fixture.upload("ann", season)
        #expect(notices.current == 1)
    }

    /// Read after reload, from other threads, without a batch in between.
    @Test func `every check that begins after a reload is answered by it`() async throws {
        let fixture = try ServiceFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        let rounds = 400
        let reloaded = Atomic64()
        let isDone = Flag()
        let wrong = Atomic64()
        let seen = Atomic64()
        let service = fixture.service
        let scope = fixture.scope
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let desk = ServiceDesk(service)
                    while !isDone.isSet {
                        // Each round adds one name and drops none.
                        let floor = reloaded.current
                        let verdict = try? desk.check(
                            .customer("ann"), "e\(floor)", isEntitlement: true, in: scope)
                        if floor > 0, verdict?.isGranted != true { _ = wrong.next() }
                        _ = seen.next()
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                for round in 1...rounds {
                    let names = (max(1, round - 50)...round).map { "e\($0)" }
                    service.reload(catalogs: [
                        "com.example.meadow": Catalog(
                            products: ["p": .init(entitlements: names)])
                    ])
                    _ = reloaded.next()
                    await Task.yield()
                }
                isDone.set()
            }
        }
        #expect(wrong.current == 0)
        #expect(seen.current > 0)
    }
}
