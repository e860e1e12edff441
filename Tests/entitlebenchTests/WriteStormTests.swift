import EntitledClient
import LoadGenerator
import Testing
import ToolSupport

@testable import entitlebench

@Suite struct WriteStormTests {
    private func storm(_ bench: WriteBench, of plan: SeedPlan) -> WriteStorm {
        var load = bench.load
        load.pace = .open(requestsPerSecond: 500, arrivals: .poisson)
        return WriteStorm(
            plan: plan, load: load,
            checks: .check(
                CheckScript(population: bench.plan.checkPopulation(), selection: .uniform)))
    }

    private static func plan(heavyTransactionCount: Int) -> SeedPlan {
        SeedPlan(
            customerCount: 12, heavyCustomerCount: 2, heavyTransactionCount: heavyTransactionCount)
    }

    @Test func `rebuilds go on beside checks, and all answers are right`() async throws {
        let plan = Self.plan(heavyTransactionCount: 5)
        let bench = try WriteBench(plan)
        defer { bench.end() }
        let client = try Client(address: "\(bench.address)")
        defer { client.close() }
        let outcome = try await storm(bench, of: plan).run(on: client)
        #expect(outcome.idle.isRight)
        #expect(outcome.storm.isRight)
        #expect(outcome.idle.latencies.count > 0 && outcome.storm.latencies.count > 0)
        #expect(outcome.rebuilds.count > 0)
        #expect(outcome.checkRatio > 0)
    }

    @Test func `a rebuild that read another number of transactions fails the run`() async throws {
        let bench = try WriteBench(Self.plan(heavyTransactionCount: 5))
        defer { bench.end() }
        let client = try Client(address: "\(bench.address)")
        defer { client.close() }
        let storm = storm(bench, of: Self.plan(heavyTransactionCount: 6))
        let failure = await #expect(throws: CommandFailure.self) { try await storm.run(on: client) }
        #expect(failure?.message.contains("read 5 transactions") == true)
    }
}
