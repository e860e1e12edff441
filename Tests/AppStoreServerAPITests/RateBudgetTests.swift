@testable import AppStoreServerAPI
import Entitlements
import Testing

@Suite struct RateBudgetTests {
    private func key(
        _ endpoint: AppStoreEndpoint = .transactionHistory, _ scope: Scope = Desk.production
    ) -> RateBudget.Key {
        RateBudget.Key(AppStoreQuestion(endpoint, in: scope))
    }

    /// How many requests go within so many milliseconds, each as early as it may.
    private func count(_ budget: RateBudget, _ key: RateBudget.Key, within duration: Int64) -> Int {
        var now = Timestamp.april8()
        var count = 0
        while now < .april8(duration) {
            if let next = budget.take(key, at: now) {
                #expect(next > now)
                now = next
            } else {
                count += 1
            }
        }
        return count
    }

    @Test(arguments: [
        (AppStoreEndpoint.transactionHistory, 40.0), (.notificationHistory, 40),
        (.refundHistory, 8),
        (.testNotification, 0.8),
    ])
    func `an endpoint gets four fifths of what Apple allows, Sandbox a tenth of that`(
        endpoint: AppStoreEndpoint, rate: Double
    ) {
        let budget = RateBudget(historyRatePerSecond: 40)
        #expect(abs(budget.rate(of: key(endpoint)) - rate) < 1e-9)
        #expect(abs(budget.rate(of: key(endpoint, Desk.sandbox)) - rate / 10) < 1e-9)
    }

    @Test func `no second sees more than Apple's limit, and ten seconds see the rate`() {
        #expect(count(RateBudget(historyRatePerSecond: 40), key(), within: 1_000) <= 50)
        let ten = count(RateBudget(historyRatePerSecond: 40), key(), within: 10_000)
        #expect((390...410).contains(ten))
        let sandbox = count(
            RateBudget(historyRatePerSecond: 40), key(.transactionHistory, Desk.sandbox),
            within: 10_000)
        #expect((38...41).contains(sandbox))
    }

    @Test func `apps, endpoints and environments do not share a bucket`() {
        let budget = RateBudget(historyRatePerSecond: 1)
        let other = Scope(bundleID: "com.example.other", environment: .production)
        let keys = [
            key(), key(.subscriptionStatuses), key(.transactionHistory, Desk.sandbox),
            key(.transactionHistory, other),
        ]
        for key in keys {
            #expect(budget.take(key, at: .april8()) == nil)
            #expect(budget.take(key, at: .april8()) != nil)
        }
    }

    @Test func `a stated instant pauses the bucket until then, to the millisecond`() {
        let budget = RateBudget(historyRatePerSecond: 40)
        let until = budget.refused(key(), until: .april8(2_500), at: .april8(), fraction: 0)
        #expect(until == .april8(2_500))
        #expect(budget.take(key(), at: .april8(2_499)) == .april8(2_500))
        #expect(budget.take(key(), at: .april8(2_500)) == nil)
        #expect(budget.take(key(.subscriptionStatuses), at: .april8()) == nil)
    }

    @Test func `an instant that is about now is no reason to hammer`() {
        let budget = RateBudget(historyRatePerSecond: 40)
        #expect(
            budget.refused(key(), until: .april8(1), at: .april8(), fraction: 0) == .april8(500))
    }

    @Test func `without one the pause doubles from half a second to five minutes`() {
        for fraction in [0, 0.999] {
            let budget = RateBudget(historyRatePerSecond: 40)
            var now = Timestamp.april8()
            var waits: [Int64] = []
            for _ in 0..<40 {
                let until = budget.refused(key(), until: nil, at: now, fraction: fraction)
                waits.append(until.milliseconds - now.milliseconds)
                now = until
            }
            #expect(waits.allSatisfy { (500...300_000).contains($0) })
            #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 })
            #expect(waits.first.map { $0 <= 1_000 } == true)
            #expect(waits.last.map { $0 >= 150_000 } == true)
        }
    }

    @Test func `an answer ends the doubling`() {
        let budget = RateBudget(historyRatePerSecond: 40)
        for _ in 0..<5 { _ = budget.refused(key(), until: nil, at: .april8(), fraction: 0) }
        budget.answered(key())
        let later = Timestamp.april8(600_000)
        #expect(
            budget.refused(key(), until: nil, at: later, fraction: 0)
                == later.adding(milliseconds: 500))
    }

    @Test func `a clock that is set back by days does not pause for days`() {
        let budget = RateBudget(historyRatePerSecond: 40)
        _ = budget.refused(key(), until: .april8(2_500), at: .april8(), fraction: 0)
        let before = Timestamp.april8(-3 * 86_400_000)
        let next = budget.take(key(), at: before) ?? before
        #expect(next < before.adding(milliseconds: 1_000))
    }

    @Test func `a clock that leaps ahead gives no more than a full bucket`() {
        let budget = RateBudget(historyRatePerSecond: 40)
        _ = count(budget, key(), within: 1_000)
        var count = 0
        while budget.take(key(), at: .april8(.max - Desk.april8)) == nil { count += 1 }
        #expect(count == 10)
    }
}
