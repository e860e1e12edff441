internal import EventLoop
internal import Synchronization
internal import Wire

/// Requests in lock step: every connection sends its frames by one write and sends the next ones
/// only when all are answered. So a server needs a known number of reads and writes, whatever else
/// the machine does, which no clock decides.
struct GateTraffic: Sendable {
    /// Where the server is.
    var address: SocketAddress
    /// Connections, all of one thread.
    var connectionCount = 1
    /// Requests that leave by one write.
    var depth = 1
    /// How often each connection sends, before anything is counted.
    var warmUpRoundCount = 0
    /// How often each connection sends while it counts.
    var roundCount = 1
    /// The key that every request carries; empty = none.
    var apiKey = Text()
    /// The call with a number, counted over all connections and rounds.
    var call: @Sendable (Int) -> Request.Call
    /// Whether an answer to the call with that number is right.
    var isRight: @Sendable (Int, Response) -> Bool

    /// Why traffic ended early.
    struct Failure: Error, Equatable, Sendable { let description: String }

    /// Operations that are counted.
    var operationCount: Int { connectionCount * depth * roundCount }

    /// Connects, warms up, calls `counting(false)`, sends what is counted, calls `counting(true)`
    /// while all connections stand, and closes them. Blocks; both calls come from another thread.
    ///
    /// - Throws: `Failure` at the first wrong answer, and where the server cannot be reached.
    func run(_ counting: @escaping @Sendable (_ isOver: Bool) -> Void) throws(Failure) {
        let outcome = Locked<Failure?>(nil)
        let thread: Thread
        do throws(UVError) {
            thread = try Thread(name: "gate") {
                let failure = GateClients(self, counting).run()
                outcome.withLock { $0 = failure }
            }
        } catch {
            throw Failure(description: "\(error)")
        }
        thread.join()
        if let failure = outcome.withLock({ $0 }) { throw failure }
    }
}

/// The connections of one traffic. One thread's.
private final class GateClients {
    let traffic: GateTraffic
    let arena = MessageArena()
    var output = OutputBuffer()
    var failure: GateTraffic.Failure?
    private let counting: @Sendable (Bool) -> Void
    private var loop: Loop?
    private var clients: [GateClient] = []
    private var waitingCount = 0
    private var isWarm = false

    init(_ traffic: GateTraffic, _ counting: @escaping @Sendable (Bool) -> Void) {
        self.traffic = traffic
        self.counting = counting
    }

    func run() -> GateTraffic.Failure? {
        do throws(UVError) {
            let loop = try Loop()
            self.loop = loop
            defer { loop.close() }
            waitingCount = traffic.connectionCount
            for index in 0..<traffic.connectionCount {
                let client = GateClient(self, index: index)
                clients.append(client)
                client.stream = try StreamConnection.connect(
                    to: traffic.address, loop: loop, handler: client)
            }
            loop.run()
        } catch {
            return GateTraffic.Failure(description: "\(error)")
        }
        clients = []
        return failure
    }

    /// A client has nothing to do until all others are as far. The server has accepted each by
    /// then, for each has an answer or, without a warm-up, sends its first request now.
    func arrived() {
        waitingCount -= 1
        guard waitingCount == 0, failure == nil else { return }
        counting(isWarm)
        guard !isWarm else { return stop() }
        isWarm = true
        waitingCount = clients.count
        for client in clients { client.send(roundCount: traffic.roundCount) }
    }

    func fail(_ description: String) {
        if failure == nil { failure = GateTraffic.Failure(description: description) }
        stop()
    }

    private func stop() { loop?.stop() }
}

/// One connection.
private final class GateClient: StreamHandler {
    var stream: StreamConnection?
    private unowned let owner: GateClients
    private var decoder = FrameDecoder(frameByteCountMax: 16 << 20)
    private var roundsLeft = 0
    private var unansweredCount = 0
    /// The number of the next call; connections take turns.
    private var number: Int
    private var firstNumber = 0

    init(_ owner: GateClients, index: Int) {
        self.owner = owner
        number = index * owner.traffic.depth
    }

    func streamDidConnect(_ stream: StreamConnection) {
        stream.startReading()
        send(roundCount: owner.traffic.warmUpRoundCount)
    }

    func send(roundCount: Int) {
        roundsLeft = roundCount
        sendRound()
    }

    private func sendRound() {
        guard roundsLeft > 0 else { return owner.arrived() }
        roundsLeft -= 1
        let traffic = owner.traffic
        firstNumber = number
        unansweredCount = traffic.depth
        number += traffic.depth * traffic.connectionCount
        do throws(WireError) {
            for index in firstNumber..<firstNumber + traffic.depth {
                var request = Request(id: UInt64(index) + 1, call: traffic.call(index))
                request.apiKey = traffic.apiKey
                try request.encodeFrame(
                    into: &owner.output, in: owner.arena, frameByteCountMax: 16 << 20)
            }
        } catch {
            return owner.fail("a request cannot be written: \(error)")
        }
        write(&owner.output)
    }

    private func write(_ output: inout OutputBuffer) {
        do throws(UVError) {
            if let stream { try stream.write(output.bytes) }
        } catch {
            owner.fail("\(error)")
        }
        output.removeAll()
    }

    func stream(_ stream: StreamConnection, didRead bytes: Span<UInt8>) {
        var position = 0
        do throws(WireError) {
            while let body = try decoder.next(in: bytes, from: &position) {
                let response = try Response(
                    decoding: decoder.bytes(of: body, in: bytes), in: owner.arena)
                guard take(response) else { return }
            }
        } catch {
            return owner.fail("an answer cannot be read: \(error)")
        }
        decoder.hold(bytes, from: position)
        if unansweredCount == 0 { sendRound() }
    }

    private func take(_ response: Response) -> Bool {
        let index = Int(clamping: response.id) - 1
        let range = firstNumber..<firstNumber + owner.traffic.depth
        guard range ~= index, unansweredCount > 0, owner.traffic.isRight(index, response) else {
            owner.fail("a wrong answer to request \(response.id): \(response)")
            return false
        }
        unansweredCount -= 1
        return true
    }

    func streamDidReachEnd(_ stream: StreamConnection) {
        owner.fail("the server ended a connection")
    }

    func stream(_ stream: StreamConnection, didFail error: UVError) { owner.fail("\(error)") }

    func streamDidWrite(_ stream: StreamConnection) {}

    func streamDidClose(_ stream: StreamConnection) { self.stream = nil }
}
