import Testing

@testable import EventLoop

@Suite struct WakeupTests {
    @Test func `another thread wakes the loop`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var count = 0
        let wakeup = try Wakeup(loop: loop) {
            count += 1
            loop.stop()
        }
        let signal = wakeup.signal
        let thread = try Thread(name: "waker") { signal.send() }
        loop.run()
        thread.join()
        #expect(count == 1)
    }

    @Test func `signals sent before the loop wakes count as one`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var count = 0
        let wakeup = try Wakeup(loop: loop) { count += 1 }
        for _ in 0..<1_000 { wakeup.signal.send() }
        let timer = try Timer(loop: loop) { loop.stop() }
        timer.start(afterMilliseconds: 20)
        loop.run()
        #expect(count == 1)
    }

    @Test func `a signal after the end is harmless, also while the loop closes`() throws {
        for _ in 0..<20 {
            let loop = try Loop()
            let signal = try Wakeup(loop: loop) {}.signal
            let thread = try Thread(name: "waker") {
                for _ in 0..<2_000 { signal.send() }
            }
            loop.close()
            thread.join()
            signal.send()
            #expect(loop.openHandleCount == 0)
        }
    }

    @Test func `a wakeup that keeps no loop running lets it end`() throws {
        let loop = try Loop()
        defer { loop.close() }
        _ = try Wakeup(loop: loop, keepsLoopRunning: false) {}
        loop.run()
        #expect(loop.openHandleCount == 1)
    }
}
