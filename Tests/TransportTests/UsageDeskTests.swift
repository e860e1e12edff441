import Entitlements
import EventLoop
import Service
import Session
import Storage
import TestSupport
import Testing
import Wire

@testable import Transport

@Suite(.timeLimit(.minutes(1))) struct UsageDeskTests {
    /// A server in which "ann" may use "p".
    private func bench(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> ServerBench {
        let bench = try ServerBench(change)
        let client = try bench.connect()
        var upload = Message.IngestTransactionsRequest()
        upload.customerID = Text("ann")
        upload.signedTransactions = [
            Text(try bench.fixtures.transaction("1", product: "p", purchased: 1_772_323_100_000))
        ]
        let answer = try client.ask(Request(id: 1, call: .ingestTransactions(upload)))
        try #require(answer.status == .ok, "\(answer.message)")
        return bench
    }

    private func usage(_ bench: ServerBench) throws -> UsageRecord? {
        var found: UsageRecord?
        try bench.store.scan(.usage, prefix: [], from: nil, reversed: false) { _, value in
            found = try? RecordCodec.decodeUsage(value)
            return false
        }
        return found
    }

    @Test(arguments: [1, 3])
    func `what was granted is stored when the server ends`(loopCount: Int) throws {
        let bench = try bench { $0.loopCount = loopCount }
        let clients = try (0..<6).map { _ in try bench.connect() }
        for id in 1...300 {
            let answer = try clients[id % 6].ask(ServerBench.check("ann", id: UInt64(id)))
            try #require(answer.status == .ok)
        }
        bench.end()
        #expect(try usage(bench) == UsageRecord(checks: 300))
        #expect(bench.server.counts.unmeteredChecks == 0)
    }

    @Test func `and while it runs, after the interval`() throws {
        let bench = try bench { $0.usageFlushMilliseconds = 1 }
        defer { bench.end() }
        let client = try bench.connect()
        _ = try client.ask(ServerBench.check("ann"))
        // What is asked meanwhile is denied, and no reason to flush: the loop's timer does it.
        while try usage(bench) == nil { _ = try client.ask(ServerBench.check("nobody")) }
        #expect(try usage(bench) == UsageRecord(checks: 1))
    }

    @Test func `a drained server stores it too`() throws {
        let bench = try bench()
        let client = try bench.connect()
        _ = try client.ask(ServerBench.check("ann"))
        bench.server.drain(graceMilliseconds: 100)
        _ = bench.ended.pop()
        bench.server.join()
        #expect(try usage(bench) == UsageRecord(checks: 1))
    }

    @Test func `without metering nothing is stored`() throws {
        let bench = try bench { $0.metersUse = false }
        let client = try bench.connect()
        _ = try client.ask(ServerBench.check("ann"))
        bench.end()
        #expect(try usage(bench) == nil)
    }

    @Test func `what the store refuses is counted`() throws {
        let bench = try bench()
        let client = try bench.connect()
        for _ in 0..<4 { _ = try client.ask(ServerBench.check("ann")) }
        bench.store.failCommits(next: 1)
        bench.end()
        #expect(try usage(bench) == nil)
        #expect(bench.server.counts.unmeteredChecks == 4)
    }

    @Test func `a table that has not come back is not waited for`() throws {
        let counters = ServerCounters()
        let desk = UsageDesk(loopCount: 1, counters: counters)
        let entered = BlockingQueue<Void>(capacity: 1)
        let released = BlockingQueue<Void>(capacity: 1)
        try desk.start { _ in
            _ = entered.push(())
            _ = released.pop()
            return 7
        }
        let spare = try #require(desk.takeSpare(loopIndex: 0))
        #expect(desk.takeSpare(loopIndex: 0) == nil)
        desk.send(spare, loopIndex: 0)
        _ = entered.pop()
        #expect(desk.takeSpare(loopIndex: 0) == nil)
        _ = released.push(())
        desk.stop()
        #expect(desk.takeSpare(loopIndex: 0) != nil)
        #expect(counters.counts.unmeteredChecks == 7)
    }
}
