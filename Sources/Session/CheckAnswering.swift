internal import Entitlements
internal import Service
internal import Storage
internal import Wire

extension Responder {
    /// Answers one frame's body, or sends it on its way.
    ///
    /// - Throws: `WireError` where the body is no message, or unpacks to too much.
    func answer(
        _ body: Span<UInt8>, _ machine: inout ConnectionStateMachine, _ calls: inout CallQueue,
        _ output: inout OutputBuffer, _ nowMilliseconds: Int64
    ) throws(WireError) {
        var envelope = CheckEnvelope()
        var isOverLimit = false
        let answered: Bool
        if CheckAccessCodec.decode(body, into: &envelope) {
            answered = answerCheck(envelope, body, &output)
        } else if CheckBatchCodec.decode(
            body, countMax: limits.batchCountMax, into: &envelope, checks: &checks,
            isOverLimit: &isOverLimit)
        {
            method = .checkAccessBatch
            defer { method = .checkAccess }
            answered = answerBatch(envelope.id, body, isOverLimit: isOverLimit, &output)
            envelope.check.minRevision = checks.lazy.map(\.minRevision).max() ?? 0
        } else {
            return try answerOther(body, &machine, &calls, &output, nowMilliseconds)
        }
        if !answered { park(envelope, body, &machine, &calls, &output, nowMilliseconds) }
    }

    /// Answers one check; false where its revision is still to come.
    private func answerCheck(
        _ envelope: CheckEnvelope, _ body: Span<UInt8>, _ output: inout OutputBuffer
    ) -> Bool {
        do throws(Refusal) {
            if isDraining { throw .draining }
            let scope = try checkedScope(envelope.check, body)
            // A load of the revision for those who ask for one.
            if envelope.check.minRevision > 0, envelope.check.minRevision > access.revision {
                return false
            }
            let id = envelope.id
            let units = envelope.check.units
            let isOfNow = envelope.check.atMilliseconds == 0
            try ask(envelope.check, scope, body) { answer, product, transaction, original in
                CheckAnswerCodec.appendFrame(
                    id: id, answer, product: product, transaction: transaction, original: original,
                    to: &output)
                if isOfNow, answer.granted { meter?.count(transaction, in: scope, units: units) }
            }
            counts.answered(.checkAccess)
        } catch {
            refuse(envelope.id, error, &output)
        }
        return true
    }

    /// Answers the checks in `checks`, all of one revision; false where one's is still to come.
    private func answerBatch(
        _ requestID: UInt64, _ body: Span<UInt8>, isOverLimit: Bool, _ output: inout OutputBuffer
    ) -> Bool {
        do throws(Refusal) {
            if isDraining { throw .draining }
            if isOverLimit { throw .batchTooLarge(limits) }
            var minRevision: UInt64 = 0
            for check in checks {
                _ = try checkedScope(check, body)
                minRevision = max(minRevision, check.minRevision)
            }
            guard minRevision <= access.revision else { return false }
            let revision = try access.consistently { (revision) throws(Refusal) in
                try askAll(body)
                return revision
            }
            // Id, revision and lengths take less than 64 bytes.
            guard results.count + 64 <= limits.frameByteCountMax else {
                throw .answerTooLarge(limits)
            }
            Self.appendBatch(requestID, results, revision, to: &output)
            counts.answered(.checkAccessBatch)
            meter?.countBatch()
        } catch {
            refuse(requestID, error, &output)
        }
        return true
    }

    /// Asks the checks in `checks`, from the first one on. It may run again: what is granted counts
    /// once the batch is answered.
    private func askAll(_ body: Span<UInt8>) throws(Refusal) {
        results.removeAll()
        meter?.beginBatch()
        for check in checks {
            let scope = try checkedScope(check, body)
            let isOfNow = check.atMilliseconds == 0
            try ask(check, scope, body) { answer, product, transaction, original in
                CheckAnswerCodec.appendResult(
                    answer, product: product, transaction: transaction, original: original,
                    to: &results)
                if isOfNow, answer.granted {
                    meter?.note(transaction, in: scope, units: check.units)
                }
            }
        }
    }

    private static func appendBatch(
        _ requestID: UInt64, _ results: borrowing OutputBuffer, _ revision: UInt64,
        to output: inout OutputBuffer
    ) {
        CheckAnswerCodec.appendBatchFrame(
            id: requestID, results: results.bytes, revision: revision, to: &output)
    }

    /// Keeps a check until its revision is there.
    private func park(
        _ envelope: CheckEnvelope, _ body: Span<UInt8>, _ machine: inout ConnectionStateMachine,
        _ calls: inout CallQueue, _ output: inout OutputBuffer, _ nowMilliseconds: Int64
    ) {
        let isFull = calls.parkedByteCount + body.count > limits.parkedByteCountMax
        guard machine.hasRoomInFlight, !isFull else {
            return refuse(envelope.id, .tooManyInFlight, &output)
        }
        machine.began(byteCount: body.count)
        calls.park(
            CallQueue.Parked(
                requestID: envelope.id, minRevision: envelope.check.minRevision,
                deadlineMilliseconds: limits.deadline(
                    timeoutMilliseconds: envelope.timeoutMilliseconds, at: nowMilliseconds),
                body: Text(copying: body).bytes))
    }
}

// MARK: - One check

extension Responder {
    /// Applies the contract's rules to a check and finds its scope.
    private func checkedScope(
        _ check: CheckFields, _ body: Span<UInt8>
    ) throws(Refusal) -> ScopeIndex {
        guard check.customerKind != .none, Identifier.isValid(body.extracting(check.customer))
        else { throw .invalidCustomer }
        guard check.subjectKind != .none else { throw .missingSubject }
        guard Identifier.isValid(body.extracting(check.subject)) else { throw .invalidSubject }
        guard check.atMilliseconds >= 0 else { throw .negativeInstant }
        let bundleID = body.extracting(check.bundleID)
        guard let scope = access.scopeIndex(bundleID: bundleID, environment: check.environment)
        else { throw .unknownScope }
        return scope
    }

    /// Puts a checked question to the service.
    private func ask(
        _ check: CheckFields, _ scope: ScopeIndex, _ body: Span<UInt8>,
        _ answered: (CheckAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(Refusal) {
        guard check.customerKind == .appAccountToken else {
            return try ask(check, scope, body, name: body.extracting(check.customer), answered)
        }
        // UUIDs compare without case; stored in lower case.
        token.removeAll()
        token.append(lowercasing: body.extracting(check.customer))
        try ask(check, scope, body, token: token, answered)
    }

    private func ask(
        _ check: CheckFields, _ scope: ScopeIndex, _ body: Span<UInt8>,
        token: borrowing OutputBuffer,
        _ answered: (CheckAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(Refusal) {
        try ask(check, scope, body, name: token.bytes, answered)
    }

    private func ask(
        _ check: CheckFields, _ scope: ScopeIndex, _ body: Span<UInt8>, name: Span<UInt8>,
        _ answered: (CheckAnswer, Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(Refusal) {
        let query = AccessQuery(
            scope: scope, kind: check.identityKind, name: name,
            subject: check.subjectKind == .entitlement ? .entitlement : .product,
            subjectName: body.extracting(check.subject), atMilliseconds: check.atMilliseconds,
            nowMilliseconds: batchMilliseconds)
        try access.checkAccess(query, reader: reader) { answer, product, transaction, original in
            counts.decided(scope, answer.reason)
            answered(
                CheckAnswer(
                    granted: answer.reason.isGranted, reason: Int32(answer.reason.rawValue),
                    ownership: Int32(answer.ownership.rawValue),
                    validUntilMilliseconds: answer.validUntil, revision: answer.revision),
                product, transaction, original)
        }
    }
}

extension CheckFields {
    /// The kind of name that the customer is given by.
    fileprivate var identityKind: IdentityKind {
        switch customerKind {
        case .none, .customerID: .customer
        case .appAccountToken: .appAccountToken
        case .appTransactionID: .appTransaction
        case .originalTransactionID: .originalTransaction
        }
    }
}

extension OutputBuffer {
    /// Appends `bytes` with A to Z as a to z.
    fileprivate mutating func append(lowercasing bytes: Span<UInt8>) {
        for index in bytes.indices {
            let byte = bytes[index]
            append(0x41...0x5A ~= byte ? byte | 0x20 : byte)
        }
    }
}
