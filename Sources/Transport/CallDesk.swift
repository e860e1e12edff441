internal import EventLoop
internal import Service
internal import Session
internal import Storage

/// The threads beside the loops: workers that verify and read, one that commits.
///
/// A call goes loop -> queue -> worker -> (writes) commit thread -> inbox of its loop. The queues
/// hold what `Admission` lets in, so no push to them can fail.
final class CallDesk: Sendable {
    /// The service, as these threads use it.
    struct Operations: Sendable {
        /// Verifies and validates; blocking.
        var prepare: @Sendable (WriteCall) throws(Refusal) -> Event
        /// Reads one customer; blocking.
        var customer: @Sendable (CustomerQuery) throws(Refusal) -> CustomerView
        /// Commits a group; visible to every reader when it returns.
        var commit: @Sendable ([Event]) -> [Result<WriteReply, Refusal>]
        /// The last committed revision.
        var revision: @Sendable () -> UInt64
    }

    /// One call on its way.
    struct Job: Sendable {
        var ticket: CallTicket
        var pending: PendingCall
        var claim: WorkClaim
    }

    private struct Prepared: Sendable {
        var job: Job
        var event: Event
    }

    /// Events of one commit: one sync costs 0.25 ms whether it carries one or 256.
    private static let groupCountMax = 256

    private let operations: Operations
    private let ports: [LoopPort]
    private let admission: Admission
    private let jobs: BlockingQueue<Job>
    private let prepared: BlockingQueue<Prepared>
    private let limits: Limits
    private let threads = Locked<(workers: [Thread], committer: Thread?)>(([], nil))

    init(operations: Operations, ports: [LoopPort], options: ServerOptions) {
        self.operations = operations
        self.ports = ports
        limits = options.limits
        admission = Admission(
            countMax: options.outstandingCallCountMax,
            byteCountMax: options.outstandingCallByteCountMax)
        jobs = BlockingQueue(capacity: options.outstandingCallCountMax)
        prepared = BlockingQueue(capacity: options.outstandingCallCountMax)
    }

    /// Starts the threads.
    ///
    /// - Throws: `UVError` when the system refuses one; those started are ended then.
    func start(workerCount: Int) throws(UVError) {
        do throws(UVError) {
            let committer = try Thread(name: "commit") { self.commitUntilClosed() }
            threads.withLock { $0.committer = committer }
            for index in 0..<workerCount {
                // Signatures take 90 us each and big customers milliseconds: checks go first.
                let worker = try Thread(name: "worker \(index)", priority: .low) {
                    self.workUntilClosed()
                }
                threads.withLock { $0.workers.append(worker) }
            }
        } catch {
            stop()
            throw error
        }
    }

    /// Takes a call in. Any thread; never blocks.
    ///
    /// - Returns: false when too much is outstanding: refuse it.
    func submit(_ job: Job) -> Bool {
        guard admission.admit(byteCount: job.pending.tag.byteCount) else { return false }
        guard jobs.push(job) else {
            release(job)
            return false
        }
        return true
    }

    /// Takes no more, carries out what was taken, ends the threads and waits for them.
    func stop() {
        jobs.close()
        let (workers, committer) = threads.withLock { threads in
            let old = threads
            threads = ([], nil)
            return old
        }
        for worker in workers { worker.join() }
        prepared.close()
        committer?.join()
    }

    private func release(_ job: Job) {
        admission.release(byteCount: job.pending.tag.byteCount)
    }
}

// MARK: - Workers

extension CallDesk {
    private func workUntilClosed() {
        let encoder = ReplyEncoder(limits: limits)
        while let job = jobs.pop() { work(on: job, encoder) }
    }

    private func work(on job: Job, _ encoder: ReplyEncoder) {
        guard !job.claim.isAbandoned else { return release(job) }
        do throws(Refusal) {
            switch job.pending.call {
            case .write(let call):
                let event = try operations.prepare(call)
                guard job.claim.start() else { return release(job) }
                let isQueued = prepared.push(Prepared(job: job, event: event))
                precondition(isQueued, "the commit thread ends after the workers")
            case .customer(let query):
                finish(job, .customer(try operations.customer(query)), encoder)
            }
        } catch {
            finish(job, .refused(error), encoder)
        }
    }

    /// Hands in the answer of a call that is not committed.
    private func finish(_ job: Job, _ reply: CallReply, _ encoder: ReplyEncoder) {
        defer { release(job) }
        guard job.claim.start() else { return }
        let frame = encoder.frame(for: reply, job.pending.tag)
        ports[job.ticket.loopIndex].inbox.send(.completed(job.ticket, frame: frame))
    }
}

// MARK: - The commit thread

extension CallDesk {
    /// No timer groups the events: while one group is being synced, the next one gathers.
    private func commitUntilClosed() {
        let encoder = ReplyEncoder(limits: limits)
        var group: [Prepared] = []
        while prepared.pop(upTo: Self.groupCountMax, into: &group) {
            commit(group, encoder)
            group.removeAll(keepingCapacity: true)
        }
    }

    private func commit(_ group: [Prepared], _ encoder: ReplyEncoder) {
        let results = operations.commit(group.map(\.event))
        precondition(results.count == group.count, "every event has its result")
        var answers = [[LoopMessage]](repeating: [], count: ports.count)
        for (entry, result) in zip(group, results) {
            let reply: CallReply =
                switch result {
                case .success(let reply): .written(reply)
                case .failure(let refusal): .refused(refusal)
                }
            let frame = encoder.frame(for: reply, entry.job.pending.tag)
            answers[entry.job.ticket.loopIndex].append(.completed(entry.job.ticket, frame: frame))
            release(entry.job)
        }
        let revision = operations.revision()
        for (port, messages) in zip(ports, answers) {
            // One wakeup for each loop that is concerned.
            port.inbox.send(contentsOf: messages)
            port.announce(revision: revision)
        }
    }
}

extension CallDesk.Operations {
    /// The operations of a service.
    init<Store: EntitlementWriter & Sendable>(_ service: EntitlementService<Store>) {
        self.init(
            prepare: { call throws(Refusal) in try service.prepare(call) },
            customer: { query throws(Refusal) in try service.customer(query) },
            commit: { service.commit($0) },
            revision: { service.revision })
    }
}
