import Synchronization
import Testing

@testable import EventLoop

/// Sends back what it reads; ends when the peer ends.
final class EchoHandler: StreamHandler {
    func stream(_ stream: StreamConnection, didRead bytes: Span<UInt8>) {
        do throws(UVError) {
            try stream.write(bytes)
            if stream.queuedByteCount > 0 { stream.stopReading() }
        } catch {
            stream.close()
        }
    }
    func streamDidReachEnd(_ stream: StreamConnection) { stream.shutdownWrites() }
    func stream(_ stream: StreamConnection, didFail error: UVError) { stream.close() }
    func streamDidWrite(_ stream: StreamConnection) { stream.startReading() }
    func streamDidClose(_ stream: StreamConnection) {}
}

/// Records what happens to one connection and stops the loop when told.
final class RecordingHandler: StreamHandler {
    var received: [UInt8] = []
    var failure: UVError?
    var didConnect = false
    var didEnd = false
    var didClose = false
    var onConnect: (StreamConnection) -> Void = { $0.startReading() }
    var onRead: (StreamConnection) -> Void = { _ in }
    var onEnd: (StreamConnection) -> Void = { $0.close() }

    func streamDidConnect(_ stream: StreamConnection) {
        didConnect = true
        onConnect(stream)
    }
    func stream(_ stream: StreamConnection, didRead bytes: Span<UInt8>) {
        for index in bytes.indices { received.append(bytes[index]) }
        onRead(stream)
    }
    func streamDidReachEnd(_ stream: StreamConnection) {
        didEnd = true
        onEnd(stream)
    }
    func stream(_ stream: StreamConnection, didFail error: UVError) {
        failure = error
        stream.close()
    }
    func streamDidWrite(_ stream: StreamConnection) {}
    func streamDidClose(_ stream: StreamConnection) { didClose = true }
}

@Suite struct StreamConnectionTests {
    static let addresses: [SocketAddress] = [
        .ipv4(host: "127.0.0.1", port: 0), .ipv6(host: "::1", port: 0),
    ]

    /// Serves `address` with an echo and has `client` talk to it, all on one loop.
    func withEcho(
        at address: SocketAddress, _ client: (Loop, SocketAddress, Listener) throws -> Void
    ) throws {
        let socket = try #require(try ListeningSocket.bind(address, count: 1).first)
        let loop = try Loop()
        let echo = EchoHandler()
        let listener = try Listener(loop: loop, socket: socket) { _, result in
            guard case .success(let stream) = result else { return }
            stream.handler = echo
            stream.startReading()
        }
        try client(loop, socket.address, listener)
        loop.run()
        loop.close()
        #expect(loop.openHandleCount == 0)
        socket.close()
    }

    @Test(arguments: addresses)
    func `what is sent comes back whole, also past the kernel's buffers`(
        address: SocketAddress
    ) throws {
        let recorder = RecordingHandler()
        let sent = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try withEcho(at: address) { loop, bound, listener in
            recorder.onConnect = { stream in
                stream.startReading()
                do { try stream.write(sent.span) } catch { stream.close() }
                stream.shutdownWrites()
            }
            recorder.onEnd = {
                $0.close()
                listener.close()
            }
            _ = try StreamConnection.connect(to: bound, loop: loop, handler: recorder)
        }
        #expect(recorder.received == sent)
        #expect(recorder.didConnect && recorder.didEnd && recorder.didClose)
        #expect(recorder.failure == nil)
    }

    @Test func `a half-closed peer still gets its answer, then the end`() throws {
        let recorder = RecordingHandler()
        try withEcho(at: Self.addresses[0]) { loop, bound, listener in
            recorder.onConnect = { stream in
                stream.startReading()
                do { try stream.write([1, 2, 3].span) } catch { stream.close() }
                stream.shutdownWrites()
                stream.shutdownWrites()
                do {
                    let byteCount = try stream.tryWrite([4].span)
                    #expect(byteCount == 0)
                } catch {
                    Issue.record("a write after the end of writing is no error")
                }
            }
            recorder.onEnd = {
                $0.close()
                listener.close()
            }
            _ = try StreamConnection.connect(to: bound, loop: loop, handler: recorder)
        }
        #expect(recorder.received == [1, 2, 3])
        #expect(recorder.didEnd && recorder.failure == nil)
    }

    /// One connection on one loop: the client side and the accepted side.
    func withPair(
        _ start: (Loop, RecordingHandler, RecordingHandler) -> Void
    ) throws -> (client: RecordingHandler, server: RecordingHandler) {
        let (client, server) = (RecordingHandler(), RecordingHandler())
        let socket = try #require(
            try ListeningSocket.bind(.ipv4(host: "127.0.0.1", port: 0), count: 1).first)
        let loop = try Loop()
        start(loop, client, server)
        _ = try Listener(loop: loop, socket: socket) { listener, result in
            listener.close()
            guard case .success(let stream) = result else { return }
            stream.handler = server
            server.streamDidConnect(stream)
        }
        _ = try StreamConnection.connect(to: socket.address, loop: loop, handler: client)
        loop.run()
        loop.close()
        #expect(loop.openHandleCount == 0)
        return (client, server)
    }

    @Test func `who has filled the buffer waits until the others have had their turn`() throws {
        // A Unix socket holds some 200 KB before its reader comes: three reads and more.
        let path = "/tmp/entitled-turns-\(UInt32.random(in: 0...UInt32.max)).sock"
        let socket = try #require(try ListeningSocket.bind(.unix(path: path), count: 1).first)
        let loop = try Loop()
        let (loud, quiet) = (RecordingHandler(), RecordingHandler())
        let sent = [UInt8](repeating: 7, count: 1_000_000)
        var reads: [String] = []
        loud.onConnect = { stream in do { try stream.write(sent.span) } catch { stream.close() } }
        quiet.onConnect = { stream in do { try stream.write([1].span) } catch { stream.close() } }
        var accepted: [(StreamConnection, RecordingHandler)] = []
        _ = try Listener(loop: loop, socket: socket) { listener, result in
            guard case .success(let stream) = result else { return }
            let handler = RecordingHandler()
            let name = accepted.isEmpty ? "loud" : "quiet"
            handler.onRead = { stream in
                reads.append(name)
                if handler.received.count == sent.count { loop.stop() }
            }
            stream.handler = handler
            accepted.append((stream, handler))
            if accepted.count == 2 { listener.close() }
        }
        let begin = try Timer(loop: loop) { for (stream, _) in accepted { stream.startReading() } }
        begin.start(afterMilliseconds: 50)
        for handler in [loud, quiet] {
            _ = try StreamConnection.connect(to: socket.address, loop: loop, handler: handler)
        }
        loop.run()
        let receivedCount = accepted.first?.1.received.count
        loop.close()
        socket.close()
        #expect(receivedCount == sent.count)
        #expect(try #require(reads.firstIndex(of: "quiet")) <= 1)
    }

    @Test func `a reset is told apart from an end`() throws {
        let (_, server) = try withPair { _, client, _ in
            client.onConnect = { stream in
                do { try stream.write([9].span) } catch { stream.close() }
                stream.reset()
            }
        }
        #expect(!server.didEnd)
        #expect(server.failure?.isPeerGone == true)
        #expect(server.failure?.operation == "read")
        #expect(server.didClose)
    }

    @Test func `a peer that does not read holds the writer back, and none of it is lost`() throws {
        var queuedWhileBlocked = 0
        var refusedWhileBlocked = -1
        let total = 20_000_000
        let (client, server) = try withPair { loop, client, server in
            client.onConnect = { stream in
                let bytes = [UInt8](repeating: 7, count: total)
                do throws(UVError) {
                    try stream.write(bytes.span)
                    queuedWhileBlocked = stream.queuedByteCount
                    refusedWhileBlocked = try stream.tryWrite([1].span)
                } catch {
                    stream.close()
                }
                stream.shutdownWrites()
                stream.startReading()
            }
            server.onConnect = { stream in
                // Reads only after a while.
                guard let timer = try? Timer(loop: loop, onFire: { stream.startReading() }) else {
                    return stream.close()
                }
                timer.start(afterMilliseconds: 50)
            }
        }
        #expect(queuedWhileBlocked > 0 && queuedWhileBlocked < total)
        #expect(refusedWhileBlocked == 0)
        #expect(server.received.count == total)
        #expect(client.failure == nil && server.failure == nil)
    }

    @Test func `pausing stops delivery until reading starts again`() throws {
        var readCounts: [Int] = []
        let (_, server) = try withPair { loop, client, server in
            client.onConnect = { stream in
                do { try stream.write([UInt8](repeating: 1, count: 300_000).span) } catch {
                    stream.close()
                }
                stream.shutdownWrites()
            }
            server.onRead = { stream in
                readCounts.append(server.received.count)
                stream.stopReading()
                #expect(!stream.isReading)
                guard let timer = try? Timer(loop: loop, onFire: { stream.startReading() }) else {
                    return stream.close()
                }
                timer.start(afterMilliseconds: 2)
            }
        }
        #expect(server.received.count == 300_000)
        let steps = zip(readCounts, readCounts.dropFirst()).map { $1 - $0 }
        #expect(steps.allSatisfy { $0 <= Loop.readByteCountMax })
        #expect(server.didEnd)
    }

    @Test func `closing drops what is queued and leaks nothing`() throws {
        let (client, server) = try withPair { _, client, server in
            client.onConnect = { stream in
                do { try stream.write([UInt8](repeating: 1, count: 9_000_000).span) } catch {}
                #expect(stream.queuedByteCount > 0)
                stream.close()
                stream.close()
                #expect(stream.queuedByteCount == 0)
                stream.startReading()
                #expect(!stream.isReading)
            }
            server.onConnect = { $0.startReading() }
        }
        #expect(client.didClose && client.failure == nil)
        #expect(server.received.count < 9_000_000)
    }

    @Test func `writing to a peer that is gone fails and does not end the process`() throws {
        var failure: UVError?
        _ = try withPair { loop, client, server in
            client.onConnect = { $0.reset() }
            server.onConnect = { stream in
                var timer: Timer?
                timer = try? Timer(loop: loop) {
                    do throws(UVError) {
                        _ = try stream.tryWrite([1].span)
                    } catch {
                        failure = error
                        timer?.close()
                        stream.close()
                    }
                }
                timer?.start(afterMilliseconds: 5, repeatMilliseconds: 5)
            }
        }
        #expect(failure?.isPeerGone == true)
    }

    @Test func `connecting where nobody listens fails`() throws {
        let sockets = try ListeningSocket.bind(.ipv4(host: "127.0.0.1", port: 0), count: 1)
        let address = sockets[0].address
        sockets[0].close()
        let loop = try Loop()
        let recorder = RecordingHandler()
        _ = try StreamConnection.connect(to: address, loop: loop, handler: recorder)
        loop.run()
        #expect(recorder.failure?.isRefused == true)
        #expect(recorder.didClose && !recorder.didConnect)
        let missing = RecordingHandler()
        _ = try StreamConnection.connect(
            to: .unix(path: "/nonexistent/socket"), loop: loop, handler: missing)
        loop.run()
        #expect(missing.failure?.isRefused == true)
        loop.close()
        #expect(loop.openHandleCount == 0)
    }

    @Test func `a connection closed while it connects says nothing more`() throws {
        let sockets = try ListeningSocket.bind(.ipv4(host: "127.0.0.1", port: 0), count: 1)
        let loop = try Loop()
        let recorder = RecordingHandler()
        let stream = try StreamConnection.connect(
            to: sockets[0].address, loop: loop, handler: recorder)
        stream.close()
        loop.run()
        #expect(!recorder.didConnect && recorder.failure == nil && recorder.didClose)
        loop.close()
        #expect(loop.openHandleCount == 0)
    }

    @Test func `two hundred connections are served side by side`() throws {
        let count = 200
        let recorders = (0..<count).map { _ in RecordingHandler() }
        var ended = 0
        try withEcho(at: Self.addresses[0]) { loop, bound, listener in
            for (index, recorder) in recorders.enumerated() {
                recorder.onConnect = { stream in
                    stream.startReading()
                    let bytes = [UInt8](repeating: UInt8(index), count: 1_000 + index)
                    do { try stream.write(bytes.span) } catch { stream.close() }
                    stream.shutdownWrites()
                }
                recorder.onEnd = { stream in
                    stream.close()
                    ended += 1
                    if ended == count { listener.close() }
                }
                _ = try StreamConnection.connect(to: bound, loop: loop, handler: recorder)
            }
        }
        for (index, recorder) in recorders.enumerated() {
            #expect(recorder.received == [UInt8](repeating: UInt8(index), count: 1_000 + index))
        }
    }
}
