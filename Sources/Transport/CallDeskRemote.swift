internal import EventLoop
internal import Service
internal import Session
internal import Synchronization

// MARK: - Threads that ask Apple

extension CallDesk {
    func askUntilClosed() {
        let encoder = ReplyEncoder(limits: limits)
        while let job = remoteJobs.pop() { ask(for: job, encoder) }
    }

    private func ask(for job: Job, _ encoder: ReplyEncoder) {
        guard !job.claim.isAbandoned else { return release(job) }
        do throws(Refusal) {
            guard case .remote(let call) = job.pending.call, let remote else {
                preconditionFailure("the queue of remote calls holds nothing else")
            }
            if isGivingUp.load(ordering: .acquiring) { throw .goingDown }
            let now = Int64(clamping: MonotonicClock.nowMilliseconds)
            let context = RemoteContext(
                door: door, timeoutMilliseconds: max(1, job.pending.deadlineMilliseconds - now))
            finish(job, .remote(try remote.handler(call, context)), encoder)
        } catch {
            finish(job, .refused(error), encoder)
        }
    }

    /// Asks Apple nothing more: calls that wait are refused, those under way are told to end.
    ///
    /// Any thread; returns at once. An orderly end waits for no answer of Apple's.
    func giveUpRemoteCalls() {
        isGivingUp.store(true, ordering: .releasing)
        remote?.giveUp()
    }
}

// MARK: - The door

extension CallDesk {
    /// Where threads of the process that are neither loops nor workers commit.
    ///
    /// Open until the desk has stopped. What was let in is committed and answered, so nobody waits
    /// there for ever.
    var door: CommitDoor { CommitDoor { self.commit($0) } }

    private func commit(_ event: Event) -> Result<WriteReply, Refusal> {
        guard doorAdmission.admit(byteCount: 0) else {
            return .failure(
                Refusal(
                    .overloaded, "too many events are waiting on this server",
                    retryAfterMilliseconds: 100))
        }
        defer { doorAdmission.release(byteCount: 0) }
        let mailbox = BlockingQueue<Result<WriteReply, Refusal>>(capacity: 1)
        guard prepared.push(Prepared(event: event, origin: .door(mailbox))),
            let result = mailbox.pop()
        else { return .failure(.goingDown) }
        return result
    }
}

extension Refusal {
    /// The threads of the server are ending.
    fileprivate static let goingDown = Refusal(
        .draining, "this server is shutting down; use another one",
        retryAfterMilliseconds: 1_000)
}
