/// What one connection does next, decided without a socket.
///
/// | state | event | next state |
/// | --- | --- | --- |
/// | open | the peer ends its output | ending; frames held whole are still taken |
/// | open | bytes that are no frame; a frame not whole in time | ending; none is taken |
/// | open | drained, and nothing is owed | ending |
/// | open | a handshake is not over in time | closed |
/// | open, ending | the peer takes next to nothing for too long; the socket fails | closed |
/// | ending | nothing is owed, the output was ended, the peer has ended too | closed |
/// | ending | nothing is owed, the output was ended, the peer has not | lingering |
/// | lingering | the peer ends its output; the linger time is over | closed |
///
/// *Owed* are requests in flight (dispatched, deferred or parked) and bytes that the peer has not
/// taken. While open, frames are taken only below the output's high-water mark (and again below
/// its low-water mark), and below the byte limit of what is in flight; otherwise nothing is read,
/// so the peer feels it. In every state but closed the socket stays open; lingering reads and
/// forgets.
///
/// All times are milliseconds of one monotonic clock. Loop thread only.
package struct ConnectionStateMachine: Equatable, Sendable {
    /// Where the connection is in its life.
    package enum State: Equatable, Sendable {
        /// Frames are taken.
        case open
        /// Frames are not taken any more, or only those held already; what is owed still leaves.
        case ending
        /// All is said; waits for the peer to stop.
        case lingering
        /// Over.
        case closed
    }

    /// What the transport is to do now.
    package enum Step: Equatable, Sendable {
        /// Keep the socket; read from it, or do not.
        case proceed(reads: Bool)
        /// All that is owed is written: end the output, then call `outputEnded`.
        case endOutput
        /// Close the socket.
        case close
    }

    /// The limits.
    package let limits: Limits
    /// Where the connection is in its life.
    package private(set) var state = State.open
    /// Requests being worked on.
    package private(set) var inFlightCount = 0
    /// Bytes of their frames.
    package private(set) var inFlightByteCount = 0
    /// Bytes that the peer has not taken yet, as last reported.
    package private(set) var pendingOutputByteCount = 0

    private var takesFrames = true
    private var isPaused = false
    private var isDraining = false
    private var inputHasEnded = false
    private var heldByteCount = 0
    private var holdsWholeFrame = false
    private var handshakeDeadline: Int64?
    private var frameDeadline: Int64?
    private var stallDeadline: Int64?
    /// What the peer has taken since the stall's time began.
    private var takenByteCount = 0
    private var lingerDeadline: Int64?

    /// A connection just accepted.
    package init(limits: Limits) { self.limits = limits }

    /// What the transport is to do now.
    package var step: Step {
        switch state {
        case .open: .proceed(reads: !inputHasEnded && canTakeInput)
        case .ending: isOwedNothing ? .endOutput : .proceed(reads: false)
        case .lingering: .proceed(reads: true)
        case .closed: .close
        }
    }

    /// Whether nothing is owed and no frame has begun: closing now loses nothing.
    package var isIdle: Bool { isOwedNothing && heldByteCount == 0 }

    /// When `expire` has something to do; nil = never. At idle there is no timer.
    package var nextDeadlineMilliseconds: Int64? {
        let deadline = min(frameDeadline ?? .max, closeDeadline)
        return deadline == .max ? nil : deadline
    }

    /// When the connection is closed without a word; the last instant = never.
    private var closeDeadline: Int64 {
        min(handshakeDeadline ?? .max, stallDeadline ?? .max, lingerDeadline ?? .max)
    }

    /// Whether frames that were held back may be taken now.
    package var shouldResume: Bool { takesFrames && holdsWholeFrame && canTakeInput }

    /// Whether a further request may be put in flight.
    package var hasRoomInFlight: Bool { inFlightCount < limits.inFlightCountMax }

    private var isOwedNothing: Bool {
        inFlightCount == 0 && pendingOutputByteCount == 0 && (heldByteCount == 0 || !takesFrames)
    }

    private var canTakeInput: Bool {
        !isPaused && inFlightByteCount < limits.inFlightByteCountMax
    }
}

// MARK: - Handshake

extension ConnectionStateMachine {
    /// A handshake has begun, before which there are no frames.
    package mutating func beganHandshake(at nowMilliseconds: Int64) {
        handshakeDeadline = nowMilliseconds + limits.handshakeMillisecondsMax
    }

    /// It is over; frames follow.
    package mutating func endedHandshake() { handshakeDeadline = nil }
}

// MARK: - Frames

extension ConnectionStateMachine {
    /// Whether the next frame may be taken, with `newOutputByteCount` bytes of answers not reported
    /// yet.
    package mutating func mayTakeFrame(newOutputByteCount: Int) -> Bool {
        guard takesFrames, state == .open || state == .ending else { return false }
        // The mark is checked here as well, for one read can hold thousands of requests.
        if pendingOutputByteCount + newOutputByteCount >= limits.outputHighWaterByteCount {
            isPaused = true
        }
        return canTakeInput
    }

    /// Whether what comes in is to be forgotten.
    package var discardsInput: Bool { !takesFrames || state == .lingering || state == .closed }

    /// Tells how many bytes the decoder holds after all frames were taken that may be.
    ///
    /// `holdsWholeFrame` says that it stopped before a frame that may be whole, for it may not be
    /// taken yet.
    package mutating func held(
        byteCount: Int, holdsWholeFrame: Bool, at nowMilliseconds: Int64
    ) {
        heldByteCount = byteCount
        self.holdsWholeFrame = holdsWholeFrame
        if inputHasEnded, !holdsWholeFrame {
            // An incomplete frame is no request.
            heldByteCount = 0
            takesFrames = false
            frameDeadline = nil
        } else if byteCount == 0 || holdsWholeFrame || isPaused {
            // The clock stands still while it is we who do not read.
            frameDeadline = nil
        } else if frameDeadline == nil {
            frameDeadline = nowMilliseconds + limits.frameMillisecondsMax
        }
    }

    /// Frames were given out whole: the next one has its own time.
    package mutating func tookFrame() { frameDeadline = nil }

    /// The bytes have no meaning any more: nothing more is taken, what is owed leaves.
    package mutating func refusedInput() {
        takesFrames = false
        heldByteCount = 0
        holdsWholeFrame = false
        frameDeadline = nil
        if state == .open { state = .ending }
    }

    /// The peer ended its output.
    package mutating func inputEnded() {
        inputHasEnded = true
        switch state {
        case .open: state = .ending
        case .lingering: state = .closed
        case .ending, .closed: break
        }
    }
}

// MARK: - Requests in flight

extension ConnectionStateMachine {
    /// A request went to work, was deferred or parked.
    package mutating func began(byteCount: Int) {
        inFlightCount += 1
        inFlightByteCount += byteCount
    }

    /// Its answer is in the output.
    package mutating func answered(byteCount: Int) {
        precondition(inFlightCount > 0 && inFlightByteCount >= byteCount)
        inFlightCount -= 1
        inFlightByteCount -= byteCount
        endIfDrained()
    }

    /// Takes no new work: what is in flight is answered, then the connection ends.
    package mutating func drain() {
        isDraining = true
        endIfDrained()
    }

    private mutating func endIfDrained() {
        if isDraining, isIdle, state == .open { refusedInput() }
    }
}

// MARK: - Output

extension ConnectionStateMachine {
    /// Tells how many bytes the socket has not taken, after every attempt to write.
    package mutating func outputPending(byteCount: Int, at nowMilliseconds: Int64) {
        takenByteCount += max(0, pendingOutputByteCount - byteCount)
        pendingOutputByteCount = byteCount
        if byteCount == 0 {
            stallDeadline = nil
            takenByteCount = 0
        } else if stallDeadline == nil || takenByteCount >= limits.writeProgressByteCount {
            stallDeadline = nowMilliseconds + limits.writeStallMillisecondsMax
            takenByteCount = 0
        }
        if byteCount >= limits.outputHighWaterByteCount {
            isPaused = true
        } else if byteCount < limits.outputLowWaterByteCount {
            isPaused = false
        }
        endIfDrained()
    }

    /// The transport ended its output, as `step` said.
    package mutating func outputEnded(at nowMilliseconds: Int64) {
        guard state == .ending else { return }
        if inputHasEnded {
            state = .closed
        } else {
            state = .lingering
            lingerDeadline = nowMilliseconds + limits.lingerMillisecondsMax
        }
    }

    /// The socket failed, or the transport gives it up.
    package mutating func closed() {
        state = .closed
        takesFrames = false
        holdsWholeFrame = false
        handshakeDeadline = nil
        frameDeadline = nil
        stallDeadline = nil
        lingerDeadline = nil
    }

    /// What `expire` found.
    package enum Expiry: Equatable, Sendable {
        /// Nothing that the peer is told.
        case nothing
        /// A frame begun was not whole in time: the peer is told, then the connection ends.
        case frame
    }

    /// Applies the deadlines that have come.
    package mutating func expire(at nowMilliseconds: Int64) -> Expiry {
        if closeDeadline <= nowMilliseconds {
            closed()
            return .nothing
        }
        if let frameDeadline, frameDeadline <= nowMilliseconds {
            refusedInput()
            return .frame
        }
        return .nothing
    }
}
