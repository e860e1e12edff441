internal import Service
internal import Storage
internal import Wire

extension Responder {
    /// Answers or dispatches what the span codecs left to protobuf-c.
    ///
    /// - Throws: `WireError` where the body is no message.
    func answerOther(
        _ body: Span<UInt8>, _ machine: inout ConnectionStateMachine, _ calls: inout CallQueue,
        _ output: inout OutputBuffer, _ nowMilliseconds: Int64
    ) throws(WireError) {
        let request: Request
        defer { method = .checkAccess }
        method = .other
        do throws(WireError) {
            request = try Request(decoding: body, in: arena)
        } catch {
            guard case .messageTooComplex(let id, _) = error else { throw error }
            return refuse(id, Refusal(error), &output)
        }
        method = CallMethod(request.call)
        do throws(Refusal) {
            if isDraining { throw .draining }
            try authorize(request.apiKey.bytes.span, for: method)
            switch request.call {
            case nil:
                throw .unknownCall
            case .getServerInfo:
                appendServerInfo(request.id, to: &output)
            case .checkAccess, .checkAccessBatch:
                try answerRewritten(request, &machine, &calls, &output, nowMilliseconds)
            case .some(let call):
                try dispatch(request, call, body.count, &machine, &calls, nowMilliseconds)
            }
        } catch {
            auditRefused(request, error)
            refuse(request.id, error, &output)
        }
    }

    /// Answers checks in a strange encoding: writes them in the usual one and starts again.
    private func answerRewritten(
        _ request: Request, _ machine: inout ConnectionStateMachine, _ calls: inout CallQueue,
        _ output: inout OutputBuffer, _ nowMilliseconds: Int64
    ) throws(Refusal) {
        do throws(WireError) {
            rewritten.removeAll()
            // A negative number may grow by five bytes; nothing else does.
            try request.encodeFrame(
                into: &rewritten, in: arena, frameByteCountMax: 2 * limits.frameByteCountMax)
            try answer(frame: rewritten, &machine, &calls, &output, nowMilliseconds)
        } catch {
            throw Refusal(error)
        }
    }

    private func answer(
        frame: borrowing OutputBuffer, _ machine: inout ConnectionStateMachine,
        _ calls: inout CallQueue, _ output: inout OutputBuffer, _ nowMilliseconds: Int64
    ) throws(WireError) {
        let bytes = frame.bytes
        let body = bytes.extracting(FrameDecoder.prefixByteCount..<bytes.count)
        var envelope = CheckEnvelope()
        var isOverLimit = false
        let isUsual =
            CheckAccessCodec.decode(body, into: &envelope)
            || CheckBatchCodec.decode(
                body, countMax: 0, into: &envelope, checks: &checks, isOverLimit: &isOverLimit)
        // Without this a fault in a codec would go round and round.
        precondition(isUsual, "the span codecs read what protobuf-c writes")
        try answer(body, &machine, &calls, &output, nowMilliseconds)
    }

    /// Sends a call on its way to other threads.
    private func dispatch(
        _ request: Request, _ call: Request.Call, _ byteCount: Int,
        _ machine: inout ConnectionStateMachine, _ calls: inout CallQueue, _ nowMilliseconds: Int64
    ) throws(Refusal) {
        guard machine.hasRoomInFlight else { throw .tooManyInFlight }
        let validation = CallValidation(
            frameByteCountMax: limits.frameByteCountMax,
            isAppStoreConfigured: access.isAppStoreConfigured,
            nowMilliseconds: batchMilliseconds, scopeIndex: access.scopeIndex,
            allows: allows, isLimited: isLimited)
        guard let sessionCall = try validation.sessionCall(call) else { throw .unknownCall }
        var tag = CallTag(
            requestID: request.id, byteCount: byteCount, isHeavyRead: sessionCall.isHeavyRead,
            method: method, startedMicroseconds: batchMicroseconds)
        tag.audited = auditedCall(request, call)
        machine.began(byteCount: byteCount)
        calls.add(
            PendingCall(
                tag: tag,
                deadlineMilliseconds: limits.deadline(
                    timeoutMilliseconds: request.timeoutMilliseconds, at: nowMilliseconds),
                call: sessionCall, allowedScopes: allowedScopes))
        calls.startHeavyRead(
            pendingOutputByteCount: machine.pendingOutputByteCount,
            below: limits.heavyReadOutputByteCountMax)
    }

    private func appendServerInfo(_ requestID: UInt64, to output: inout OutputBuffer) {
        var info = access.serverInfo()
        if let allowedScopes {
            // What is counted is counted over all apps.
            info.scopes = allowedScopes
            info.customerCount = 0
            info.transactionCount = 0
        }
        let response = Response(
            id: requestID, result: .getServerInfo(ReplyMapping.serverInfo(info, identity)))
        ReplyMapping.append(response, to: &output, in: arena, limits)
        counts.answered(.getServerInfo)
    }
}

extension SessionCall {
    /// Whether it reads a whole customer, or a list, and changes nothing.
    fileprivate var isHeavyRead: Bool {
        switch self {
        case .read: true
        // Waits for Apple and answers with little: it holds up nothing that follows.
        case .remote: false
        case .write(.rebuild(let request)): request.isDryRun
        case .write: false
        }
    }
}
