import Entitlements
import Service
import Testing

@testable import Reconciliation

@Suite struct ReconciliationNoticeTests {
    @Test func `each notice has a line of its own`() {
        let scope = Bench.production
        let dates = Bench.start..<Bench.start.adding(milliseconds: 1)
        let refusal = Refusal(.badSignature, "forged")
        let notices: [ReconciliationNotice] = [
            .unauthorized(scope, message: ""), .recovered(scope),
            .paused(scope, until: Bench.start, message: ""),
            .gapClosed(scope, dates: dates, count: 1), .gapTooOld(scope, dates: dates),
            .markAheadOfClock(scope, mark: Bench.start), .damagedItem(scope, refusal),
            .sweepFoundChange(scope, changes: []), .fetchFailed(scope, customerID: "a", refusal),
            .storeFailed(refusal),
        ]
        #expect(Set(notices.map(\.message)).count == notices.count)
    }
}
