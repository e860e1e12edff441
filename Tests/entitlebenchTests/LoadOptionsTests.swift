import EventLoop
import LoadGenerator
import Testing
import ToolSupport

@testable import entitlebench

@Suite struct LoadOptionsTests {
    private func options(_ flags: [String: String]) throws(CommandFailure) -> LoadOptions {
        try LoadOptions(try BenchFixture.bench(flags))
    }

    @Test func `without flags there is a sensible run`() throws {
        let options = try options([:])
        let plan = options.plan(.unix(path: "x"))
        #expect(plan.connectionCount == 16 && plan.depth == 16 && plan.roundCount == 3)
        #expect(plan.pace == .closed)
        #expect(options.customerCount == 20_000)
        #expect(plan.roundNanoseconds == 5_000_000_000)
        #expect(plan.warmUpNanoseconds == 1_000_000_000)
        #expect(
            options.sentence
                == "16 connections x 16 in flight, closed loop, 3 rounds of 5 s after 1 s of"
                + " warm-up")
    }

    @Test func `a rate makes an open loop`() throws {
        let options = try options([
            "rate": "200k", "arrivals": "poisson", "connections": "1", "rounds": "1",
            "seconds": "0.5",
        ])
        #expect(
            options.plan(.unix(path: "x")).pace
                == .open(requestsPerSecond: 200_000, arrivals: .poisson))
        #expect(
            options.sentence
                == "1 connection x 16 in flight, poisson open loop of 200,000/s, 1 round of 0.5 s"
                + " after 1 s of warm-up")
    }

    @Test(arguments: [
        ["arrivals": "poisson"], ["rate": "1k", "arrivals": "often"], ["connections": "0"],
        ["depth": "65537"], ["connections": "10000", "depth": "60000"], ["customers": "17m"],
        ["generator-threads": "3", "connections": "2"], ["seconds": "3600", "rounds": "100"],
        ["rate": "0"], ["batch": "1001"], ["batch": "1"], ["warmup": "-1"], ["seed": "x"],
    ])
    func `what cannot be is refused`(flags: [String: String]) {
        let failure = #expect(throws: CommandFailure.self) { try options(flags) }
        #expect(failure?.status == .usage)
    }

    @Test func `server and generator do not share a processor where there are two`() throws {
        let available = Processors.available
        let options = try options(["generator-threads": "2"])
        if available.count >= 2 {
            #expect(
                Set(options.serverProcessors).isDisjoint(with: options.generatorProcessors))
            #expect(
                (options.serverProcessors + options.generatorProcessors).sorted() == available)
        } else {
            #expect(options.serverProcessors.isEmpty && options.generatorProcessors.isEmpty)
        }
    }

    @Test func `processors that are named are taken as they are`() throws {
        let first = try #require(Processors.available.first)
        let options = try options(["server-cpus": "\(first)"])
        #expect(options.serverProcessors == [first])
        #expect(options.generatorProcessors.isEmpty)
    }
}
