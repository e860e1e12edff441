import Entitlements
import Storage
import Testing

@testable import Reconciliation

@Suite struct ReconciliationCountersTests {
    @Test func `a duration falls into the first bucket that holds it`() {
        let counters = ReconciliationCounters()
        for milliseconds in [-1, 0, 50, 51, 300_000, 300_001, Int64.max / 4] {
            counters.applied(
                grantedCount: 0, revokedCount: 0, milliseconds: milliseconds, at: Bench.start)
        }
        let counts = counters.value.durationCounts
        #expect(counts.count == ReconciliationCounts.durationBounds.count + 1)
        #expect(counts[0] == 3 && counts[1] == 1 && counts[10] == 1 && counts[11] == 2)
        #expect(counters.value.durationSum == 600_102 + UInt64(Int64.max / 4))
    }

    @Test func `fetches are counted by what asked for them and by what they changed`() {
        let counters = ReconciliationCounters()
        counters.count(.succeeded, .revoke)
        counters.count(.succeeded, .revoke)
        counters.count(.throttled, .sweep)
        counters.applied(grantedCount: 2, revokedCount: 1, milliseconds: 1, at: Bench.start)
        counters.applied(grantedCount: 0, revokedCount: 0, milliseconds: 1, at: Bench.start)
        counters.countRecovered(3)
        counters.countProblems(4)
        let value = counters.value
        #expect(value.rebuilds[.init(trigger: .revoke, outcome: .succeeded)] == 2)
        #expect(value.rebuilds[.init(trigger: .sweep, outcome: .throttled)] == 1)
        #expect(value.changes == [.granted: 2, .revoked: 1, .none: 1])
        #expect(value.recoveredNotifications == 3 && value.problems == 4)
        #expect(value.lastSuccessAt == Bench.start)
    }
}
