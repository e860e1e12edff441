import Testing
import ToolSupport

@testable import entitlebench

@Suite struct BenchTests {
    @Test(arguments: [("20000", 20_000), ("20k", 20_000), ("10m", 10_000_000), ("0", 0)])
    func `thousands and millions have letters`(text: String, number: Int) {
        #expect(Bench.whole(text) == number)
    }

    @Test(arguments: ["", "k", "-1", "1.5", "1g", "9999999999999999m", "1 "])
    func `what is no whole number is none`(text: String) { #expect(Bench.whole(text) == nil) }

    @Test(arguments: [
        ("0", [0]), ("2-5,7", [2, 3, 4, 5, 7]), ("3,1,3", [1, 3]), ("4-4", [4]),
    ])
    func `lists of processors are read`(text: String, numbers: [Int]) {
        #expect(Bench.list(text) == numbers)
    }

    @Test(arguments: ["", ",", "1-", "-1", "5-2", "1-2-3", "a", "1,", "0-5000"])
    func `what is no list is none`(text: String) { #expect(Bench.list(text) == nil) }

    @Test func `a flag beyond its range is refused with the range`() throws {
        let bench = try BenchFixture.bench(["depth": "70k", "seconds": "0.5", "rate": "x"])
        #expect(throws: CommandFailure.self) { try bench.number("depth", in: 1...65_536) }
        #expect(try bench.decimal("seconds", in: 0...1) == 0.5)
        #expect(throws: CommandFailure.self) { try bench.decimal("seconds", in: 1...2) }
        #expect(throws: CommandFailure.self) { try bench.decimal("rate", in: 1...2) }
        #expect(try bench.number("rounds", in: 1...2) == nil)
    }

    @Test func `a processor that this process may not use is refused`() throws {
        let bench = try BenchFixture.bench(["server-cpus": "1000"])
        let failure = #expect(throws: CommandFailure.self) { try bench.processors("server-cpus") }
        #expect(failure?.status == .usage)
        #expect(try bench.processors("generator-cpus") == [])
    }

    @Test func `the form of the output is one of two`() throws {
        #expect(try BenchFixture.bench(["output": "json"]).isJSON)
        #expect(try !BenchFixture.bench().isJSON)
        #expect(throws: CommandFailure.self) { try BenchFixture.bench(["output": "xml"]) }
    }
}
