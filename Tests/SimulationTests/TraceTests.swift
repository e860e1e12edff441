import Testing

@testable import Simulation

@Suite struct TraceTests {
    @Test func `the hash depends on every line and on their times`() {
        func hash(_ lines: [(Int64, String)]) -> UInt64 {
            var trace = Trace()
            for (at, text) in lines { trace.note(at, text) }
            return trace.hash
        }
        let usual = hash([(1, "a"), (2, "b")])
        #expect(hash([(1, "a"), (2, "b")]) == usual)
        #expect(hash([(1, "b"), (2, "a")]) != usual)
        #expect(hash([(1, "a"), (3, "b")]) != usual)
        #expect(hash([(1, "a")]) != usual)
    }

    @Test func `the last lines are kept in order`() {
        var trace = Trace(keptCountMax: 3)
        #expect(trace.lastLines == [])
        for at in 1...2 { trace.note(Int64(at), "x") }
        #expect(trace.lastLines == ["1 x", "2 x"])
        for at in 3...7 { trace.note(Int64(at), "x") }
        #expect(trace.lastLines == ["5 x", "6 x", "7 x"])
        #expect(trace.lineCount == 7)
    }
}
