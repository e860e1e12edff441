import EntitledClient
import EventLoop
import Testing
import Wire

/// A server that does what a test says, on loopback, with real sockets and real frames.
final class FakeServer: Sendable {
    /// One request as it came, and what can be done about it. All on the server's thread.
    struct Received {
        /// The request.
        let request: Request
        /// Counts the requests of all connections, from 1.
        let number: Int
        /// Counts the connections, from 1.
        let connectionNumber: Int
        fileprivate let peer: FakePeer

        /// Answers with a result.
        func answer(_ result: Response.Result) {
            peer.send(Response(id: request.id, result: result))
        }

        /// Answers with a refusal.
        func refuse(_ status: Message.Status, _ reason: Text, retryAfter: UInt64 = 0) {
            peer.send(
                Response(
                    id: request.id, status: status, reason: reason, message: "as the test wants it",
                    retryAfterMilliseconds: retryAfter))
        }

        /// Sends a response that need not fit the request.
        func send(_ response: Response) { peer.send(response) }
        /// Sends bytes as they are.
        func send(bytes: [UInt8]) { peer.send(bytes: bytes) }
        /// Closes the connection, with what is queued sent before.
        func close() { peer.stream.close() }
        /// Closes the connection with a reset.
        func reset() { peer.stream.reset() }
        /// The same connection, to answer later.
        var later: Later { Later(peer: LoopBound(peer), id: request.id) }
    }

    /// An answer that comes later.
    struct Later: Sendable {
        fileprivate let peer: LoopBound<FakePeer>
        let id: UInt64
    }

    typealias Script = @Sendable (Received) -> Void

    private let thread: LoopThread
    private let counts = Locked((connections: 0, requests: 0))
    /// Where it listens, for `Client(address:)`.
    let address: String

    init(at text: String = "127.0.0.1:0", script: @escaping Script) throws {
        let socket = try ListeningSocket.bind(try SocketAddress(text), count: 1)[0]
        address = "\(socket.address)"
        let counts = counts
        thread = try LoopThread(name: "fake-server") { loop in
            do throws(UVError) {
                _ = try Listener(loop: loop, socket: socket) { _, result in
                    guard case .success(let stream) = result else { return }
                    let number = counts.withLock {
                        $0.connections += 1
                        return $0.connections
                    }
                    FakePeer(stream, number: number, counts: counts, script: script).start()
                }
            } catch {
                preconditionFailure("a fake server cannot listen: \(error)")
            }
        }
    }

    /// How many connections were made so far.
    var connectionCount: Int { counts.withLock { $0.connections } }
    /// How many requests came so far.
    var requestCount: Int { counts.withLock { $0.requests } }

    /// Sends an answer that was put off.
    func answer(_ later: Later, _ result: Response.Result) {
        thread.execute { _ in later.peer.value.send(Response(id: later.id, result: result)) }
    }

    func stop() {
        thread.stop()
        thread.join()
    }
}

extension FakeServer {
    /// Has one call sent and gives back what the server saw.
    static func sent(
        answering result: Response.Result,
        configuration: ClientConfiguration = ClientConfiguration(),
        _ body: (Client) async throws -> Void
    ) async throws -> Request {
        let seen = Locked<Request?>(nil)
        let server = try FakeServer { received in
            seen.withLock { $0 = received.request }
            received.answer(result)
        }
        defer { server.stop() }
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        try await body(client)
        return try #require(seen.withLock { $0 })
    }
}

/// One connection of a fake server.
private final class FakePeer: StreamHandler {
    let stream: StreamConnection
    private let number: Int
    private let counts: Locked<(connections: Int, requests: Int)>
    private let script: FakeServer.Script
    private var decoder = FrameDecoder(frameByteCountMax: 1 << 20)
    private let arena = MessageArena()

    init(
        _ stream: StreamConnection, number: Int,
        counts: Locked<(connections: Int, requests: Int)>, script: @escaping FakeServer.Script
    ) {
        self.stream = stream
        self.number = number
        self.counts = counts
        self.script = script
    }

    func start() {
        stream.handler = self
        stream.startReading()
    }

    func send(_ response: Response) {
        var output = OutputBuffer()
        do throws(WireError) {
            try response.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 24)
        } catch {
            preconditionFailure("a test's response cannot be encoded: \(error)")
        }
        try? stream.write(output.bytes)
    }

    func send(bytes: [UInt8]) { try? stream.write(bytes.span) }

    func stream(_ stream: StreamConnection, didRead bytes: Span<UInt8>) {
        var position = 0
        do throws(WireError) {
            while !stream.isClosing, let body = try decoder.next(in: bytes, from: &position) {
                let request = try Request(
                    decoding: decoder.bytes(of: body, in: bytes), in: arena)
                let count = counts.withLock {
                    $0.requests += 1
                    return $0.requests
                }
                script(
                    FakeServer.Received(
                        request: request, number: count, connectionNumber: number, peer: self))
            }
        } catch {
            preconditionFailure("a client sent no frame: \(error)")
        }
        decoder.hold(bytes, from: position)
    }

    func streamDidReachEnd(_ stream: StreamConnection) { stream.close() }
    func stream(_ stream: StreamConnection, didFail error: UVError) { stream.close() }
    func streamDidWrite(_ stream: StreamConnection) {}
    func streamDidClose(_ stream: StreamConnection) {}
}
