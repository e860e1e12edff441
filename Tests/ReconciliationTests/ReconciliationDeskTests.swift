import AppStoreServerAPI
import Entitlements
import Testing

@testable import Reconciliation

@Suite struct ReconciliationDeskTests {
    @Test func `an outage is told when it begins and when it ends, and not in between`() {
        let bench = Bench()
        let down = AppStoreServerError.unavailable(message: "down", retryAt: Bench.start)
        for _ in 0..<3 { _ = bench.desk.failed(down, Bench.production, .customers) }
        for _ in 0..<3 { bench.desk.answered(Bench.production, .customers) }
        #expect(
            bench.notices == [
                .paused(
                    Bench.production, until: Bench.start.adding(milliseconds: 1_500),
                    message: "down"),
                .recovered(Bench.production),
            ])
    }

    @Test func `the end is told to whoever asks Apple`() {
        let bench = Bench()
        #expect(!bench.desk.isStopping)
        bench.desk.giveUp()
        bench.desk.giveUp()
        #expect(bench.desk.isStopping && bench.snapshot.giveUpCount == 2)
    }

    @Test func `a world is found by its index`() {
        let bench = Bench(environments: [.production, .sandbox])
        for (index, scope) in bench.desk.ledger.scopes {
            #expect(bench.desk.scope(index) == scope)
        }
    }
}
