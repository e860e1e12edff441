internal import Wire

/// One client's connection: what it sent and is not answered yet, and what it does next.
///
/// The transport moves bytes, the `Responder` of its loop answers, this value decides. The order of
/// calls, on the connection's loop thread:
/// 1. `Responder.received` (or another of its calls) appends answers to an `OutputBuffer`;
/// 2. the transport writes what the socket takes and calls `outputPending` with what is left;
/// 3. it takes the calls for other threads with `takeCall` until that gives nil;
/// 4. where `shouldResume` is true, it goes on with `Responder.resume` and from 2 again;
/// 5. it does what `step` says, and sees to `nextDeadlineMilliseconds`.
package struct ClientConnection: ~Copyable {
    var machine: ConnectionStateMachine
    var decoder: FrameDecoder
    var calls = CallQueue()
    /// Who calls, as far as he has shown.
    var caller = Caller()
    /// Who is at the other end. The transport sets it before the first byte of a request is given
    /// out: after the handshake, where there is one.
    package var peer: PeerIdentity {
        get { caller.peer }
        set { caller.peer = newValue }
    }

    /// A connection just accepted.
    package init(limits: Limits) {
        machine = ConnectionStateMachine(limits: limits)
        decoder = FrameDecoder(frameByteCountMax: limits.frameByteCountMax)
    }

    /// What the transport is to do now.
    package var step: ConnectionStateMachine.Step { machine.step }

    /// Whether nothing is owed and no frame has begun.
    package var isIdle: Bool { machine.isIdle }

    /// Whether frames that were held back may be taken now: call `Responder.resume`.
    package var shouldResume: Bool { machine.shouldResume }

    /// Bytes received and not taken as frames yet.
    package var heldByteCount: Int { decoder.heldByteCount }

    /// Bytes held for the peer: of frames that are not whole, of requests that are not answered, of
    /// answers that it has not taken.
    package var bufferedByteCount: Int {
        decoder.heldByteCount + machine.inFlightByteCount + machine.pendingOutputByteCount
    }

    /// Requests being worked on.
    package var inFlightCount: Int { machine.inFlightCount }

    /// The lowest revision that a parked request waits for; nil where none is parked.
    package var awaitedRevision: UInt64? { calls.awaitedRevision }

    /// When `Responder.expire` has something to do; nil = never.
    package var nextDeadlineMilliseconds: Int64? {
        switch (machine.nextDeadlineMilliseconds, calls.nextDeadlineMilliseconds) {
        case (let one?, let other?): min(one, other)
        case (let one, let other): one ?? other
        }
    }

    /// Whether `takeCall` gives one. Asked first, because a call is large, and few events have one.
    package var hasCall: Bool { calls.hasReady }

    /// The next call for another thread. Its answer comes back by `Responder.completed`, or by
    /// `Responder.refused` where the call was not taken or not waited for.
    package mutating func takeCall() -> PendingCall? { calls.takeReady() }

    /// Keeps what is left of `input`.
    mutating func hold(
        _ input: Span<UInt8>, from position: Int, isHeldBack: Bool, at nowMilliseconds: Int64
    ) {
        decoder.hold(input, from: position)
        let held = decoder.heldByteCount
        machine.held(byteCount: held, holdsWholeFrame: isHeldBack && held > 0, at: nowMilliseconds)
        if machine.discardsInput { decoder.discard() }
    }

    /// A call that left is answered.
    mutating func ended(_ tag: CallTag) {
        machine.answered(byteCount: tag.byteCount)
        if tag.isHeavyRead { calls.heavyReadEnded() }
    }

    /// A handshake has begun, before which there are no frames.
    package mutating func beganHandshake(at nowMilliseconds: Int64) {
        machine.beganHandshake(at: nowMilliseconds)
    }

    /// The handshake is over: frames of `peer` follow.
    package mutating func endedHandshake(with peer: PeerIdentity) {
        machine.endedHandshake()
        self.peer = peer
    }

    /// What came has no meaning: nothing more is taken, what is owed leaves.
    package mutating func refusedInput() {
        decoder.discard()
        machine.refusedInput()
    }

    /// Tells how many bytes the socket has not taken, after every attempt to write.
    package mutating func outputPending(byteCount: Int, at nowMilliseconds: Int64) {
        machine.outputPending(byteCount: byteCount, at: nowMilliseconds)
        calls.startHeavyRead(
            pendingOutputByteCount: byteCount,
            below: machine.limits.heavyReadOutputByteCountMax)
    }

    /// The output was ended, as `step` said.
    package mutating func outputEnded(at nowMilliseconds: Int64) {
        machine.outputEnded(at: nowMilliseconds)
    }

    /// Takes no new work: what is in flight is answered, then the connection ends.
    package mutating func drain() { machine.drain() }

    /// The socket is gone, or is given up. Calls that were taken may still be carried out; what
    /// becomes of them is nobody's any more.
    package mutating func closed() {
        machine.closed()
        decoder.discard()
        calls = CallQueue()
    }
}
