internal import Entitlements
internal import Service
internal import SnapshotTable
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
            answered = answerBatch(envelope, body, isOverLimit: isOverLimit, &output)
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
            try authorize(body.extracting(envelope.apiKey), for: .checkAccess)
            let place = try place(of: envelope.check, body)
            let batch = access.batch()
            guard envelope.check.minRevision <= batch.revision else { return false }
            meter?.beginBatch()
            let now = batchMilliseconds
            try withCatalog { (catalog) throws(Refusal) in
                let step = CheckStep(batch: batch, nowMilliseconds: now)
                try answer(
                    envelope.check, place, body, envelope.id, in: step, under: catalog, &output)
            }
            meter?.countBatch()
            counts.answered(.checkAccess)
        } catch {
            refuse(envelope.id, error, &output)
        }
        return true
    }

    /// Answers the checks in `checks`, all of one revision; false where one's is still to come.
    private func answerBatch(
        _ envelope: CheckEnvelope, _ body: Span<UInt8>, isOverLimit: Bool,
        _ output: inout OutputBuffer
    ) -> Bool {
        do throws(Refusal) {
            if isDraining { throw .draining }
            try authorize(body.extracting(envelope.apiKey), for: .checkAccessBatch)
            if isOverLimit { throw .batchTooLarge(limits) }
            var minRevision: UInt64 = 0
            for check in checks {
                _ = try place(of: check, body)
                minRevision = max(minRevision, check.minRevision)
            }
            guard minRevision <= access.revision else { return false }
            let revision = try access.consistently { (revision) throws(Refusal) in
                try askAll(checks, body)
                return revision
            }
            // Id, revision and lengths take less than 64 bytes.
            guard results.count + 64 <= limits.frameByteCountMax else {
                throw .answerTooLarge(limits)
            }
            Self.appendBatch(envelope.id, results, revision, to: &output)
            counts.answered(.checkAccessBatch)
            meter?.countBatch()
        } catch {
            refuse(envelope.id, error, &output)
        }
        return true
    }

    /// Asks the checks of a batch, from the first one on. It may run again: what is granted counts
    /// once the batch is answered.
    private func askAll(_ checks: [CheckFields], _ body: Span<UInt8>) throws(Refusal) {
        results.removeAll()
        meter?.beginBatch()
        var start = 0
        while start < checks.count {
            let end = min(start + CheckRun.countMax, checks.count)
            try askTogether(checks.span.extracting(start..<end), body, &stages)
            start = end
        }
    }

    /// Asks some of the checks, all of which can be asked, step by step.
    private func askTogether(
        _ checks: Span<CheckFields>, _ body: Span<UInt8>, _ stages: inout CheckStages
    ) throws(Refusal) {
        let step = CheckStep(batch: access.batch(), nowMilliseconds: batchMilliseconds)
        pose(checks, body, upTo: step.batch.revision, into: &stages.questions)
        for index in checks.indices {
            if index.isMultiple(of: CustomerTable.stepCount) {
                let end = min(index + CustomerTable.stepCount, checks.count)
                decide(
                    index..<end, of: checks.count, stages.questions, body, in: step,
                    into: &stages.verdicts)
            }
            let (check, verdict) = (checks[index], stages.verdicts[index])
            if verdict.isAnswered {
                let scope = ScopeIndex(value: stages.questions[index].world)
                counts.decided(scope, verdict.reason)
                appendResult(
                    CheckAnswer(verdict, revision: step.batch.revision), to: check, in: scope,
                    body.extracting(check.subject), verdict.transactionID,
                    verdict.originalTransactionID)
                continue
            }
            let place = try place(of: check, body)
            try withCatalog { (catalog) throws(Refusal) in
                try ask(check, place, body, in: step, under: catalog) {
                    answer, product, transaction, original in
                    appendResult(
                        answer, to: check, in: place.scope, product, transaction, original)
                }
            }
        }
    }

    private func appendResult(
        _ answer: CheckAnswer, to check: CheckFields, in scope: ScopeIndex,
        _ product: Span<UInt8>, _ transaction: Span<UInt8>, _ original: Span<UInt8>
    ) {
        CheckAnswerCodec.appendResult(
            answer, product: product, transaction: transaction, original: original, to: &results)
        guard answer.granted, check.atMilliseconds == 0 else { return }
        meter?.note(transaction, in: scope, units: check.units)
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
