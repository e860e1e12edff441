import Testing

@testable import EventLoop

@Suite struct LoopTests {
    @Test func `a loop without handles ends at once`() throws {
        let loop = try Loop()
        loop.run()
        loop.run(spinMicroseconds: 100)
        loop.close()
        loop.close()
        #expect(loop.openHandleCount == 0)
    }

    @Test(arguments: [UInt64(0), 200])
    func `stop ends run, and run can be called again`(spin: UInt64) throws {
        let loop = try Loop()
        defer { loop.close() }
        var count = 0
        let timer = try Timer(loop: loop) {
            count += 1
            loop.stop()
        }
        timer.start(afterMilliseconds: 1, repeatMilliseconds: 1)
        loop.run(spinMicroseconds: spin)
        #expect(count == 1)
        loop.run(spinMicroseconds: spin)
        #expect(count == 2)
    }

    @Test func `a loop that spins hears other threads, however long it would spin`() throws {
        let loop = try Loop()
        defer { loop.close() }
        var count = 0
        let wakeup = try Wakeup(loop: loop) {
            count += 1
            if count == 3 { loop.stop() }
        }
        let signal = wakeup.signal
        let thread = try Thread(name: "caller") {
            for _ in 0..<3 {
                signal.send()
                Doorbell().wait(milliseconds: 20)
            }
        }
        // Ten minutes: only a poll that looks at other threads ends this.
        loop.run(spinMicroseconds: 600_000_000)
        thread.join()
        #expect(count == 3)
    }

    @Test func `after a spin without an event the loop sleeps`() throws {
        let loop = try Loop()
        defer { loop.close() }
        // A hook runs once for each poll and each sleep: some thousand polls fit into the spin, and
        // with a loop that never slept a hundred thousand and more would fit into the wait.
        var iterationCount = 0
        var countAfterSpin = 0
        _ = try LoopHook(loop: loop, phase: .beforeSleep) { iterationCount += 1 }
        let spun = try Timer(loop: loop) { countAfterSpin = iterationCount }
        spun.start(afterMilliseconds: 100)
        let end = try Timer(loop: loop) { loop.stop() }
        end.start(afterMilliseconds: 200)
        loop.run(spinMicroseconds: 1_000)
        // The spin after the first timer, and nothing else.
        #expect(iterationCount - countAfterSpin <= 20_000)
        #expect(iterationCount > 0)
    }

    @Test func `closing a loop closes every handle that is left`() throws {
        let loop = try Loop()
        let sockets = try ListeningSocket.bind(.ipv4(host: "127.0.0.1", port: 0), count: 1)
        _ = try Timer(loop: loop) {}
        _ = try Wakeup(loop: loop) {}
        _ = try LoopHook(loop: loop, phase: .beforeSleep) {}
        _ = try Listener(loop: loop, socket: sockets[0]) { _, _ in }
        _ = try StreamConnection.connect(
            to: sockets[0].address, loop: loop, handler: EchoHandler())
        #expect(loop.openHandleCount == 5)
        loop.close()
        #expect(loop.openHandleCount == 0)
    }

    @Test func `the cached time follows the monotonic clock`() throws {
        let loop = try Loop()
        defer { loop.close() }
        let before = loop.nowMilliseconds
        let timer = try Timer(loop: loop) {}
        timer.start(afterMilliseconds: 15)
        loop.run()
        #expect(loop.nowMilliseconds - before >= 14)
    }

    @Test func `a loop used off its thread stops the process`() async {
        await #expect(processExitsWith: .failure) {
            let bound = LoopBoundForTests(try Loop())
            let thread = try Thread(name: "stranger") { bound.loop.run() }
            thread.join()
        }
    }

    @Test func `a loop dropped without close stops the process`() async {
        await #expect(processExitsWith: .failure) {
            _ = try Loop()
        }
    }
}

/// Carries a loop to where it must not be used.
final class LoopBoundForTests: @unchecked Sendable {
    let loop: Loop
    init(_ loop: Loop) { self.loop = loop }
}
