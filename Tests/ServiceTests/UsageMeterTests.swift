import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct UsageMeterTests {
    @Test func `what is granted is stored by transaction and day, and adds up`() throws {
        let bench = try BillFixture()
        try bench.fixture.upload("ann", try bench.fixture.transaction("1"))
        #expect(try bench.check("ann", "p", at: day - 1, units: 5))
        #expect(try bench.check("ann", "p", at: day, units: 7))
        #expect(bench.flush() == 0)
        #expect(try bench.check("ann", "p", at: day + 1, units: 2))
        #expect(try !bench.check("ann", "q", at: day + 1, units: 2))
        #expect(bench.flush() == 0)
        #expect(
            try bench.usage(of: "1") == [
                0: UsageRecord(checks: 1, units: 5), 1: UsageRecord(checks: 2, units: 9),
            ])
        #expect(bench.meter.isEmpty && bench.flush() == 0)
    }

    @Test func `metering takes no revision`() throws {
        let bench = try BillFixture()
        let revision = try bench.fixture.upload("ann", try bench.fixture.transaction("1")).revision
        try bench.check("ann", "p", at: 5_000)
        bench.flush()
        #expect(bench.fixture.service.revision == revision)
        #expect(try bench.fixture.check("ann").revision == revision)
        #expect(try bench.fixture.link("bob", .originalTransaction("2")).revision == revision + 1)
    }

    @Test func `a restart loses what was not flushed and nothing else`() throws {
        let bench = try BillFixture()
        try bench.fixture.upload("ann", try bench.fixture.transaction("1"))
        try bench.check("ann", "p", at: 5_000, units: 1)
        bench.flush()
        try bench.check("ann", "p", at: 5_000, units: 1)
        let again = try BillFixture(store: bench.fixture.store)
        #expect(try again.fixture.reason("ann") == .active)
        #expect(try again.usage(of: "1") == [0: UsageRecord(checks: 1, units: 1)])
        try again.check("ann", "p", at: 5_000, units: 1)
        again.flush()
        #expect(try again.usage(of: "1") == [0: UsageRecord(checks: 2, units: 2)])
    }

    @Test func `what the store does not take is counted as lost, and the meter goes on`() throws {
        let bench = try BillFixture()
        try bench.fixture.upload("ann", try bench.fixture.transaction("1"))
        for _ in 0..<3 { try bench.check("ann", "p", at: 5_000) }
        bench.fixture.store.failCommits(next: 1)
        #expect(bench.flush() == 3)
        try bench.check("ann", "p", at: 5_000)
        #expect(bench.flush() == 0)
        #expect(try bench.usage(of: "1") == [0: UsageRecord(checks: 1)])
    }

    @Test func `stored use stays at the largest number`() throws {
        let bench = try BillFixture()
        try bench.fixture.upload("ann", try bench.fixture.transaction("1"))
        for _ in 0..<2 {
            try bench.check("ann", "p", at: 5_000, units: .max)
            bench.flush()
        }
        #expect(try bench.usage(of: "1") == [0: UsageRecord(checks: 2, units: .max)])
    }

    @Test func `a full meter drops and counts what it drops`() throws {
        let bench = try BillFixture(slotCount: 8)
        let meter = bench.meter
        meter.setTime(ServiceFixture.epoch)
        for index in 0..<7 {
            meter.count(Array("\(index)".utf8).span, in: bench.fixture.scope, units: 1)
        }
        #expect(meter.isCrowded && meter.takeDroppedCount() == 0)
        for _ in 0..<3 { meter.count(Array("7".utf8).span, in: bench.fixture.scope, units: 1) }
        meter.count(Array("6".utf8).span, in: bench.fixture.scope, units: 1)
        #expect(meter.takeDroppedCount() == 3 && meter.takeDroppedCount() == 0)
        bench.flush()
        #expect(!meter.isCrowded)
        #expect(try bench.usage(of: "6") == [0: UsageRecord(checks: 2, units: 2)])
        #expect(try bench.usage(of: "7") == [:])
    }

    @Test func `a batch counts once it is answered, however often it was tried`() throws {
        let bench = try BillFixture()
        let meter = bench.meter
        meter.setTime(ServiceFixture.epoch)
        let id = Array("1".utf8)
        for _ in 0..<3 {
            meter.beginBatch()
            for _ in 0..<2 { meter.note(id.span, in: bench.fixture.scope, units: 4) }
        }
        bench.flush()
        #expect(try bench.usage(of: "1") == [:])
        meter.beginBatch()
        for _ in 0..<2 { meter.note(id.span, in: bench.fixture.scope, units: 4) }
        meter.countBatch()
        meter.countBatch()
        bench.flush()
        #expect(try bench.usage(of: "1") == [0: UsageRecord(checks: 2, units: 8)])
    }

    @Test func `worlds are kept apart, and many transactions take several events`() throws {
        let bench = try BillFixture(slotCount: 1 << 11)
        let sandbox = try #require(
            bench.fixture.desk.scopeIndex(
                Scope(bundleID: "com.example.meadow", environment: .sandbox)))
        bench.meter.setTime(ServiceFixture.epoch)
        for index in 0..<700 {
            let id = Array("\(index)".utf8)
            bench.meter.count(id.span, in: bench.fixture.scope, units: 1)
            bench.meter.count(id.span, in: sandbox, units: 2)
        }
        let commits = bench.fixture.store.commitCount
        #expect(bench.flush() == 0)
        // 1,400 records in groups of 128, each of two worlds at most.
        #expect((11...22).contains(bench.fixture.store.commitCount - commits))
        var units: [UInt8: UInt64] = [:]
        try bench.fixture.store.scan(.usage, prefix: [], from: nil, reversed: false) {
            units[$0[1], default: 0] += (try? RecordCodec.decodeUsage($1).units) ?? 0
            return true
        }
        #expect(units == [1: 700, 2: 1_400])
    }

    @Test func `a batch longer than the room for notes, and ids too long for one, count`() throws {
        let bench = try BillFixture(slotCount: 1 << 10)
        let meter = bench.meter
        meter.setTime(ServiceFixture.epoch)
        let long = String(repeating: "7", count: 100)
        meter.beginBatch()
        for index in 0..<200 {
            let id = Array((index % 3 == 0 ? long : "\(index)").utf8)
            meter.note(id.span, in: bench.fixture.scope, units: 1)
        }
        meter.countBatch()
        meter.countBatch()
        bench.flush()
        #expect(try bench.usage(of: long) == [0: UsageRecord(checks: 67, units: 67)])
        for index in 0..<200 where index % 3 != 0 {
            #expect(try bench.usage(of: "\(index)") == [0: UsageRecord(checks: 1, units: 1)])
        }
    }
}
