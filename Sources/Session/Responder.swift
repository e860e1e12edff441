package import Authorization
package import Service
internal import SnapshotTable
package import Wire

/// Answers the connections of one loop.
///
/// Checks are answered where they are read: no allocation, no lock, no change of thread. All else
/// is validated here and leaves as a `PendingCall`. One per loop, on that loop's thread.
package final class Responder {
    let access: AccessReader
    let reader: ReaderSlot
    let limits: Limits
    let identity: ServerIdentity
    /// Counts what is granted; nil: nobody does.
    package let meter: UsageMeter?
    let arena = MessageArena()
    /// Checks of their own frames, being answered together.
    let run = CheckRun()
    /// What is asked of memory for them, and what it says.
    var stages = CheckStages()
    /// The checks of the batch being answered.
    var checks: [CheckFields] = []
    /// Their answers.
    var results = OutputBuffer()
    /// A token in lower case.
    var token = OutputBuffer(capacity: Identifier.byteCountMax)
    /// What the wall clock said when the batch at hand was read, in ms since 1970.
    var batchMilliseconds: Int64 = 0
    /// A strangely encoded request in the usual encoding.
    var rewritten = OutputBuffer()

    /// Where the ring of now hangs; the loop's own reference to it is `ring`.
    let keys: KeyBoard
    var ring: KeyRing
    var ringGeneration: UInt64
    /// Whether callers are asked who they are.
    var isGuarded: Bool
    /// Who calls on the connection at hand: it is here while its batch is answered.
    var caller = Caller()
    /// Where calls are written down; nil: nowhere.
    let audit: AuditTrail?
    var deniedBudget = DeniedBudget()

    /// What was answered.
    package let counts: CallCounter
    /// What the frame at hand asks for, where it is no check of its own; for `counts`.
    var method = CallMethod.checkAccess
    /// The monotonic clock when the batch at hand began, in microseconds; the transport sets it.
    package var batchMicroseconds: UInt64 = 0

    /// Whether the server is going down: every new request is refused with DRAINING.
    package var isDraining = false

    /// A responder of one loop; it takes one of the places that the service has for readers.
    package init(
        access: AccessReader, limits: Limits, identity: ServerIdentity, meter: UsageMeter? = nil,
        counts: CallCounter = CallCounter(), keys: KeyBoard = KeyBoard(),
        audit: AuditTrail? = nil
    ) {
        limits.precheck()
        self.access = access
        self.meter = meter
        reader = access.table.makeReader()
        self.limits = limits
        self.identity = identity
        self.counts = counts
        self.keys = keys
        self.audit = audit
        ringGeneration = keys.generation
        ring = keys.ring
        isGuarded = !ring.isOpen
    }

    /// Takes every whole frame of `input`, and of what the connection holds, and answers.
    package func received(
        _ input: Span<UInt8>, on connection: inout ClientConnection,
        output: inout OutputBuffer, at nowMilliseconds: Int64
    ) {
        guard !connection.machine.discardsInput else { return connection.decoder.discard() }
        // One batch of reads of the table, and one look at the clock, per batch of requests.
        lookAtClock()
        lookAtKeys()
        beginCaller(&connection)
        defer { endCaller(&connection) }
        access.table.beginReading(reader)
        defer { access.table.endReading(reader) }
        do throws(WireError) {
            var position = 0
            let isHeldBack = try answerFrames(
                of: input, from: &position, &connection.decoder, &connection.machine,
                &connection.calls, &output, nowMilliseconds)
            connection.hold(input, from: position, isHeldBack: isHeldBack, at: nowMilliseconds)
        } catch {
            refuseInput(Refusal(error), on: &connection, &output)
        }
    }

    /// Goes on with frames that were held back; see `ClientConnection.shouldResume`.
    package func resume(
        _ connection: inout ClientConnection, output: inout OutputBuffer,
        at nowMilliseconds: Int64
    ) {
        received(Span(), on: &connection, output: &output, at: nowMilliseconds)
    }

    /// The peer ended its output. What it sent whole is answered, what it sent in part is not.
    package func inputEnded(
        on connection: inout ClientConnection, output: inout OutputBuffer,
        at nowMilliseconds: Int64
    ) {
        connection.machine.inputEnded()
        received(Span(), on: &connection, output: &output, at: nowMilliseconds)
    }

    /// A call came back, carried out or refused; `frame` is what `ReplyEncoder` made of it.
    package func completed(
        _ tag: CallTag, frame: [UInt8], on connection: inout ClientConnection,
        output: inout OutputBuffer
    ) {
        let code = ReplyStatus.code(of: frame)
        count(tag, code: code)
        // Nothing else is denied beside the loops.
        if code == Int(StatusCode.permissionDenied.rawValue) {
            access.counters.count(.appNotAllowed)
        }
        if let audited = tag.audited {
            let number =
                tag.method == .forgetCustomer ? ReplyStatus.forgottenNumber(of: frame) : 0
            write(
                audited, code: Int32(truncatingIfNeeded: code),
                reason: ReplyStatus.reason(of: frame),
                target: number == 0 ? nil : "number:\(number)")
        }
        guard connection.machine.state != .closed else { return }
        output.append(frame.span)
        connection.ended(tag)
    }

    /// A call was not taken, or is not waited for any more.
    package func refused(
        _ tag: CallTag, _ refusal: Refusal, on connection: inout ClientConnection,
        output: inout OutputBuffer
    ) {
        guard connection.machine.state != .closed else { return }
        refuse(tag, refusal, &output)
        connection.ended(tag)
    }

    /// Answers the parked checks whose revision is there.
    package func revisionMoved(
        on connection: inout ClientConnection, output: inout OutputBuffer,
        at nowMilliseconds: Int64
    ) {
        let checks = connection.calls.takeParked(upTo: access.revision)
        guard !checks.isEmpty else { return }
        lookAtClock()
        lookAtKeys()
        beginCaller(&connection)
        defer { endCaller(&connection) }
        access.table.beginReading(reader)
        defer { access.table.endReading(reader) }
        for check in checks {
            connection.machine.answered(byteCount: check.body.count)
            do throws(WireError) {
                try answer(
                    check.body.span, &connection.machine, &connection.calls, &output,
                    nowMilliseconds)
            } catch {
                refuse(check.requestID, Refusal(error), &output)
            }
        }
    }

    /// What was answered at once since the batch began has left.
    ///
    /// - Parameter microseconds: The monotonic clock.
    package func batchEnded(atMicroseconds microseconds: UInt64) {
        counts.batchEnded(microseconds: microseconds &- min(batchMicroseconds, microseconds))
    }

    /// Applies the deadlines that have come.
    package func expire(
        _ connection: inout ClientConnection, output: inout OutputBuffer,
        at nowMilliseconds: Int64
    ) {
        if connection.machine.expire(at: nowMilliseconds) == .frame {
            refuseInput(.frameDeadline(limits), on: &connection, &output)
        }
        guard connection.machine.state != .closed else { return connection.closed() }
        for check in connection.calls.takeParked(dueAt: nowMilliseconds) {
            refuse(check.requestID, .revisionNotReached(check.minRevision), &output)
            connection.machine.answered(byteCount: check.body.count)
        }
        for call in connection.calls.takeDeferred(dueAt: nowMilliseconds) {
            refuse(call.tag, .deadline, &output)
            connection.machine.answered(byteCount: call.tag.byteCount)
        }
    }
}

extension Responder {
    /// The connection's caller comes here for the time of a batch, and goes back: so what answers
    /// its frames need not be handed it from call to call.
    private func beginCaller(_ connection: inout ClientConnection) {
        if isGuarded || audit != nil { swap(&caller, &connection.caller) }
    }

    private func endCaller(_ connection: inout ClientConnection) {
        guard isGuarded || audit != nil else { return }
        swap(&caller, &connection.caller)
        if connection.caller.isShutOut { connection.machine.refusedInput() }
    }

    private func lookAtClock() {
        batchMilliseconds = access.nowMilliseconds
        meter?.setTime(batchMilliseconds)
    }

    /// Takes frame after frame, as long as there are whole ones and they may be taken.
    ///
    /// - Returns: whether it stopped because the next one may not be taken yet.
    private func answerFrames(
        of input: Span<UInt8>, from position: inout Int, _ decoder: inout FrameDecoder,
        _ machine: inout ConnectionStateMachine, _ calls: inout CallQueue,
        _ output: inout OutputBuffer, _ nowMilliseconds: Int64
    ) throws(WireError) -> Bool {
        let outputStart = output.count
        while true {
            answerRuns(
                run, of: input, from: &position, decoder, &machine, &output,
                outputStart: outputStart)
            guard machine.mayTakeFrame(newOutputByteCount: output.count - outputStart) else {
                return true
            }
            guard let body = try decoder.next(in: input, from: &position) else { return false }
            machine.tookFrame()
            try answer(
                decoder.bytes(of: body, in: input), &machine, &calls, &output, nowMilliseconds)
            // Too many without a key: what is owed still leaves, nothing more is taken.
            if caller.isShutOut { machine.refusedInput() }
        }
    }

    /// Answers bytes that are no frame or message with id 0; nothing more is taken after it.
    private func refuseInput(
        _ refusal: Refusal, on connection: inout ClientConnection, _ output: inout OutputBuffer
    ) {
        method = .other
        defer { method = .checkAccess }
        refuse(0, refusal, &output)
        connection.decoder.discard()
        connection.machine.refusedInput()
    }

    /// Appends the refusal of a call that had left the loop, or was about to.
    private func refuse(_ tag: CallTag, _ refusal: Refusal, _ output: inout OutputBuffer) {
        access.counters.count(refusal.reason)
        count(tag, code: Int(refusal.status.rawValue))
        if let audited = tag.audited {
            write(audited, code: refusal.status.rawValue, reason: refusal.reason.rawValue)
        }
        ReplyMapping.appendRefusal(tag.requestID, refusal, to: &output, in: arena)
    }

    private func count(_ tag: CallTag, code: Int) {
        counts.completed(
            tag.method, code: code,
            microseconds: batchMicroseconds &- min(tag.startedMicroseconds, batchMicroseconds))
    }

    /// Appends a refusal.
    func refuse(_ requestID: UInt64, _ refusal: Refusal, _ output: inout OutputBuffer) {
        access.counters.count(refusal.reason)
        counts.answered(method, refusal.status)
        if refusal.reason.isAboutCaller { denied(requestID, refusal) }
        ReplyMapping.appendRefusal(requestID, refusal, to: &output, in: arena)
    }
}
