internal import EventLoop
internal import Wire

/// What a client's tasks tell its thread.
enum Command: Sendable {
    /// Carry it out.
    case submit(Call)
    /// Its caller has given up.
    case abandon(Call)
    /// End everything.
    case close
}

/// The client's thread: which call goes over which connection, when to try again, when to give up.
///
/// A flight is in `waiting` until it is sent, then with its connection; `flights` has them all.
final class Dispatcher {
    private let loop: Loop
    private let address: SocketAddress
    /// Nil: plain text.
    private let tls: TLSSupport?
    private let configuration: ClientConfiguration
    private let backoff: Backoff
    private var connections: [ServerConnection] = []
    private var flights: [ObjectIdentifier: Flight] = [:]
    private var waiting = FlightQueue()
    private var timer: Timer?
    private var flushHook: LoopHook?
    /// When the timer fires; nil = it is stopped.
    private var armedMilliseconds: UInt64?
    /// Attempts to reach the server that failed in a row.
    private var failedConnectCount = 0
    /// No attempt is made before this instant.
    private var connectNotBeforeMilliseconds: UInt64 = 0
    /// Why the last attempt failed; empty = it did not.
    private var lastConnectFailure = ""
    private var isClosed = false

    /// Another connection is opened when each open one owes so many answers.
    private static let owedCountBeforeAnother = 16
    /// An attempt to connect is given up after this time.
    private static let connectMillisecondsMax: UInt64 = 5_000
    /// The server is to answer DEADLINE itself, with its reason, before the caller stops to wait.
    private static let answerMarginMilliseconds: UInt64 = 50

    /// - Throws: `UVError` when the system has no memory left.
    init(
        loop: Loop, address: SocketAddress, tls: TLSSupport?, configuration: ClientConfiguration
    ) throws(UVError) {
        self.loop = loop
        self.address = address
        self.tls = tls
        self.configuration = configuration
        backoff = Backoff(configuration)
        timer = try Timer(loop: loop) { [weak self] in self?.timePassed() }
        flushHook = try LoopHook(loop: loop, phase: .beforeSleep) { [weak self] in
            self?.flush()
        }
    }

    private var now: UInt64 { MonotonicClock.nowMilliseconds }

    /// Carries out what the tasks asked for.
    func take(_ commands: [Command]) {
        for command in commands {
            switch command {
            case .submit(let call): submit(call)
            case .abandon(let call):
                if let flight = flights[ObjectIdentifier(call)] {
                    finish(flight, .failure(.cancelled))
                }
            case .close: close()
            }
        }
        pump()
    }

    private func submit(_ call: Call) {
        guard !isClosed else { return call.answer(.failure(.closed)) }
        // Given up before it came here.
        guard !call.isAnswered else { return }
        let flight = Flight(call)
        flights[ObjectIdentifier(call)] = flight
        waiting.append(flight)
        arm(at: call.deadlineMilliseconds)
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        for flight in flights.values { finish(flight, .failure(.closed)) }
        for connection in connections { connection.close() }
        connections = []
        waiting = FlightQueue()
        timer?.close()
        flushHook?.close()
        loop.stop()
    }

    /// Ends a flight; what comes for it later is dropped.
    private func finish(_ flight: Flight, _ outcome: Call.Outcome) {
        flights[ObjectIdentifier(flight.call)] = nil
        flight.connection?.abandon(flight)
        flight.connection = nil
        flight.call.answer(outcome)
    }

    private func flush() {
        for connection in connections { connection.flush() }
    }
}

// MARK: - Sending

extension Dispatcher {
    /// Sends what can be sent now; opens a connection where one is missing.
    private func pump() {
        guard !isClosed else { return }
        let now = now
        while let connection = leastBusyConnection {
            guard let flight = waiting.popFirst(readyAt: now) else { break }
            guard !flight.call.isAnswered else { continue }
            send(flight, over: connection, at: now)
        }
        // A flight that only waits for its time needs no further connection.
        if waiting.hasReady(at: now) || isEveryConnectionBusy { openConnection(at: now) }
    }

    private var leastBusyConnection: ServerConnection? {
        connections
            .filter(\.takesMore)
            .min { $0.owedCount < $1.owedCount }
    }

    private var isEveryConnectionBusy: Bool {
        connections.allSatisfy { $0.owedCount >= Self.owedCountBeforeAnother }
            && !flights.isEmpty
    }

    private func send(_ flight: Flight, over connection: ServerConnection, at now: UInt64) {
        let deadline = flight.call.deadlineMilliseconds
        guard deadline > now else { return finish(flight, .failure(.deadlineExceeded)) }
        let rest = deadline - now
        let timeout = max(1, rest - min(rest / 10, Self.answerMarginMilliseconds))
        do throws(WireError) {
            try connection.send(flight, timeoutMilliseconds: UInt32(clamping: timeout))
            arm(at: connection.lastSignMilliseconds + silenceMilliseconds)
        } catch {
            var byteCount = 0
            if case .frameTooLarge(let found, _) = error { byteCount = found }
            let limit = configuration.frameByteCountMax
            finish(flight, .failure(.requestTooLarge(byteCount: byteCount, limit: limit)))
        }
    }

    private func openConnection(at now: UInt64) {
        guard connections.count < max(1, configuration.connectionCountMax),
            !connections.contains(where: \.isConnecting)
        else { return }
        guard now >= connectNotBeforeMilliseconds else {
            return arm(at: connectNotBeforeMilliseconds)
        }
        let connection = ServerConnection(
            configuration: configuration, tls: tls, owner: self)
        connections.append(connection)
        do throws(UVError) {
            try connection.connect(to: address, loop: loop)
            arm(at: now + Self.connectMillisecondsMax)
        } catch {
            connection.end(.neverOpened("\(error)"))
        }
    }

    private var silenceMilliseconds: UInt64 {
        UInt64(configuration.silenceLimit.wireMilliseconds)
    }
}

// MARK: - What connections tell

extension Dispatcher: ServerConnectionOwner {
    func connectionDidOpen(_ connection: ServerConnection) {
        lastConnectFailure = ""
        pump()
    }

    func connectionDidDrain(_ connection: ServerConnection) { pump() }

    func connection(
        _ connection: ServerConnection, didAnswer flight: Flight, with response: Response
    ) {
        failedConnectCount = 0
        flight.connection = nil
        if response.status == .ok {
            let missing = ClientError.protocolViolation("an answer without the result asked for")
            finish(flight, response.result.map { .success($0) } ?? .failure(missing))
        } else {
            let refusal = Refusal(response)
            if refusal.status != .unavailable || !canRepeat(flight, after: refusal) {
                finish(flight, .failure(ClientError(refusal)))
            }
        }
        pump()
    }

    func connection(
        _ connection: ServerConnection, cannotTakeAnswerOf flight: Flight, _ message: String
    ) {
        flight.connection = nil
        finish(flight, .failure(.protocolViolation(message)))
        pump()
    }

    func connection(_ connection: ServerConnection, didEnd end: ServerConnection.End) {
        connections.removeAll { $0 === connection }
        let flights = connection.takeFlights()
        for flight in flights { flight.connection = nil }
        switch end {
        case .neverOpened(let message):
            // Those that were sent before the server said that it does not take our certificate.
            for flight in flights { finish(flight, .failure(.connectionFailed(message))) }
            couldNotConnect(message)
        case .lost:
            for flight in flights where !canRepeat(flight, after: nil) {
                finish(flight, .failure(.connectionLost))
            }
            if !connection.hasAnswered { delayNextConnection() }
        case .refused(let refusal):
            let mayPass = refusal.status == .unavailable || refusal.status == .resourceExhausted
            for flight in flights where !mayPass || !canRepeat(flight, after: refusal) {
                finish(flight, .failure(ClientError(refusal)))
            }
            delayNextConnection()
        case .violated(let message):
            for flight in flights { finish(flight, .failure(.protocolViolation(message))) }
            delayNextConnection()
        }
        pump()
    }

    /// Puts a flight back to be sent again, when it may be and when there is time for it.
    private func canRepeat(_ flight: Flight, after refusal: Refusal?) -> Bool {
        guard flight.call.isRepeatable, flight.attemptCount < configuration.attemptCountMax,
            !flight.call.isAnswered
        else { return false }
        let wait = max(
            refusal?.retryAfterMilliseconds ?? 0,
            backoff.milliseconds(afterFailures: flight.attemptCount))
        let (instant, overflow) = now.addingReportingOverflow(wait)
        guard !overflow, instant < flight.call.deadlineMilliseconds else { return false }
        flight.notBeforeMilliseconds = instant
        waiting.append(flight)
        arm(at: instant)
        return true
    }

    private func couldNotConnect(_ message: String) {
        lastConnectFailure = "\(address): \(message)"
        delayNextConnection()
        guard !connections.contains(where: \.isOpen) else { return }
        for flight in waiting.all {
            flight.failedConnectCount += 1
            if flight.failedConnectCount >= configuration.attemptCountMax {
                finish(flight, .failure(.connectionFailed(lastConnectFailure)))
            }
        }
        waiting.dropAnswered()
    }

    private func delayNextConnection() {
        failedConnectCount += 1
        connectNotBeforeMilliseconds =
            now + backoff.milliseconds(afterFailures: failedConnectCount)
    }
}

extension ClientError {
    /// The server's word that the time is over is the client's own.
    fileprivate init(_ refusal: Refusal) {
        self = refusal.reason == "DEADLINE" ? .deadlineExceeded : .refused(refusal)
    }
}

// MARK: - Time

extension Dispatcher {
    /// Makes sure that `timePassed` is called at `instant` or before.
    private func arm(at instant: UInt64) {
        if let armedMilliseconds, armedMilliseconds <= instant { return }
        armedMilliseconds = instant
        timer?.start(afterMilliseconds: instant - min(instant, now))
    }

    private func timePassed() {
        armedMilliseconds = nil
        guard !isClosed else { return }
        let now = now
        for flight in flights.values where flight.call.deadlineMilliseconds <= now {
            let isUnreachable = flight.attemptCount == 0 && !lastConnectFailure.isEmpty
            finish(
                flight,
                .failure(
                    isUnreachable ? .connectionFailed(lastConnectFailure) : .deadlineExceeded))
        }
        waiting.dropAnswered()
        for connection in connections {
            let silent = now - min(now, connection.lastSignMilliseconds)
            if connection.isConnecting, silent >= Self.connectMillisecondsMax {
                connection.end(.neverOpened("no answer"))
            } else if connection.owesPromptAnswer, silent >= silenceMilliseconds {
                connection.end(.lost)
            }
        }
        pump()
        armForNext(after: now)
    }

    private func armForNext(after now: UInt64) {
        for flight in flights.values { arm(at: flight.call.deadlineMilliseconds) }
        for flight in waiting.all where flight.notBeforeMilliseconds > now {
            arm(at: flight.notBeforeMilliseconds)
        }
        for connection in connections {
            if connection.isConnecting {
                arm(at: connection.lastSignMilliseconds + Self.connectMillisecondsMax)
            } else if connection.owesPromptAnswer {
                arm(at: connection.lastSignMilliseconds + silenceMilliseconds)
            }
        }
    }
}
