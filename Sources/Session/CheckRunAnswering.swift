internal import Entitlements
internal import Service
internal import SnapshotTable
internal import Wire

// Pipelined checks, answered together.
//
// A read of a busy connection holds dozens of requests, nearly all of them single checks. They are
// taken up to `CheckRun.countMax` at a time and go through loops over plain memory, each of them
// within one module:
//
//   1. read and judge the frames
//   2. put down what memory is asked, and bring the table's slots close
//   3. a few at a time: bring the next ones' snapshots close, decide, write the answers, and bring
//      close where the use is counted
//   4. count the use
//
// What memory does not say is asked one by one, as a check that comes alone in another form.
//
// Answers, their order, and where taking frames ends are those of one frame after the other: the
// output's mark is looked at before each answer, and what is not answered is not taken. Any other
// frame, and a check that must wait for its revision, ends the run.

/// Memory for the questions of a run, and for what is said to them; used for every run.
struct CheckStages {
    var questions = [ProductQuestion](repeating: ProductQuestion(), count: CheckRun.countMax)
    var verdicts = [ProductVerdict](repeating: ProductVerdict(), count: CheckRun.countMax)
}

extension Responder {
    /// Takes and answers runs of checks that lie whole in `input`, from `position` on.
    ///
    /// It ends where something else comes, or where no frame may be taken; `answerFrames` goes on.
    func answerRuns(
        _ run: borrowing CheckRun, of input: Span<UInt8>, from position: inout Int,
        _ decoder: borrowing FrameDecoder, _ machine: inout ConnectionStateMachine,
        _ output: inout OutputBuffer, outputStart: Int
    ) {
        guard !isDraining else { return }
        while true {
            let count = decoder.gather(input, from: position, into: run)
            guard count > 0 else { return }
            let answeredCount = answer(
                run, count, input, &machine, &output, outputStart: outputStart, &stages)
            guard answeredCount > 0 else { return }
            if caller.isShutOut { machine.refusedInput() }
            position = run.frames[answeredCount - 1].end
            machine.tookFrame()
            guard answeredCount == CheckRun.countMax else { return }
        }
    }

    /// Answers the checks of a run, in order.
    ///
    /// - Returns: how many; the others are not taken.
    private func answer(
        _ run: borrowing CheckRun, _ count: Int, _ input: Span<UInt8>,
        _ machine: inout ConnectionStateMachine, _ output: inout OutputBuffer, outputStart: Int,
        _ stages: inout CheckStages
    ) -> Int {
        // Before the first look at the table: whatever is found there is of it or newer.
        let step = CheckStep(batch: access.batch(), nowMilliseconds: batchMilliseconds)
        let checks = run.checks.extracting(0..<count)
        let frames = run.frames
        pose(checks, input, upTo: step.batch.revision, into: &stages.questions)
        for index in 0..<count {
            if case .none = frames[index].fault { continue }
            stages.questions[index].isForMemory = false
        }
        if isGuarded { authorizeRun(frames, count, input, &stages.questions) }
        meter?.beginBatch()
        var (index, refusedCount) = (0, 0)
        while index < count {
            let range = index..<min(index + CustomerTable.stepCount, count)
            decide(
                range, of: count, stages.questions, input, in: step, into: &stages.verdicts)
            while index < range.upperBound,
                machine.mayTakeFrame(newOutputByteCount: output.count &- outputStart)
            {
                let (frame, check) = (frames[index], checks[index])
                if stages.verdicts[index].isAnswered {
                    append(stages, index, frame.requestID, check, input, step, &output)
                } else if check.minRevision > step.batch.revision, case .none = frame.fault {
                    break
                } else if !answerAlone(frame, check, input, in: step, &output) {
                    refusedCount &+= 1
                }
                index &+= 1
            }
            let answered = range.lowerBound..<index
            meter?.note(stages.questions.span, stages.verdicts.span, answered)
            if index < range.upperBound { break }
        }
        meter?.countBatch()
        let answeredCount = index &- refusedCount
        if answeredCount > 0 { counts.answered(.checkAccess, count: answeredCount) }
        return index
    }

    /// Writes what memory said to the check at `index`.
    @inline(__always)
    private func append(
        _ stages: borrowing CheckStages, _ index: Int, _ requestID: UInt64, _ check: CheckFields,
        _ input: Span<UInt8>, _ step: CheckStep, _ output: inout OutputBuffer
    ) {
        let verdict = stages.verdicts[index]
        counts.decided(ScopeIndex(value: stages.questions[index].world), verdict.reason)
        CheckAnswerCodec.appendFrame(
            id: requestID, CheckAnswer(verdict, revision: step.batch.revision),
            product: input.extracting(check.subject), transaction: verdict.transactionID,
            original: verdict.originalTransactionID, to: &output)
    }

    /// Answers a check as if it had come alone; false where it was refused.
    private func answerAlone(
        _ frame: CheckRun.Frame, _ check: CheckFields, _ input: Span<UInt8>, in step: CheckStep,
        _ output: inout OutputBuffer
    ) -> Bool {
        do throws(Refusal) {
            try authorize(input.extracting(frame.apiKey), for: .checkAccess)
            let place = try place(of: check, input)
            try withCatalog { (catalog) throws(Refusal) in
                try answer(
                    check, place, input, frame.requestID, in: step, under: catalog, &output)
            }
            return true
        } catch {
            refuse(frame.requestID, error, &output)
            return false
        }
    }
}

// MARK: - The steps of one run

extension Responder {
    /// Puts down what memory can be asked: about a product of a customer who is called by his own
    /// name, from a revision that is there. Brings the slots close where he will be found.
    ///
    /// Whether a check is faulty is not asked here: what is said to it is not used.
    func pose(
        _ checks: Span<CheckFields>, _ text: Span<UInt8>, upTo revision: UInt64,
        into questions: inout [ProductQuestion]
    ) {
        var questions = questions.mutableSpan
        let table = access.table
        var world = KnownWorld()
        for index in checks.indices {
            let check = checks[index]
            questions[index].isForMemory = false
            guard case .customerID = check.customerKind, case .product = check.subjectKind,
                check.minRevision <= revision, check.hasShortNames
            else { continue }
            if !world.isAsked(by: check, text) { world = self.world(of: check, text) }
            guard world.index >= 0 else { continue }
            let hash = table.hash(scope: world.number, name: text.extracting(check.customer))
            table.prefetchSlot(hash)
            questions[index].ask(check, in: world, hash: hash)
        }
    }

    /// Lets memory answer the questions at `range`, and brings what those behind them need close.
    func decide(
        _ range: Range<Int>, of count: Int, _ questions: [ProductQuestion], _ text: Span<UInt8>,
        in step: CheckStep, into verdicts: inout [ProductVerdict]
    ) {
        if count > 1 {
            let start = range.lowerBound == 0 ? 0 : range.upperBound
            let end = min(range.upperBound + CustomerTable.stepCount, count)
            access.table.approach(questions.span, min(start, end)..<end)
        }
        var places = verdicts.mutableSpan
        access.decide(
            questions.span, range, in: text, at: step.nowMilliseconds, in: step.batch,
            reader: reader, into: &places)
    }

    private func world(of check: CheckFields, _ text: Span<UInt8>) -> KnownWorld {
        var world = KnownWorld(bundleID: check.bundleID, environment: check.environment)
        let bundleID = text.extracting(check.bundleID)
        if let scope = access.scopeIndex(bundleID: bundleID, environment: check.environment) {
            world.index = scope.value
            world.number = access.number(of: scope)
        }
        return world
    }
}

/// The world that a check asked about: the next one asks about the same, as a rule.
private struct KnownWorld {
    /// Its bundle id, as it stood in the check.
    var bundleID = ByteRange.empty
    /// None that a check can have, until one has asked.
    var environment = Int32.min
    /// Its position; -1: it is none of ours.
    var index = -1
    /// The store's number of it.
    var number: UInt16 = 0

    @inline(__always)
    func isAsked(by check: CheckFields, _ text: Span<UInt8>) -> Bool {
        environment == check.environment && environment != .min
            && areEqual(text.extracting(bundleID), text.extracting(check.bundleID))
    }
}

extension CheckFields {
    /// Whether its names are no longer than an identifier may be.
    @inline(__always)
    fileprivate var hasShortNames: Bool {
        max(customer.byteCount, subject.byteCount) <= UInt32(Identifier.byteCountMax)
    }
}

extension ProductQuestion {
    /// Puts down a check.
    @inline(__always)
    fileprivate mutating func ask(_ check: CheckFields, in world: KnownWorld, hash: UInt64) {
        self.hash = hash
        name.start = check.customer.start
        name.count = UInt16(truncatingIfNeeded: check.customer.byteCount)
        product.start = check.subject.start
        product.count = UInt16(truncatingIfNeeded: check.subject.byteCount)
        // The last of all instants stands for "never" in grants.
        instant = min(check.atMilliseconds, .max - 1)
        units = check.units
        self.world = world.index
        scope = world.number
        isForMemory = true
    }
}

extension CheckAnswer {
    /// What memory said.
    @inline(__always)
    init(_ verdict: ProductVerdict, revision: UInt64) {
        self.init(
            granted: verdict.reason.isGranted, reason: Int32(verdict.reason.rawValue),
            ownership: Int32(verdict.ownership.code), validUntilMilliseconds: verdict.validUntil,
            revision: revision)
    }
}
