import Entitlements
import RocksDBStorage
import Service
import Storage
import Synchronization
import TestSupport
import Testing

@testable import entitlebench

@Suite struct BulkLoadTests {
    private let directory: SeedDirectory
    private let fixture: SeedFixture

    init() throws {
        directory = try SeedDirectory()
        fixture = try SeedFixture()
    }

    /// A store with the population in it, open.
    private func load(_ plan: SeedPlan, signs: Bool) throws -> RocksDBStore {
        let path = directory.appending("bulk")
        try BulkLoad(
            plan: plan, app: fixture.signer.app, directory: path, threadCount: 2,
            receivedMilliseconds: SeedFixture.now, signer: signs ? fixture.signer : nil
        ).run()
        return try RocksDBStore(directory: path)
    }

    /// The same, handed in call by call.
    private func ingest(_ plan: SeedPlan) throws -> MemoryStore {
        let store = MemoryStore()
        let desk = try fixture.desk(store)
        for index in 0..<plan.personCount {
            _ = try desk.perform(fixture.upload(of: index, in: plan)).get()
        }
        return store
    }

    /// One to three transactions each: the borders of periods, and a last group that is not whole.
    private static let plans = [
        SeedPlan(customerCount: 302),
        SeedPlan(seed: 2, customerCount: 300, transactionCounts: 1...3),
        SeedPlan(seed: 3, customerCount: 13, transactionCounts: 30...30),
        SeedPlan(
            seed: 4, customerCount: 14, heavyCustomerCount: 2, heavyTransactionCount: 40),
        // More than a short history has.
        SeedPlan(
            seed: 5, customerCount: 6, heavyCustomerCount: 1, heavyTransactionCount: 520),
    ]

    /// The only exception: a signature is never twice the same, so payloads are compared up to it.
    @Test(arguments: plans)
    func `a bulk load leaves the very records that signed data would have left`(
        plan: SeedPlan
    ) throws {
        let bulk = try load(plan, signs: true)
        let ingested = try ingest(plan)
        for keyspace in Keyspace.allCases where keyspace != .payloads {
            let (left, right) = try (
                bulk.everything(in: keyspace), ingested.everything(in: keyspace)
            )
            #expect(left.count == right.count, "\(keyspace)")
            let different = right.filter { left[$0.key] != $0.value }
            #expect(different.isEmpty, "\(keyspace): \(different.prefix(2))")
        }
        let signed = try bulk.everything(in: .payloads).mapValues(Self.withoutSignature)
        #expect(
            try signed == ingested.everything(in: .payloads).mapValues(Self.withoutSignature))
    }

    /// Every kind of customer is among those that are compared.
    @Test func `the compared population has everybody in it`() {
        let kinds = Set((0..<302).map { Self.plans[0].kind(of: $0) })
        #expect(kinds == Set(SeedPlan.Kind.allCases))
    }

    private static func withoutSignature(_ jws: [UInt8]) -> [UInt8] {
        Array(jws[...(jws.lastIndex(of: UInt8(ascii: ".")) ?? jws.endIndex - 1)])
    }

    @Test func `without payloads nothing else is missing`() throws {
        let plan = SeedPlan(customerCount: 60)
        let bulk = try load(plan, signs: false)
        let ingested = try ingest(plan)
        #expect(try bulk.everything(in: .payloads).isEmpty)
        for keyspace in Keyspace.allCases where keyspace != .payloads {
            #expect(try bulk.everything(in: keyspace) == ingested.everything(in: keyspace))
        }
    }

    @Test func `rebuilding everybody from a bulk store changes nothing`() throws {
        let plan = Self.plans[0]
        let bulk = try load(plan, signs: false)
        let before = try Keyspace.allCases.map { try bulk.everything(in: $0) }
        let desk = try fixture.desk(bulk)
        let scope = try #require(
            desk.scopeIndex(
                Scope(bundleID: fixture.signer.app.bundleID, environment: .production)))
        for index in 0..<plan.customerCount {
            let request = RebuildRequest(
                customer: .customer(plan.name(of: index)), source: .storedFacts, scope: scope)
            guard case .rebuild(let reply) = try desk.perform(.rebuild(request)).get() else {
                Issue.record("no rebuild")
                return
            }
            #expect(reply.changes.isEmpty)
            #expect(reply.transactionCount == plan.transactionCount(of: index))
        }
        #expect(try Keyspace.allCases.map { try bulk.everything(in: $0) } == before)
    }

    @Test(arguments: [false, true])
    func `a server on a bulk store gives the answers of the population`(warms: Bool) throws {
        let plan = Self.plans[1]
        let desk = try fixture.desk(load(plan, signs: false))
        if warms { try desk.service.warm() }
        let scope = try #require(
            desk.scopeIndex(
                Scope(bundleID: fixture.signer.app.bundleID, environment: .production)))
        for index in 0..<plan.customerCount + 3 {
            let expected = plan.expectation(of: index)
            let verdict = try desk.check(
                .customer(plan.name(of: index)), expected.productID, in: scope)
            #expect(verdict.reason == expected.reason, "\(index)")
            #expect(verdict.ownership == expected.ownership)
            #expect(verdict.transactionID == expected.transactionID)
            #expect(verdict.originalTransactionID == expected.originalTransactionID)
            #expect(verdict.validUntil == expected.validUntil)
        }
    }

    @Test func `a directory that holds a store is not loaded into`() throws {
        let plan = SeedPlan(customerCount: 6)
        do { _ = try load(plan, signs: false) }
        let error = #expect(throws: StorageError.self) { try load(plan, signs: false) }
        guard case .foreignDirectory = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a load that cannot fit twice is refused before anything is written`() throws {
        let path = directory.appending("huge")
        var load = BulkLoad(
            plan: SeedPlan(customerCount: 1_000_000), app: SeedApp(), directory: path,
            threadCount: 1, receivedMilliseconds: SeedFixture.now)
        load.freeByteCount = 2 * load.estimatedByteCount - 1
        #expect(load.estimatedByteCount > 1 << 28)
        #expect(throws: StorageError.self) { try load.run() }
        // Nothing was made there: a new store can be.
        #expect(try RocksDBStore(directory: path).everything(in: .meta).isEmpty)
    }

    @Test func `what is free is asked of a directory that is yet to be made`() throws {
        #expect(try StoreLoader.freeByteCount(at: directory.appending("new")) > 0)
        #expect(throws: StorageError.self) {
            try StoreLoader.freeByteCount(at: directory.appending("none/below"))
        }
    }

    @Test func `progress reaches everybody`() throws {
        let most = Mutex(0)
        var load = BulkLoad(
            plan: SeedPlan(customerCount: 25, heavyCustomerCount: 1, heavyTransactionCount: 3),
            app: SeedApp(), directory: directory.appending("bulk"), threadCount: 1,
            receivedMilliseconds: SeedFixture.now)
        load.onProgress = { count in most.withLock { $0 = max($0, count) } }
        try load.run()
        #expect(most.withLock { $0 } == 26)
    }
}
