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
