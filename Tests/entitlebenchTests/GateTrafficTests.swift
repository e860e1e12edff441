import EventLoop
import Synchronization
import Testing
import Wire

@testable import entitlebench

/// Answers every check, and notes how many frames came with each read.
private final class LockStepServer: StreamHandler {
    private var decoder = FrameDecoder(frameByteCountMax: 1 << 20)
    private let arena = MessageArena()
    private let reads: Locked<[Int]>

    init(_ reads: Locked<[Int]>) { self.reads = reads }

    func stream(_ stream: StreamConnection, didRead bytes: Span<UInt8>) {
        var (position, count) = (0, 0)
        var output = OutputBuffer()
        do {
            while let body = try decoder.next(in: bytes, from: &position) {
                let request = try Request(decoding: decoder.bytes(of: body, in: bytes), in: arena)
                var answer = Message.CheckAccessResponse()
                answer.granted = request.id != 13
                let response = Response(id: request.id, result: .checkAccess(answer))
                try response.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
                count += 1
            }
            decoder.hold(bytes, from: position)
            reads.withLock { $0.append(count) }
            try stream.write(output.bytes)
        } catch {
            stream.close()
        }
    }

    func streamDidReachEnd(_ stream: StreamConnection) { stream.close() }
    func stream(_ stream: StreamConnection, didFail error: UVError) { stream.close() }
    func streamDidWrite(_ stream: StreamConnection) {}
    func streamDidClose(_ stream: StreamConnection) {}
}

@Suite struct GateTrafficTests {
    /// Serves one listener while `body` runs; gives the frames of each read.
    static func withServer(_ body: (SocketAddress) throws -> Void) throws -> [Int] {
        let socket = try #require(
            try ListeningSocket.bind(.ipv4(host: "127.0.0.1", port: 0), count: 1).first)
        let reads = Locked<[Int]>([])
        let thread = try LoopThread(name: "server") { loop in
            _ = try? Listener(loop: loop, socket: socket) { _, result in
                guard case .success(let stream) = result else { return }
                stream.handler = LockStepServer(reads)
                stream.startReading()
            }
        }
        defer {
            thread.stop()
            thread.join()
            socket.close()
        }
        try body(socket.address)
        return reads.withLock { $0 }
    }

    static func traffic(_ address: SocketAddress) -> GateTraffic {
        GateTraffic(address: address) { number in
            .checkAccess(.init(customer: .customerID(Text("\(number)")), subject: .product("p")))
        } isRight: { _, response in
            guard case .checkAccess(let answer)? = response.result else { return false }
            return answer.granted
        }
    }

    @Test func `each connection sends all of a round at once and waits for all answers`() throws {
        let over = Locked<[Bool]>([])
        let reads = try Self.withServer { address in
            var traffic = Self.traffic(address)
            traffic.connectionCount = 3
            traffic.depth = 4
            traffic.warmUpRoundCount = 0
            traffic.roundCount = 5
            traffic.isRight = { $1.status == .ok }
            #expect(traffic.operationCount == 60)
            try traffic.run { isOver in over.withLock { $0.append(isOver) } }
        }
        #expect(reads == [Int](repeating: 4, count: 15))
        #expect(over.withLock { $0 } == [false, true])
    }

    @Test func `a wrong answer ends it`() throws {
        _ = try Self.withServer { address in
            var traffic = Self.traffic(address)
            traffic.depth = 4
            traffic.roundCount = 5
            let failure = #expect(throws: GateTraffic.Failure.self) { try traffic.run { _ in } }
            #expect(failure?.description.hasPrefix("a wrong answer to request 13") == true)
        }
    }

    @Test func `a server that is not there ends it`() {
        let traffic = Self.traffic(.ipv4(host: "127.0.0.1", port: 1))
        #expect(throws: GateTraffic.Failure.self) { try traffic.run { _ in } }
    }
}
