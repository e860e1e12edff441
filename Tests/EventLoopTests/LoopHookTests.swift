import Testing

@testable import EventLoop

@Suite struct LoopHookTests {
    @Test func `hooks run around the events of each iteration`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var trace: [String] = []
        let before = try LoopHook(loop: loop, phase: .beforeSleep) { trace.append("before") }
        let after = try LoopHook(loop: loop, phase: .afterEvents) { trace.append("after") }
        let wakeup = try Wakeup(loop: loop) {
            trace.append("event")
            loop.stop()
        }
        wakeup.signal.send()
        loop.run()
        #expect(trace.prefix(3) == ["before", "event", "after"])
        before.close()
        after.close()
        let count = trace.count
        wakeup.signal.send()
        loop.run()
        #expect(trace.count == count + 1)
    }

    @Test func `a hook keeps no loop running`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var count = 0
        _ = try LoopHook(loop: loop, phase: .beforeSleep) { count += 1 }
        loop.run()
        #expect(count <= 1)
    }
}
