internal import Service
internal import Wire

// Pipelined checks, answered together.
//
// A read of a busy connection holds dozens of requests, nearly all of them single checks. They are
// taken up to `CheckRun.countMax` at a time and go through steps, each of which is one loop:
//
//   1. read the frames                    Wire, one call
//   2. judge, find the world, hash        and bring the table's slot close
//   3. bring the snapshot close
//   4. look up, decide, write the answer  and bring the slot of its use close
//   5. count the use
//
// Answers, their order, and where taking frames ends are those of one frame after the other: the
// output's mark is looked at before each answer, and what is not answered is not taken. Any other
// frame, and a check that must wait for its revision, ends the run.

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
                run, count, input, &machine, &output, outputStart: outputStart, &places)
            guard answeredCount > 0 else { return }
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
        _ places: inout [CheckPlace]
    ) -> Int {
        // Before the first look at the table: whatever is found there is of it or newer.
        let batch = access.batch()
        let now = batchMilliseconds
        approach(run.checks, input, count: count, &places)
        meter?.beginBatch()
        var index = 0
        var refusedCount = 0
        access.withCatalog(for: reader) { catalog in
            let step = CheckStep(batch: batch, nowMilliseconds: now)
            while index < count,
                machine.mayTakeFrame(newOutputByteCount: output.count &- outputStart)
            {
                let id = run.frames[index].requestID
                let (check, place) = (run.checks[index], places[index])
                if let refusal = place.refusal {
                    refuse(id, refusal, &output)
                    refusedCount &+= 1
                } else if check.minRevision > batch.revision {
                    return
                } else {
                    do throws(Refusal) {
                        try answer(check, place, input, id, in: step, under: catalog, &output)
                    } catch {
                        refuse(id, error, &output)
                        refusedCount &+= 1
                    }
                }
                index &+= 1
            }
        }
        meter?.countBatch()
        let answeredCount = index &- refusedCount
        if answeredCount > 0 { counts.answered(.checkAccess, count: answeredCount) }
        return index
    }
}
