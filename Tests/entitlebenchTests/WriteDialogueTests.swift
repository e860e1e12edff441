import EventLoop
import Synchronization
import Testing
import Wire

@testable import LoadGenerator
@testable import entitlebench

@Suite struct WriteDialogueTests {
    private func common(
        _ bench: WriteBench, _ mix: WriteMix, stockCount: Int = 0
    ) throws -> WriteDialogue.Common {
        WriteDialogue.Common(
            stock: try WriteStock(
                WriteEvents(plan: bench.plan), signer: bench.fixture.signer, from: 0,
                count: stockCount, threadCount: 1),
            oracle: WriteOracle(), mix: mix)
    }

    @Test func `a server that keeps its word is right`() throws {
        let bench = try WriteBench(SeedPlan(customerCount: 12))
        defer { bench.end() }
        let common = try common(bench, WriteMix(ingestPercentage: 20), stockCount: 100)
        let outcome = try LoadRun(bench.load, .foreign { WriteDialogue(common, $0) }).finish()
        #expect(outcome.isRight)
        #expect(outcome.wrongAnswers.isEmpty)
        #expect(common.appliedCount.load(ordering: .relaxed) > 0)
        #expect(common.freshCheckCount.load(ordering: .relaxed) > 0)
        let counts = (common.ingests.withLock { $0.count }, common.checks.withLock { $0.count })
        #expect(counts.0 + counts.1 == outcome.answerCountEver)
    }

    @Test func `a check that does not show what was acknowledged is wrong`() throws {
        let bench = try WriteBench(SeedPlan(customerCount: 12))
        defer { bench.end() }
        let common = try common(bench, WriteMix(ingestPercentage: 0, recentPercentage: 0))
        for customer in 0..<12 {
            common.oracle.send(0, of: customer)
            common.oracle.acknowledge(0, of: customer, revision: 1)
        }
        let outcome = try LoadRun(bench.load, .foreign { WriteDialogue(common, $0) }).finish()
        #expect(!outcome.isRight)
        #expect(outcome.wrongAnswers.first?.what.contains("1 acknowledged events") == true)
    }

    @Test func `a notification that was handed in before is wrong`() throws {
        let bench = try WriteBench(SeedPlan(customerCount: 12))
        defer { bench.end() }
        for isSecond in [false, true] {
            let common = try common(bench, .ingestOnly, stockCount: 1)
            var load = bench.load
            load.connectionCount = 1
            load.depth = 1
            load.roundNanoseconds = 1_000_000
            let outcome = try LoadRun(load, .foreign { WriteDialogue(common, $0) }).finish()
            #expect(outcome.isRight != isSecond)
        }
    }

    @Test func `some are asked about far more often than others`() throws {
        let fixture = try SeedFixture()
        let stock = try WriteStock(
            WriteEvents(plan: SeedPlan(customerCount: 1_000)), signer: fixture.signer, from: 0,
            count: 0, threadCount: 1)
        let dialogue = WriteDialogue(
            .init(stock: stock, oracle: WriteOracle(), mix: WriteMix(ingestPercentage: 0)),
            ConnectionPlace(index: 0, count: 1, seed: 7))
        var output = OutputBuffer()
        var counts: [UInt64: Int] = [:]
        for number in 1...2_000 {
            counts[dialogue.appendRequest(UInt64(number), to: &output), default: 0] += 1
        }
        // The first of 1,000 by Zipf's law gets 13 %; of 1,000 alike the luckiest gets 10 of 2,000.
        #expect((100...500).contains(counts.values.max() ?? 0))
        #expect(counts.count > 200)
    }
}
