internal import EventLoop
internal import Synchronization
internal import Wire

/// One call as the task that waits for it and the client's thread share it.
///
/// It is answered once; what comes later is dropped.
final class Call: Sendable {
    /// What ends a call.
    typealias Outcome = Result<Response.Result, ClientError>

    private enum State {
        case open
        case awaited(CheckedContinuation<Outcome, Never>)
        case answered(Outcome)
    }

    /// What is asked.
    let request: Request.Call
    /// When the caller has no more use for an answer, on the monotonic clock, in milliseconds.
    let deadlineMilliseconds: UInt64
    /// Whether it may be sent again although an earlier attempt may have reached the server.
    let isRepeatable: Bool
    /// Whether the server may wait for Apple before it answers.
    let waitsForApple: Bool
    private let state = Locked(State.open)

    init(
        request: Request.Call, timeout: Duration, isRepeatable: Bool, waitsForApple: Bool = false
    ) {
        self.request = request
        deadlineMilliseconds = MonotonicClock.nowMilliseconds + UInt64(timeout.wireMilliseconds)
        self.isRepeatable = isRepeatable
        self.waitsForApple = waitsForApple
    }

    /// Whether the caller has what it waits for.
    var isAnswered: Bool {
        state.withLock { state in
            if case .answered = state { true } else { false }
        }
    }

    /// Ends the call. Any thread.
    func answer(_ outcome: Outcome) {
        let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            switch state {
            case .open:
                state = .answered(outcome)
                return nil
            case .awaited(let continuation):
                state = .answered(outcome)
                return continuation
            case .answered:
                return nil
            }
        }
        continuation?.resume(returning: outcome)
    }

    /// Waits for the answer. Called once.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> Outcome? in
                if case .answered(let outcome) = state { return outcome }
                state = .awaited(continuation)
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }
}

/// A call on its way: what the client's thread notes of it.
final class Flight {
    let call: Call
    /// Where it was sent; nil while it waits and after its end.
    var connection: ServerConnection?
    /// Its id on that connection.
    var id: UInt64 = 0
    /// How often it was sent.
    var attemptCount = 0
    /// How many attempts to reach the server failed while it waited.
    var failedConnectCount = 0
    /// It is not sent before this instant of the monotonic clock, in milliseconds.
    var notBeforeMilliseconds: UInt64 = 0

    init(_ call: Call) { self.call = call }
}
