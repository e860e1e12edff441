import Glibc
import Testing

@testable import EventLoop

@Suite(.serialized) struct SignalWatcherTests {
    @Test(arguments: SignalWatcher.Signal.allCases)
    func `a signal becomes an event of the loop`(signal: SignalWatcher.Signal) throws {
        let loop = try Loop()
        defer { loop.close() }
        var count = 0
        let keeper = try Timer(loop: loop) { loop.stop() }
        keeper.start(afterMilliseconds: 5_000)
        let watcher = try SignalWatcher(loop: loop, signal: signal) {
            count += 1
            loop.stop()
        }
        kill(getpid(), signal.number)
        loop.run()
        #expect(count == 1)
        watcher.close()
    }

    @Test func `a watcher keeps no loop running`() throws {
        let loop = try Loop()
        defer { loop.close() }
        _ = try SignalWatcher(loop: loop, signal: .user1) {}
        loop.run()
        #expect(loop.openHandleCount == 1)
    }

    @Test func `a broken pipe does not end the process`() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop()
            kill(getpid(), SIGPIPE)
            loop.close()
        }
    }
}
