import Testing

@testable import ToolSupport

@Suite struct ProcessorsTests {
    @Test func `a thread may be held on one processor, and let go again`() throws {
        let all = Processors.available
        let last = try #require(all.last)
        try Processors.pin([last])
        #expect(Processors.available == [last])
        try Processors.pin(all)
        #expect(Processors.available == all)
    }

    @Test func `processors that are not there are refused, with those that are`() {
        let failure = #expect(throws: CommandFailure.self) { try Processors.pin([1_023]) }
        #expect(failure?.hint.contains("may run on") == true)
        #expect(throws: CommandFailure.self) { try Processors.pin([-1]) }
    }

    @Test func `the processor time of this process grows, that of no process is none`() throws {
        let before = try #require(Processors.nanosecondsUsed(byProcess: 0))
        var sum = 0.0
        for value in 1..<100_000 { sum += 1 / Double(value) }
        #expect(sum > 1)
        let after = try #require(Processors.nanosecondsUsed(byProcess: 0))
        #expect(after > before)
        #expect(Processors.nanosecondsUsed(byProcess: 1 << 30) == nil)
    }
}
