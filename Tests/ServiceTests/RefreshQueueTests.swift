import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct RefreshQueueTests {
    /// A service with this many unnamed customers, whose number is their chain.
    private func makeFixture(_ count: Int) throws -> (ServiceFixture, [CustomerKey]) {
        let fixture = try ServiceFixture.fetching()
        let calls = try (1...count).map {
            WriteCall.transactions(
                TransactionUpload(signedTransactions: [try fixture.transaction("\($0)")]))
        }
        for result in fixture.desk.performGroup(calls) { _ = try result.get() }
        let keys = try (1...count).map {
            try fixture.plan(.originalTransaction("\($0)")).key
        }
        return (fixture, keys)
    }

    private func queue(
        _ fixture: ServiceFixture, _ key: CustomerKey, _ trigger: RefreshTrigger, at offset: Int64
    ) throws {
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(offset))
        try fixture.commit(fixture.service.event(queueing: [key], for: trigger))
    }

    private func due(
        _ fixture: ServiceFixture, at offset: Int64, countMax: Int = 100
    ) throws -> (ids: [String], nextAt: Int64?) {
        let (due, nextAt) = try fixture.service.dueRefreshes(
            at: Timestamp(milliseconds: ServiceFixture.date(offset)), countMax: countMax)
        return (due.map(\.customerID), nextAt.map { $0.milliseconds - ServiceFixture.epoch })
    }

    @Test func `oldest first, the sweep's after all others, and the next one's instant`() throws {
        let (fixture, keys) = try makeFixture(4)
        #expect(try due(fixture, at: 0) == ([], nil))
        try queue(fixture, keys[0], .sweep, at: 100)
        try queue(fixture, keys[1], .revoke, at: 300)
        try queue(fixture, keys[2], .admin, at: 200)
        try queue(fixture, keys[3], .sweep, at: 400)
        for _ in 0..<2 {
            #expect(try due(fixture, at: 400) == (["3", "2", "1", "4"], nil))
            #expect(try due(fixture, at: 399) == (["3", "2", "1"], 400))
            #expect(try due(fixture, at: 299) == (["3", "1"], 300))
            #expect(try due(fixture, at: 99) == ([], 100))
            #expect(try due(fixture, at: 400, countMax: 1) == (["3"], 100))
            #expect(try due(fixture, at: 400, countMax: 0) == ([], 100))
        }
        // The same after a restart.
        let reopened = try ServiceFixture.fetching(store: fixture.store)
        #expect(try due(reopened, at: 400) == (["3", "2", "1", "4"], nil))
    }

    @Test func `a failed one waits, and comes when its time has`() throws {
        let (fixture, keys) = try makeFixture(2)
        try queue(fixture, keys[0], .revoke, at: 100)
        try queue(fixture, keys[1], .revoke, at: 101)
        for offset in [500, 300, 700, 300] as [Int64] {
            try fixture.commit(
                fixture.service.event(
                    noting: Refusal(.appStoreIncomplete, "cut"), of: keys[0],
                    notBefore: Timestamp(milliseconds: ServiceFixture.date(offset))))
            #expect(try due(fixture, at: 200) == (["2"], offset))
            #expect(try due(fixture, at: offset).ids == ["2", "1"])
        }
    }

    private let hour: Int64 = 3_600_000

    @Test func `a clock that was set back by an hour or a year leaves nobody waiting`() throws {
        for step in [hour, 365 * 24 * hour] {
            let (fixture, keys) = try makeFixture(3)
            try queue(fixture, keys[0], .revoke, at: step + 100)
            try queue(fixture, keys[1], .sweep, at: step + 200)
            #expect(try due(fixture, at: step + 50) == ([], step + 100))
            #expect(try due(fixture, at: 0) == (["1", "2"], nil))
            // What came later is not forgotten, and what is asked for again does not wait.
            try queue(fixture, keys[2], .revoke, at: 5)
            try queue(fixture, keys[0], .refund, at: 6)
            #expect(try due(fixture, at: 6).ids == ["3", "1", "2"])
        }
    }

    @Test func `a clock that is set right by seconds lets a failed one wait on`() throws {
        let (fixture, keys) = try makeFixture(1)
        try queue(fixture, keys[0], .revoke, at: 100)
        try fixture.commit(
            fixture.service.event(
                noting: Refusal(.appStoreIncomplete, "cut"), of: keys[0],
                notBefore: Timestamp(milliseconds: ServiceFixture.date(hour))))
        #expect(try due(fixture, at: 50_000) == ([], hour))
        #expect(try due(fixture, at: 0) == ([], hour))
    }

    @Test func `what was queued by a clock that was far ahead is due after a restart`() throws {
        let (fixture, keys) = try makeFixture(1)
        try queue(fixture, keys[0], .revoke, at: 365 * 24 * hour)
        let reopened = try ServiceFixture.fetching(store: fixture.store)
        #expect(try due(reopened, at: 0) == (["1"], nil))
    }

    @Test func `a sweep's job that something else asks for too is no sweep's any more`() throws {
        let (fixture, keys) = try makeFixture(2)
        try queue(fixture, keys[0], .sweep, at: 100)
        try queue(fixture, keys[1], .revoke, at: 200)
        #expect(try due(fixture, at: 500).ids == ["2", "1"])
        try queue(fixture, keys[0], .v1Hint, at: 300)
        #expect(try due(fixture, at: 500).ids == ["1", "2"])
        try fixture.apply(
            fixture.history(), by: try #require(try fixture.service.refreshPlan(for: keys[0])))
        #expect(try due(fixture, at: 500) == (["2"], nil))
    }

    @Test(arguments: UInt64(1)...4)
    func `any sequence of jobs leaves what a sorted list says`(seed: UInt64) throws {
        let (fixture, keys) = try makeFixture(12)
        var generator = SeededGenerator(seed: seed)
        var model: [Int: (offset: Int64, isSweep: Bool)] = [:]
        for step in 0..<120 {
            let index = generator.number(0...11)
            let now = Int64(step)
            switch generator.number(0...3) {
            case 0 where model[index] == nil:
                let isSweep = generator.oneIn(2)
                try queue(fixture, keys[index], isSweep ? .sweep : .revoke, at: now)
                model[index] = (now, isSweep)
            case 1:
                try fixture.apply(
                    fixture.history(),
                    by: try #require(try fixture.service.refreshPlan(for: keys[index])))
                model[index] = nil
            case 2 where model[index] != nil:
                let later = now + Int64(generator.number(0...50))
                try fixture.commit(
                    fixture.service.event(
                        noting: Refusal(.appStoreThrottled, ""), of: keys[index],
                        notBefore: Timestamp(milliseconds: ServiceFixture.date(later))))
                model[index]?.offset = later
            default: break
            }
            let sorted = model.filter { $0.value.offset <= now }.sorted { left, right in
                if left.value.isSweep != right.value.isSweep { return right.value.isSweep }
                if left.value.offset != right.value.offset {
                    return left.value.offset < right.value.offset
                }
                return left.key < right.key
            }
            let next = model.values.map(\.offset).filter { $0 > now }.min()
            let found = try due(fixture, at: now)
            #expect(found.ids == sorted.map { "\($0.key + 1)" }, "seed \(seed), step \(step)")
            #expect(found.nextAt == next, "seed \(seed), step \(step)")
            #expect(try fixture.queue().count == model.count)
        }
    }

    @Test func `a store that fails to commit leaves the queue as it was`() throws {
        let (fixture, keys) = try makeFixture(1)
        fixture.store.failCommits(next: 1)
        let event = fixture.service.event(queueing: keys, for: .admin)
        #expect(throws: Refusal.self) { try fixture.commit(event) }
        #expect(try due(fixture, at: 500) == ([], nil))
        try fixture.commit(fixture.service.event(queueing: keys, for: .admin))
        #expect(try due(fixture, at: 500).ids == ["1"])
    }
}
