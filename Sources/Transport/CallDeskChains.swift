internal import EventLoop
internal import Service
internal import Session

// MARK: - Chains that nobody has seen before

/// Whoever can reach the port can send certificates of his own making, and each chain takes 2.8 ms
/// to refuse: 350 a second would keep a worker busy. A worker looks only at chains that were
/// checked before. The others wait here, in a bounded queue before a thread of the lowest priority,
/// and what Apple signs overtakes them. Apple's chain itself comes this way once.
extension CallDesk {
    /// Has the call verified on the thread for unknown chains.
    ///
    /// - Throws: RESOURCE_EXHAUSTED when too many wait there.
    func leaveToChainChecker(_ job: Job) throws(Refusal) {
        guard unknownChainJobs.push(job) else {
            throw Refusal(
                .overloaded, "too many calls with certificates not seen before are waiting",
                retryAfterMilliseconds: 1_000)
        }
    }

    func checkUntilClosed() {
        let encoder = ReplyEncoder(limits: limits)
        while let job = unknownChainJobs.pop() {
            check(job, encoder)
            Thread.giveWay()
        }
    }

    private func check(_ job: Job, _ encoder: ReplyEncoder) {
        guard !job.claim.isAbandoned else { return release(job) }
        guard case .write(let call) = job.pending.call else {
            preconditionFailure("only what is signed has a chain")
        }
        do throws(Refusal) {
            let event = try operations.prepare(call)
            try job.pending.checkScope(event.scope)
            leaveToCommitter(event, of: job)
        } catch {
            finish(job, .refused(error), encoder)
        }
    }
}
