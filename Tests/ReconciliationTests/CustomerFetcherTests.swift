import AppStoreServerAPI
import Entitlements
import Service
import Storage
import Testing

@testable import Reconciliation

@Suite struct CustomerFetcherTests {
    let bench = Bench()
    var fetcher: CustomerFetcher { CustomerFetcher(desk: bench.desk, door: bench.door) }

    @Test func `a whole history is applied, counted, and its damaged items are told`() {
        bench.set {
            $0.problems = [Refusal(.badSignature, "item 3: forged")]
            $0.changes = [Bench.change("p", to: false), Bench.change("q", to: true)]
        }
        #expect(fetcher.fetch(Bench.job(1)))
        #expect(bench.committed == ["apply 1"])
        let counts = bench.desk.counts
        #expect(counts.rebuilds == [.init(trigger: .revoke, outcome: .succeeded): 1])
        #expect(counts.changes == [.revoked: 1, .granted: 1])
        #expect(counts.problems == 1 && counts.lastSuccessAt == Bench.start)
        #expect(
            bench.notices == [
                .damagedItem(Bench.production, Refusal(.badSignature, "item 3: forged"))
            ])
        #expect(bench.snapshot.deadlines == [Bench.start.adding(milliseconds: 600_000)])
    }

    @Test func `what only a sweep found is told; a sweep that finds nothing is quiet`() {
        #expect(fetcher.fetch(Bench.job(1, .sweep)))
        #expect(bench.notices.isEmpty)
        let change = Bench.change("p", to: false)
        bench.set { $0.changes = [change] }
        #expect(fetcher.fetch(Bench.job(1, .sweep)))
        #expect(bench.notices == [.sweepFoundChange(Bench.production, changes: [change])])
        #expect(bench.desk.counts.changes[ReconciliationCounts.Direction.none] == 1)
    }

    @Test func `who has nothing that Apple could be asked about is done without asking`() {
        bench.set { $0.targets = [] }
        #expect(fetcher.fetch(Bench.job(1)))
        #expect(bench.committed == ["apply 1"])
        #expect(bench.snapshot.historyCount == 0)
    }

    @Test func `half a history is kept, and the job waits as Apple said`() {
        let until = Bench.start.adding(milliseconds: 2_500)
        bench.set {
            $0.histories = [Bench.failure(.throttled(until: until), partial: Bench.history())]
        }
        #expect(fetcher.fetch(Bench.job(1)))
        #expect(bench.committed == ["keep 1: 1", "note 1: APP_STORE_THROTTLED in 2500"])
        #expect(bench.desk.pausedUntil(Bench.production, .customers) == until)
        #expect(
            bench.desk.counts.rebuilds == [.init(trigger: .revoke, outcome: .throttled): 1])
    }

    @Test func `an outage makes the world wait, and the job not much longer`() {
        bench.set {
            $0.histories = [
                Bench.failure(
                    .unavailable(
                        message: "down", retryAt: Bench.start.adding(milliseconds: 3_600_000)))
            ]
        }
        #expect(fetcher.fetch(Bench.job(1, attempts: 9)))
        #expect(bench.committed == ["note 1: APP_STORE_INCOMPLETE in 60000"])
        #expect(
            bench.desk.pausedUntil(Bench.production, .customers)
                == Bench.start.adding(milliseconds: 3_600_000))
    }

    @Test func `bad credentials are told once, whoever finds them`() {
        bench.set {
            $0.histories = (0..<3).map { _ in Bench.failure(.unauthorized("look at the key")) }
        }
        for number in 1...3 { #expect(fetcher.fetch(Bench.job(UInt64(number)))) }
        // It is no fault of theirs: they are next when another key is given.
        #expect(
            bench.committed == (1...3).map { "note \($0): APP_STORE_UNAUTHORIZED in 1000" })
        #expect(bench.notices == [.unauthorized(Bench.production, message: "look at the key")])
        #expect(bench.desk.counts.unauthorizedScopes == [Bench.production])
        #expect(fetcher.fetch(Bench.job(4)))
        #expect(bench.notices.last == .recovered(Bench.production))
        #expect(bench.desk.counts.unauthorizedScopes.isEmpty)
    }

    @Test(arguments: [(UInt32(0), "675000"), (1, "1350000"), (40, "64800000"), (.max, "64800000")])
    func `whom Apple does not know is asked for ever more seldom, and stays queued`(
        attempts: UInt32, wait: String
    ) {
        bench.set {
            $0.histories = [Bench.failure(.notFound(code: 4_040_010, message: "unknown"))]
        }
        #expect(fetcher.fetch(Bench.job(1, attempts: attempts)))
        #expect(bench.committed == ["note 1: APP_STORE_INCOMPLETE in \(wait)"])
        #expect(bench.desk.pausedUntil(Bench.production, .customers) == nil)
    }

    @Test func `an answer without sense costs its customer a moment`() {
        bench.set { $0.histories = [Bench.failure(.malformed("<html>"))] }
        #expect(fetcher.fetch(Bench.job(1)))
        #expect(bench.committed == ["note 1: APP_STORE_INCOMPLETE in 1500"])
    }

    @Test func `a customer who has gone is noted, which takes him out of the queue`() {
        bench.set { $0.gone = [1] }
        #expect(fetcher.fetch(Bench.job(1)))
        #expect(bench.snapshot.historyCount == 0)
        bench.set {
            $0.gone = []
            $0.refused = ["apply 1": Refusal(.unknownCustomer, "gone in between")]
        }
        #expect(fetcher.fetch(Bench.job(1)))
        #expect(bench.committed == Array(repeating: "note 1: UNKNOWN_CUSTOMER in 1000", count: 2))
        #expect(bench.notices.isEmpty)
    }

    @Test func `a store that takes nothing is told, and nothing else is done`() {
        let refusal = Refusal(.storeUnavailable, "disk full")
        bench.set { $0.doorRefusals = [refusal] }
        #expect(!fetcher.fetch(Bench.job(1)))
        #expect(bench.committed.isEmpty)
        #expect(bench.notices == [.storeFailed(refusal)])
    }

    @Test func `one damaged customer is put back and holds up nobody`() {
        bench.set { $0.refused = ["apply 1": Refusal(.storeDamaged, "his record")] }
        #expect(fetcher.fetch(Bench.job(1)))
        #expect(bench.committed == ["note 1: STORE_DAMAGED in 675000"])
        #expect(
            bench.desk.counts.rebuilds == [.init(trigger: .revoke, outcome: .refused): 1])
    }

    @Test func `a failure that cannot be noted makes the caller wait`() {
        bench.set {
            $0.histories = [Bench.failure(.malformed("<html>"), partial: Bench.history())]
            $0.doorRefusals = [Refusal(.storeUnavailable, "disk full")]
        }
        #expect(!fetcher.fetch(Bench.job(1)))
        bench.set { $0.refused = ["keep 1: 1": Refusal(.storeDamaged, "his record")] }
        bench.set {
            $0.histories = [Bench.failure(.malformed("<html>"), partial: Bench.history())]
        }
        #expect(fetcher.fetch(Bench.job(1)))
    }

    @Test func `what is broken off by the end of the server has not failed`() {
        bench.desk.giveUp()
        bench.set {
            $0.histories = [
                Bench.failure(
                    .unavailable(message: "told to stop", retryAt: Bench.start),
                    partial: Bench.history())
            ]
        }
        #expect(fetcher.fetch(Bench.job(1)))
        #expect(bench.committed == ["keep 1: 1"])
        #expect(bench.notices.isEmpty && bench.desk.counts.rebuilds.isEmpty)
    }
}
