import Testing

@testable import EventLoop

@Suite struct TimerTests {
    @Test func `timers fire in the order of their times, ties in the order of their start`() throws
    {
        let loop = try Loop()
        var fired: [Int] = []
        let delays: [UInt64] = [30, 10, 20, 10, 0]
        for (index, delay) in delays.enumerated() {
            let timer = try Timer(loop: loop) { fired.append(index) }
            timer.start(afterMilliseconds: delay)
        }
        loop.run()
        #expect(fired == [4, 1, 3, 2, 0])
        loop.close()
        #expect(loop.openHandleCount == 0)
    }

    @Test func `a timer does not fire early`() throws {
        let loop = try Loop()
        defer { loop.close() }
        let start = MonotonicClock.nowMicroseconds
        var end = start
        let timer = try Timer(loop: loop) { end = MonotonicClock.nowMicroseconds }
        timer.start(afterMilliseconds: 25)
        loop.run()
        #expect(end - start >= 24_000)
    }

    @Test func `a repeating timer goes on until it is stopped`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var count = 0
        var timer: Timer?
        timer = try Timer(loop: loop) {
            count += 1
            if count == 5 { timer?.stop() }
        }
        timer?.start(afterMilliseconds: 1, repeatMilliseconds: 1)
        loop.run()
        #expect(count == 5)
        #expect(timer?.isRunning == false)
    }

    @Test func `starting anew replaces the old time`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var count = 0
        let timer = try Timer(loop: loop) { count += 1 }
        timer.start(afterMilliseconds: 1)
        timer.start(afterMilliseconds: 20)
        #expect(timer.isRunning)
        loop.run()
        #expect(count == 1)
    }

    @Test func `a closed timer neither fires nor starts`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var count = 0
        var timers: [Timer] = []
        for _ in 0..<2 {
            timers.append(
                try Timer(loop: loop) {
                    count += 1
                    for timer in timers { timer.close() }
                })
        }
        for timer in timers { timer.start(afterMilliseconds: 1) }
        loop.run()
        #expect(count == 1)
        timers[0].start(afterMilliseconds: 0)
        timers[0].stop()
        timers[0].close()
        #expect(!timers[0].isRunning)
        loop.run()
        #expect(count == 1)
        #expect(loop.openHandleCount == 0)
    }
}
