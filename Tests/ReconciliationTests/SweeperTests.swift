import AppStoreServerAPI
import Entitlements
import Storage
import Testing

@testable import Reconciliation
@testable import Service

@Suite struct SweeperTests {
    static let hour: Int64 = 3_600_000

    static func sweeper(_ bench: Bench) -> Sweeper {
        Sweeper(desk: bench.desk, door: bench.door) {}
    }

    static func key(_ number: UInt64) -> CustomerKey {
        CustomerKey(scope: ScopeNumber(1), number: number)
    }

    @Test func `a sweep goes through all pages, queues who is due, and moves the mark`() {
        let bench = Bench()
        bench.set {
            $0.sweepPages = [
                SweepPage(due: [Self.key(1), Self.key(3)], customerCount: 512, next: 9),
                SweepPage(due: [], customerCount: 512, next: 17),
                SweepPage(due: [Self.key(20)], customerCount: 3, next: nil),
            ]
        }
        var sweeper = Self.sweeper(bench)
        #expect(sweeper.turn() == Bench.start)
        for _ in 0..<3 { _ = sweeper.turn() }
        #expect(
            bench.snapshot.sweepQuestions == [
                "first of 512, older than 43200000", "9 of 512, older than 43200000",
                "17 of 512, older than 43200000",
            ])
        #expect(
            bench.committed == [
                "queue [1, 3]: SWEEP", "queue [20]: SWEEP", "mark sweepFinished 0: 0",
            ])
        #expect(sweeper.turn() == Bench.start.adding(milliseconds: 12 * Self.hour))
    }

    @Test func `it begins again after half of the interval, also after a restart`() {
        let bench = Bench()
        bench.set { $0.marks[.sweepFinished] = $0.now.adding(milliseconds: -11 * Self.hour) }
        var sweeper = Self.sweeper(bench)
        let next = Bench.start.adding(milliseconds: Self.hour)
        #expect(sweeper.turn() == next)
        bench.set { $0.now = next.adding(milliseconds: -1) }
        #expect(sweeper.turn() == next)
        bench.set { $0.now = next }
        _ = sweeper.turn()
        _ = sweeper.turn()
        #expect(bench.committed == ["mark sweepFinished 0: 3600000"])
    }

    @Test func `it adds nothing while enough is due`() {
        let bench = Bench { $0.sweepQueueMax = 2 }
        bench.set { $0.due = [Bench.job(1), Bench.job(2)] }
        var sweeper = Self.sweeper(bench)
        _ = sweeper.turn()
        #expect(sweeper.turn() == Bench.start.adding(milliseconds: 1_000))
        #expect(bench.snapshot.sweepQuestions.isEmpty)
        bench.set { $0.due.removeLast() }
        _ = sweeper.turn()
        #expect(bench.snapshot.sweepQuestions.count == 1)
    }

    @Test func `it rests while Apple does not answer`() {
        let bench = Bench()
        let until = Bench.start.adding(milliseconds: 90_000)
        _ = bench.desk.failed(.unauthorized("no"), Bench.production, .customers)
        var sweeper = Self.sweeper(bench)
        _ = sweeper.turn()
        #expect(sweeper.turn() == until)
        bench.set { $0.now = until }
        _ = sweeper.turn()
        #expect(bench.committed == ["mark sweepFinished 0: 90000"])
    }

    @Test func `a page that could not be queued is looked at again`() {
        let bench = Bench()
        let refusal = Refusal(.storeUnavailable, "disk full")
        let page = SweepPage(due: [Self.key(1)], customerCount: 1, next: nil)
        bench.set {
            $0.sweepPages = [page, page]
            $0.doorRefusals = [refusal]
        }
        var sweeper = Self.sweeper(bench)
        _ = sweeper.turn()
        #expect(sweeper.turn() == Bench.start.adding(milliseconds: 5_000))
        #expect(bench.notices == [.storeFailed(refusal)])
        _ = sweeper.turn()
        #expect(bench.committed == ["queue [1]: SWEEP", "mark sweepFinished 0: 0"])
    }

    @Test func `a clock that is set back does not put it off`() {
        let bench = Bench()
        var sweeper = Self.sweeper(bench)
        _ = sweeper.turn()
        _ = sweeper.turn()
        bench.advance(-30 * 24 * Self.hour)
        #expect(sweeper.turn() == bench.desk.now)
    }

    @Test func `switched off it asks nothing`() {
        let bench = Bench { $0.sweepInterval = 0 }
        var sweeper = Self.sweeper(bench)
        #expect(sweeper.turn() == .distantFuture)
    }
}
