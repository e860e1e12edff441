internal import EventLoop
internal import OpenSSL
internal import Wire

/// Who is told what happens on a connection; on the client's thread.
protocol ServerConnectionOwner: AnyObject {
    /// It can be used now.
    func connectionDidOpen(_ connection: ServerConnection)
    /// An answer to a flight; the flight is no longer the connection's.
    func connection(_ connection: ServerConnection, didAnswer flight: Flight, with: Response)
    /// The answer to a flight cannot be taken; the flight is no longer the connection's.
    func connection(_ connection: ServerConnection, cannotTakeAnswerOf: Flight, _ message: String)
    /// The kernel has taken what waited.
    func connectionDidDrain(_ connection: ServerConnection)
    /// It has ended; called once, and not after `close()`. Its flights are still there to take.
    func connection(_ connection: ServerConnection, didEnd end: ServerConnection.End)
}

/// One connection to the server: frames out, frames in, and which flight waits for which id.
///
///     connecting --(connected)--> open --(any failure)--> ended
final class ServerConnection {
    /// How a connection ended.
    enum End: Equatable {
        /// It was never there; the text says why.
        case neverOpened(String)
        /// The peer or the network ended it, or it was silent for too long.
        case lost
        /// The server said why it ends it.
        case refused(Refusal)
        /// The server sent what is no answer; the text says what.
        case violated(String)
    }

    private enum State { case connecting, open, ended }

    /// More than this many bytes that the kernel has not taken hold back further requests.
    static let queuedByteCountMax = 4 << 20
    /// An answer of 1 MiB of small records unpacks to a multiple of its size.
    private static let answerByteCountMax = 32 << 20

    /// When connecting began or when the last bytes came, whichever is later; also when a request
    /// was sent after a time in which no prompt answer was owed. Monotonic, in milliseconds.
    private(set) var lastSignMilliseconds: UInt64
    /// Whether the server has answered at all.
    private(set) var hasAnswered = false
    /// Flights that wait for an answer, by id.
    private(set) var flights: [UInt64: Flight] = [:]
    /// Ids whose caller has given up, and whether they waited for Apple; the server's answer is
    /// still to come and to be dropped.
    private var abandonedIDs: [UInt64: Bool] = [:]
    /// Answers owed, abandoned ones included, for which the server waits for nobody.
    private var promptOwedCount = 0
    private var state = State.connecting
    private var nextID: UInt64 = 1
    private var output = OutputBuffer()
    private var decoder: FrameDecoder
    private let arena: MessageArena
    private let frameByteCountMax: Int
    private let inFlightCountMax: Int
    private let apiKey: Text
    private weak var owner: (any ServerConnectionOwner)?
    private var stream: StreamConnection?
    /// Nil: plain text.
    private let tls: TLSSupport?
    /// There once the socket is connected, with TLS.
    private var channel: TLSChannel?

    init(
        configuration: ClientConfiguration, tls: TLSSupport?, owner: any ServerConnectionOwner
    ) {
        self.tls = tls
        frameByteCountMax = configuration.frameByteCountMax
        inFlightCountMax = max(1, configuration.inFlightCountMax)
        apiKey = Text(configuration.apiKey)
        decoder = FrameDecoder(frameByteCountMax: configuration.frameByteCountMax)
        arena = MessageArena(byteCountMax: Self.answerByteCountMax)
        lastSignMilliseconds = MonotonicClock.nowMilliseconds
        self.owner = owner
    }

    /// Starts to connect; `connectionDidOpen` or `didEnd` follows.
    ///
    /// - Throws: `UVError` when the system refuses at once.
    func connect(to address: SocketAddress, loop: Loop) throws(UVError) {
        stream = try StreamConnection.connect(to: address, loop: loop, handler: self)
    }

    /// Whether requests can be sent.
    var isOpen: Bool { state == .open }
    /// Whether it is neither open nor ended.
    var isConnecting: Bool { state == .connecting }
    /// Answers that the server owes, abandoned ones included.
    var owedCount: Int { flights.count + abandonedIDs.count }

    /// Whether silence means that something is wrong: only Apple is waited for in silence.
    var owesPromptAnswer: Bool { promptOwedCount > 0 }

    /// Whether the kernel and the server keep up with what is sent.
    var takesMore: Bool {
        guard state == .open, let stream else { return false }
        return flights.count < inFlightCountMax && abandonedIDs.count < 3 * inFlightCountMax
            && stream.queuedByteCount + output.count < Self.queuedByteCountMax
    }

    /// Queues the request of `flight`; `flush()` sends it.
    ///
    /// - Throws: `WireError` when the request does not fit a frame; nothing is queued then.
    func send(_ flight: Flight, timeoutMilliseconds: UInt32) throws(WireError) {
        precondition(state == .open)
        var request = Request(id: nextID, call: flight.call.request)
        request.timeoutMilliseconds = timeoutMilliseconds
        request.apiKey = apiKey
        try request.encodeFrame(into: &output, in: arena, frameByteCountMax: frameByteCountMax)
        if !owesPromptAnswer { lastSignMilliseconds = MonotonicClock.nowMilliseconds }
        if !flight.call.waitsForApple { promptOwedCount += 1 }
        flights[nextID] = flight
        flight.id = nextID
        flight.connection = self
        flight.attemptCount += 1
        nextID += 1
    }

    /// The caller of `flight` has given up: what comes for it is dropped.
    func abandon(_ flight: Flight) {
        guard flights.removeValue(forKey: flight.id) != nil else { return }
        abandonedIDs[flight.id] = flight.call.waitsForApple
    }

    /// Takes all flights away, the oldest first.
    func takeFlights() -> [Flight] {
        let all = flights.values.sorted { $0.id < $1.id }
        flights = [:]
        return all
    }

    /// Hands what is queued to the kernel.
    func flush() {
        guard state == .open, !output.isEmpty, let stream else { return }
        defer { output.removeAll() }
        if let channel { return sendEncrypted(by: channel, stream) }
        do throws(UVError) {
            try stream.write(output.bytes)
        } catch {
            end(.lost)
        }
    }

    /// Ends it without telling the owner.
    func close() {
        guard state != .ended else { return }
        state = .ended
        // What the next connection can resume.
        if let session = channel?.session() { tls?.session = session }
        stream?.close()
        stream = nil
        output.removeAll()
        decoder.discard()
    }

    /// Ends it and tells the owner, once.
    func end(_ end: End) {
        guard state != .ended else { return }
        close()
        owner?.connection(self, didEnd: end)
    }
}

extension ServerConnection: StreamHandler {
    func streamDidConnect(_ stream: StreamConnection) {
        guard state == .connecting else { return }
        lastSignMilliseconds = MonotonicClock.nowMilliseconds
        stream.startReading()
        if let tls { startHandshake(tls, stream) } else { didOpen() }
    }

    private func didOpen() {
        state = .open
        owner?.connectionDidOpen(self)
    }

    func stream(_ stream: StreamConnection, didRead bytes: Span<UInt8>) {
        lastSignMilliseconds = MonotonicClock.nowMilliseconds
        if let channel {
            decrypt(bytes, by: channel, stream)
        } else {
            take(bytes)
        }
    }

    private func take(_ bytes: Span<UInt8>) {
        var position = 0
        do throws(WireError) {
            while state == .open, let body = try decoder.next(in: bytes, from: &position) {
                let answer = Self.response(in: decoder.bytes(of: body, in: bytes), arena)
                take(answer)
            }
        } catch {
            end(.violated("\(error)"))
        }
        if state == .open { decoder.hold(bytes, from: position) }
    }

    private static func response(
        in body: Span<UInt8>, _ arena: MessageArena
    ) -> Result<Response, WireError> {
        do throws(WireError) {
            return .success(try Response(decoding: body, in: arena))
        } catch {
            return .failure(error)
        }
    }

    private func take(_ answer: Result<Response, WireError>) {
        switch answer {
        case .success(let response) where response.id == 0:
            // The server could not tell which request it speaks of, and closes.
            end(
                response.status == .ok
                    ? .violated("an answer to no request") : .refused(Refusal(response)))
        case .success(let response):
            guard let flight = taken(response.id) else { return }
            hasAnswered = true
            owner?.connection(self, didAnswer: flight, with: response)
        case .failure(.messageTooComplex(let id, let limit)):
            guard let flight = taken(id) else { return }
            let message = "an answer that unpacks to more than \(limit) bytes"
            owner?.connection(self, cannotTakeAnswerOf: flight, message)
        case .failure(let error):
            end(.violated("\(error)"))
        }
    }

    /// The flight of an id; nil when its caller has given up, or when that id is none.
    private func taken(_ id: UInt64) -> Flight? {
        if let flight = flights.removeValue(forKey: id) {
            if !flight.call.waitsForApple { promptOwedCount -= 1 }
            return flight
        }
        if let waitedForApple = abandonedIDs.removeValue(forKey: id) {
            if !waitedForApple { promptOwedCount -= 1 }
            hasAnswered = true
        } else {
            end(.violated("an answer with an id that no open request has"))
        }
        return nil
    }

    func streamDidReachEnd(_ stream: StreamConnection) { end(.lost) }

    func stream(_ stream: StreamConnection, didFail error: UVError) {
        end(state == .connecting ? .neverOpened("\(error)") : .lost)
    }

    func streamDidWrite(_ stream: StreamConnection) {
        if state == .open { owner?.connectionDidDrain(self) }
    }

    func streamDidClose(_ stream: StreamConnection) {}
}

// MARK: - TLS

extension ServerConnection {
    private func startHandshake(_ tls: TLSSupport, _ stream: StreamConnection) {
        do throws(OpenSSLError) {
            let channel = try TLSChannel(
                connecting: tls.context, buffers: tls.buffers, host: tls.host,
                resuming: tls.session)
            self.channel = channel
            writeEncrypted(tls.buffers, stream)
        } catch {
            end(.neverOpened("\(error)"))
        }
    }

    private func decrypt(_ bytes: Span<UInt8>, by channel: TLSChannel, _ stream: StreamConnection) {
        channel.receive(bytes) { plaintext in
            if state == .connecting { didOpen() }
            if state == .open { take(plaintext) }
        }
        guard let tls else { return }
        writeEncrypted(tls.buffers, stream)
        guard state != .ended else { return }
        switch channel.state {
        case .handshaking: break
        case .open: if state == .connecting { didOpen() }
        case .ended: end(.lost)
        case .failed:
            // A server that does not take our certificate says so after the handshake (RFC 8446
            // 4.4.3); repeating the same would not help.
            tls.session = nil
            self.channel = nil
            let words = channel.failure.map { "\($0)" } ?? ""
            end(hasAnswered ? .lost : .neverOpened(words))
        }
    }

    private func sendEncrypted(by channel: TLSChannel, _ stream: StreamConnection) {
        guard let tls else { return }
        do throws(OpenSSLError) {
            try channel.send(output.bytes)
            writeEncrypted(tls.buffers, stream)
        } catch {
            tls.buffers.removeOutput()
            end(.lost)
        }
    }

    /// Sends what the channel has put into the buffers.
    private func writeEncrypted(_ buffers: TLSBuffers, _ stream: StreamConnection) {
        guard buffers.hasOutput else { return }
        defer { buffers.removeOutput() }
        do throws(UVError) {
            try stream.write(buffers.output)
        } catch {
            end(state == .connecting ? .neverOpened("\(error)") : .lost)
        }
    }
}
