import FoundationEssentials
import Testing

@testable import EventLoop

@Suite struct ListenerTests {
    /// Starts `count` threads that accept at `address` and answer each connection with their
    /// number.
    func withServers(
        at address: SocketAddress, count: Int, _ body: (SocketAddress) throws -> Void
    ) throws {
        let sockets = try ListeningSocket.bind(address, count: count)
        let threads = try sockets.enumerated().map { index, socket in
            try LoopThread(name: "server \(index)") { loop in
                _ = try? Listener(loop: loop, socket: socket) { _, result in
                    guard case .success(let stream) = result else { return }
                    do { try stream.write([UInt8(index)].span) } catch {}
                    stream.shutdownWrites()
                    stream.handler = RecordingHandler()
                    stream.startReading()
                }
            }
        }
        try body(sockets[0].address)
        for thread in threads {
            thread.stop()
            thread.join()
        }
        for socket in sockets { socket.close() }
    }

    /// Connects `count` times; returns which server answered each.
    func ask(_ address: SocketAddress, times count: Int) throws -> [UInt8] {
        let loop = try Loop()
        defer { loop.close() }
        let recorders = (0..<count).map { _ in RecordingHandler() }
        for recorder in recorders {
            _ = try StreamConnection.connect(to: address, loop: loop, handler: recorder)
        }
        loop.run()
        #expect(recorders.allSatisfy { $0.received.count == 1 && $0.didEnd })
        return recorders.compactMap(\.received.first)
    }

    @Test func `the kernel spreads connections over the loops that share a port`() throws {
        try withServers(at: .ipv4(host: "127.0.0.1", port: 0), count: 2) { address in
            let answers = try ask(address, times: 64)
            #expect(Set(answers) == [0, 1])
        }
    }

    @Test func `loops that share a Unix socket answer every connection`() throws {
        let path = "/tmp/entitled-\(UUID().uuidString.prefix(8)).sock"
        try withServers(at: .unix(path: path), count: 2) { address in
            let answers = try ask(address, times: 64)
            #expect(answers.count == 64)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a crowd is let in by and by, so that others have their turns`() throws {
        let socket = try #require(
            try ListeningSocket.bind(.ipv4(host: "127.0.0.1", port: 0), count: 1).first)
        let loop = try Loop()
        var (acceptedCount, acceptedBefore, largestBurst) = (0, 0, 0)
        let recorders = (0..<100).map { _ in RecordingHandler() }
        _ = try Listener(loop: loop, socket: socket) { listener, result in
            guard case .success(let stream) = result else { return }
            acceptedCount += 1
            stream.close()
            if acceptedCount == recorders.count { listener.close() }
        }
        _ = try LoopHook(loop: loop, phase: .beforeSleep) {
            largestBurst = max(largestBurst, acceptedCount - acceptedBefore)
            acceptedBefore = acceptedCount
        }
        for recorder in recorders {
            _ = try StreamConnection.connect(to: socket.address, loop: loop, handler: recorder)
        }
        loop.run()
        loop.close()
        #expect(acceptedCount == 100)
        // A burst, and before it the one that was left with libuv.
        #expect((1...17).contains(largestBurst))
        #expect(loop.openHandleCount == 0)
    }

    @Test func `after close nobody is accepted`() throws {
        let socket = try #require(
            try ListeningSocket.bind(.ipv4(host: "127.0.0.1", port: 0), count: 1).first)
        let loop = try Loop()
        var acceptedCount = 0
        let listener = try Listener(loop: loop, socket: socket) { _, _ in acceptedCount += 1 }
        listener.close()
        loop.run()
        let recorder = RecordingHandler()
        _ = try StreamConnection.connect(to: socket.address, loop: loop, handler: recorder)
        loop.run()
        loop.close()
        #expect(acceptedCount == 0)
        #expect(recorder.failure?.isRefused == true)
        #expect(loop.openHandleCount == 0)
    }

    @Test func `one socket serves one listener`() throws {
        let socket = try #require(
            try ListeningSocket.bind(.ipv4(host: "127.0.0.1", port: 0), count: 1).first)
        let loop = try Loop()
        defer { loop.close() }
        _ = try Listener(loop: loop, socket: socket) { _, _ in }
        #expect(throws: UVError.self) { try Listener(loop: loop, socket: socket) { _, _ in } }
        #expect(loop.openHandleCount == 1)
    }
}
