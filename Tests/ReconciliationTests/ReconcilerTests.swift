import AppStoreServerAPI
import Entitlements
import EventLoop
import Glibc
import Service
import Storage
import Testing

@testable import Reconciliation

/// Waits until another thread has done something.
func eventually(_ isDone: () -> Bool) -> Bool {
    for _ in 0..<20_000 {
        if isDone() { return true }
        usleep(1_000)
    }
    return false
}

@Suite struct ReconcilerTests {
    static func quiet(_ configuration: inout ReconciliationConfiguration) {
        configuration.pollInterval = 1
        configuration.backfillInterval = 0
        configuration.sweepInterval = 0
    }

    @Test func `what is queued is fetched, each once`() throws {
        let bench = Bench(Self.quiet)
        bench.set { $0.due = (1...50).map { Bench.job($0) } }
        let reconciler = Reconciler(desk: bench.desk)
        try reconciler.start(door: bench.door)
        #expect(eventually { bench.committed.count == 50 })
        bench.set { $0.due = [Bench.job(77)] }
        reconciler.wake()
        #expect(eventually { bench.committed.count == 51 })
        reconciler.stop()
        #expect(Set(bench.committed).count == 51)
        #expect(reconciler.counts.rebuilds == [.init(trigger: .revoke, outcome: .succeeded): 51])
    }

    @Test func `it stops while Apple is waited for, and nothing has failed`() throws {
        let gate = BlockingQueue<Void>(capacity: 1)
        let asked = BlockingQueue<Void>(capacity: 8)
        let bench = Bench(Self.quiet) {
            _ = asked.push(())
            _ = gate.pop()
        }
        bench.set {
            $0.due = [Bench.job(1)]
            $0.histories = [Bench.failure(.unavailable(message: "cut", retryAt: Bench.start))]
        }
        let reconciler = Reconciler(desk: bench.desk)
        try reconciler.start(door: bench.door)
        _ = asked.pop()
        let stopper = try Thread(name: "stopper") { reconciler.stop() }
        // As the network does when it is told to give up.
        #expect(eventually { bench.snapshot.giveUpCount > 0 })
        gate.close()
        stopper.join()
        #expect(bench.committed.isEmpty && bench.notices.isEmpty)
        reconciler.stop()
    }

    @Test func `one that was never started stops as well`() {
        let reconciler = Reconciler(desk: Bench(Self.quiet).desk)
        reconciler.stop()
        reconciler.stop()
    }

    @Test func `after an outage it goes on when it is told that things were put right`() throws {
        let bench = Bench(Self.quiet)
        bench.set {
            $0.due = [Bench.job(1), Bench.job(2)]
            $0.histories = (0..<2).map { _ in Bench.failure(.unauthorized("look at the key")) }
        }
        let reconciler = Reconciler(desk: bench.desk)
        try reconciler.start(door: bench.door)
        #expect(eventually { bench.committed.count == 2 })
        #expect(reconciler.counts.unauthorizedScopes == [Bench.production])
        bench.advance(5_000)
        reconciler.resume()
        #expect(eventually { bench.committed.count == 4 })
        reconciler.stop()
        #expect(bench.committed.suffix(2).sorted() == ["apply 1", "apply 2"])
    }

    @Test func `the timetable runs beside the fetchers`() throws {
        let bench = Bench { $0.pollInterval = 1 }
        bench.set { $0.due = [Bench.job(1)] }
        let reconciler = Reconciler(desk: bench.desk)
        try reconciler.start(door: bench.door)
        #expect(
            eventually {
                Set(bench.committed)
                    == ["apply 1", "mark notificationsComplete 0: 0", "mark sweepFinished 0: 0"]
            })
        reconciler.stop()
    }

    @Test func `calls of clients are answered without being started, until it gives up`() throws {
        let bench = Bench(Self.quiet)
        let work = Reconciler(desk: bench.desk).remoteWork
        let call = RemoteCall.testNotification(
            TestNotificationRequest(scope: bench.desk.ledger.scopes[0].index))
        let context = RemoteContext(door: bench.door, timeoutMilliseconds: 1_000)
        _ = try work.handler(call, context)
        work.giveUp()
        let refusal = #expect(throws: Refusal.self) { try work.handler(call, context) }
        #expect(refusal?.reason == .draining)
    }
}
