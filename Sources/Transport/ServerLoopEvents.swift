internal import EventLoop
internal import Service
internal import Session
internal import Storage
internal import Synchronization
internal import Wire

// MARK: - Messages of other threads

extension ServerLoop {
    /// Handles what other threads said, in order.
    func received(_ messages: [LoopMessage]) {
        clockIsOld()
        beginBatch()
        defer { responder.batchEnded(atMicroseconds: responder.batchMicroseconds) }
        // Answers for one connection that follow each other leave with one write.
        var unsettled: ConnectionHandler?
        for message in messages {
            guard case .completed(let ticket, let frame) = message else {
                unsettled?.settle()
                unsettled = nil
                handle(message)
                continue
            }
            guard let call = calls.removeValue(forKey: ticket.callID),
                let handler = connections[call.connectionID]
            else { continue }
            if let other = unsettled, other !== handler { other.settle() }
            handler.callIDs.remove(ticket.callID)
            responder.completed(
                call.tag, frame: frame, on: &handler.session, output: &output)
            unsettled = handler
        }
        unsettled?.settle()
        restIfIdle()
    }

    private func handle(_ message: LoopMessage) {
        switch message {
        case .completed: break
        case .revisionReached: revisionReached()
        case .pulse: parts.port.pulse.answer()
        case .drain(let graceMilliseconds): drain(graceMilliseconds: graceMilliseconds)
        case .stop: stop()
        }
    }

    // MARK: Revisions

    private func revisionReached() {
        for id in awaiting {
            guard let handler = connections[id] else { continue }
            responder.revisionMoved(
                on: &handler.session, output: &output, at: nowMilliseconds)
            // Says anew whether it waits.
            handler.settle()
        }
        announceAwaited()
    }

    /// Tells the commit thread what this loop waits for.
    private func announceAwaited() {
        var lowest = UInt64.max
        for id in awaiting {
            lowest = min(lowest, connections[id]?.awaitedRevision ?? .max)
        }
        parts.port.awaitRevision(lowest)
        // A commit between the check and the store above has woken nobody.
        if lowest <= parts.access.revision { parts.port.announce(revision: lowest) }
    }
}

// MARK: - Deadlines

extension ServerLoop {
    /// Sees to what a connection waits for; after every event of it. Most wait for nothing.
    func watch(_ handler: ConnectionHandler, _ session: borrowing ClientConnection) {
        if let deadline = session.nextDeadlineMilliseconds {
            arm(handler, atMilliseconds: deadline)
        }
        let revision = session.awaitedRevision
        if revision != nil || handler.awaitedRevision != nil { note(revision, awaitedBy: handler) }
        flusher?.watch()
    }

    private func arm(_ handler: ConnectionHandler, atMilliseconds deadline: Int64) {
        guard deadline < handler.armedDeadline ?? .max else { return }
        if handler.armedDeadline == nil { armedConnectionCount += 1 }
        handler.armedDeadline = deadline
        deadlines.insert(.connection(handler.id), atMilliseconds: deadline)
        startTimer()
    }

    private func note(_ revision: UInt64?, awaitedBy handler: ConnectionHandler) {
        handler.awaitedRevision = revision
        if revision == nil {
            awaiting.remove(handler.id)
        } else {
            awaiting.insert(handler.id)
            announceAwaited()
        }
    }

    /// Brings the timer to the earliest deadline.
    func startTimer() {
        guard let earliest = deadlines.earliestMilliseconds, earliest < timerDeadline ?? .max
        else { return }
        timerDeadline = earliest
        deadlineTimer?.start(afterMilliseconds: UInt64(max(1, earliest - nowMilliseconds)))
    }

    /// Stops the timer when nothing is in flight: at idle nothing wakes the loop.
    private func restIfIdle() {
        guard calls.isEmpty, armedConnectionCount == 0, timerDeadline != nil else { return }
        deadlines.removeAll()
        timerDeadline = nil
        deadlineTimer?.stop()
    }

    func timerFired() {
        timerDeadline = nil
        clockIsOld()
        beginBatch()
        while let key = deadlines.popDue(atMilliseconds: nowMilliseconds) {
            switch key {
            case .call(let callID): expireCall(callID)
            case .connection(let id): expireConnection(id)
            }
        }
        endBatch()
        startTimer()
        restIfIdle()
    }

    private func expireCall(_ callID: UInt64) {
        guard let call = calls[callID], let handler = connections[call.connectionID],
            call.claim.abandon()
        else { return }
        calls.removeValue(forKey: callID)
        handler.callIDs.remove(callID)
        parts.counters.expiredCalls.add(1, ordering: .relaxed)
        let refusal = Refusal(.deadline, "the deadline came before the call was carried out")
        responder.refused(call.tag, refusal, on: &handler.session, output: &output)
        handler.settle()
    }

    private func expireConnection(_ id: UInt64) {
        guard let handler = connections[id], let armed = handler.armedDeadline,
            armed <= nowMilliseconds
        else { return }
        handler.armedDeadline = nil
        armedConnectionCount -= 1
        responder.expire(&handler.session, output: &output, at: nowMilliseconds)
        handler.settle()
    }
}

// MARK: - The end

extension ServerLoop {
    /// How long idle connections are kept when draining: a request that was on its way is told
    /// DRAINING, and not left with a closed connection.
    private static var idleDrainMilliseconds: UInt64 { 250 }

    private func drain(graceMilliseconds: UInt64) {
        guard state == .serving else { return }
        state = .draining
        responder.isDraining = true
        closeListeners()
        if connections.isEmpty { return end() }
        after(min(Self.idleDrainMilliseconds, graceMilliseconds / 2)) { loop in
            for handler in loop.connections.values {
                handler.session.drain()
                handler.settle()
            }
        }
        after(graceMilliseconds) { loop in loop.stop() }
    }

    private func after(_ milliseconds: UInt64, _ body: @escaping (ServerLoop) -> Void) {
        do throws(UVError) {
            let timer = try Timer(loop: loop) { [unowned self] in body(self) }
            timer.start(afterMilliseconds: milliseconds)
            drainTimers.append(timer)
        } catch {
            // Without a timer there is no grace.
            body(self)
        }
    }

    private func closeListeners() {
        for listener in listeners { listener.close() }
        listeners = []
    }

    /// Closes everything as it is.
    private func stop() {
        guard state != .ended else { return }
        closeListeners()
        for handler in connections.values { handler.close() }
        end()
    }

    func end() {
        guard state != .ended else { return }
        state = .ended
        deadlineTimer?.close()
        handshakes.close()
        for timer in drainTimers { timer.close() }
        drainTimers = []
        flusher?.end()
        loop.stop()
        parts.onEnd()
    }
}
