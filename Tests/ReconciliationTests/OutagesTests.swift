import AppStoreServerAPI
import Entitlements
import Testing

@testable import Reconciliation

@Suite struct OutagesTests {
    let now = Bench.start
    let scope = Bench.production

    func after(_ milliseconds: Int64) -> Timestamp { now.adding(milliseconds: milliseconds) }

    @Test func `who is throttled waits for Apple's instant, to the millisecond`() {
        var outages = Outages()
        let effect = outages.failed(
            .throttled(until: after(2_500)), scope, .customers, at: now, fraction: 0)
        #expect(effect == .paused(until: after(2_500), isNew: true))
        #expect(outages.pausedUntil(scope, .customers, at: after(2_499)) == after(2_500))
        #expect(outages.pausedUntil(scope, .customers, at: after(2_500)) == nil)
        #expect(outages.pausedUntil(scope, .notifications, at: now) == nil)
        #expect(outages.pausedUntil(Bench.sandbox, .customers, at: now) == nil)
    }

    @Test func `an instant that cannot be meant is neither now nor never`() {
        for instant in [Timestamp.distantPast, now, .distantFuture] {
            var outages = Outages()
            _ = outages.failed(.throttled(until: instant), scope, .customers, at: now, fraction: 0)
            let until = outages.pausedUntil(scope, .customers, at: now)
            #expect(until != nil)
            #expect(until ?? now >= after(500) && until ?? now <= after(2 * 3_600_000))
        }
    }

    @Test func `days of failure cost a question every minute or two`() {
        var outages = Outages()
        var instant = now
        var count = 0
        while instant < after(86_400_000) {
            count += 1
            guard
                case .paused(let until, let isNew) = outages.failed(
                    .unavailable(message: "down", retryAt: instant), scope, .customers,
                    at: instant, fraction: 0)
            else {
                Issue.record("an outage pauses")
                return
            }
            #expect(isNew == (count == 1))
            instant = until
        }
        #expect(count < 1_500)
    }

    @Test func `an answer ends an outage, and whether it was told of is known`() {
        var outages = Outages()
        #expect(outages.answered(scope, .customers) == false)
        _ = outages.failed(
            .unavailable(message: "down", retryAt: now), scope, .customers, at: now, fraction: 0)
        #expect(outages.answered(scope, .notifications) == false)
        #expect(outages.pausedUntil(scope, .customers, at: now) != nil)
        #expect(outages.answered(scope, .customers) == true)
        #expect(outages.pausedUntil(scope, .customers, at: now) == nil)
        #expect(outages.answered(scope, .customers) == false)
    }

    @Test func `bad credentials pause all of a world, are told once, and end with one answer`() {
        var outages = Outages()
        let first = outages.failed(.unauthorized("no"), scope, .customers, at: now, fraction: 0)
        #expect(first == .paused(until: after(60_000), isNew: true))
        #expect(outages.pausedUntil(scope, .notifications, at: now) == after(60_000))
        #expect(outages.pausedUntil(Bench.sandbox, .customers, at: now) == nil)
        #expect(outages.unauthorizedScopes == [scope])
        let second = outages.failed(
            .unauthorized("no"), scope, .notifications, at: after(60_000), fraction: 0)
        #expect(second == .paused(until: after(60_000 + 120_000), isNew: false))
        #expect(outages.answered(scope, .notifications) == true)
        #expect(outages.pausedUntil(scope, .customers, at: after(60_001)) == nil)
        #expect(outages.unauthorizedScopes.isEmpty)
    }

    @Test func `one senseless answer is about one customer, three in a row are an outage`() {
        var outages = Outages()
        for _ in 0..<2 {
            #expect(
                outages.failed(.malformed("<html>"), scope, .customers, at: now, fraction: 0)
                    == .questionOnly)
        }
        _ = outages.answered(scope, .customers)
        for expected in [true, true, false] {
            let effect = outages.failed(
                .malformed("<html>"), scope, .customers, at: now, fraction: 0)
            #expect((effect == .questionOnly) == expected)
        }
    }

    @Test func `a no of Apple's is an answer`() {
        var outages = Outages()
        _ = outages.failed(
            .unavailable(message: "down", retryAt: now), scope, .customers, at: now, fraction: 0)
        let effect = outages.failed(
            .notFound(code: 4_040_010, message: "unknown"), scope, .customers, at: now, fraction: 0)
        #expect(effect == .questionOnly)
        #expect(outages.pausedUntil(scope, .customers, at: now) == nil)
    }

    @Test func `a clock that is set back ends a pause, and so does a reload`() {
        var outages = Outages()
        _ = outages.failed(.unauthorized("no"), scope, .customers, at: now, fraction: 0)
        #expect(outages.pausedUntil(scope, .customers, at: after(-86_400_000)) == nil)
        #expect(outages.pausedUntil(scope, .customers, at: now) != nil)
        outages.clear()
        #expect(outages.pausedUntil(scope, .customers, at: now) == nil)
    }

    @Test func `who has acted is told whether it helped`() {
        for error in [
            AppStoreServerError.unauthorized("no"), .unavailable(message: "down", retryAt: now),
        ] {
            var outages = Outages()
            var told: [Bool] = []
            for turn in 0..<4 {
                if turn == 2 { outages.clear() }
                guard
                    case .paused(_, let isNew) = outages.failed(
                        error, scope, .customers, at: now, fraction: 0)
                else { return }
                told.append(isNew)
            }
            #expect(told == [true, false, true, false])
            outages.clear()
            #expect(outages.answered(scope, .customers) == true)
        }
    }
}
