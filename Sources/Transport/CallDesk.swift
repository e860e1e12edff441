internal import EventLoop
internal import Service
internal import Session
internal import Storage
internal import Synchronization

/// The threads beside the loops: workers that verify and read, one for chains of certificates that
/// nobody has seen before, some that ask Apple, one that commits.
///
/// A call goes loop -> queue -> worker -> (writes) commit thread -> inbox of its loop; one with an
/// unknown chain takes a way round over another queue and thread before it is committed. A remote
/// one goes loop -> queue -> remote thread -> inbox. Remote threads and others of the process
/// commit through the door. But for that of the unknown chains, the queues hold what each
/// `Admission` lets in, so a push to them fails only when they are closed.
///
/// Checks go first where cores are short: all of these threads have a low priority, and between two
/// calls, or two events of a commit, they give way. A loop that waits for one of them waits for
/// that piece of work, and not for the next tick of the system's clock.
final class CallDesk: Sendable {
    /// The service, as these threads use it.
    struct Operations: Sendable {
        /// Verifies and validates; blocking, 3 ms where a chain is unknown.
        var prepare: @Sendable (WriteCall) throws(Refusal) -> Event
        /// The same in some 0.2 ms; nil where a chain is unknown.
        var prepareWithKnownChains: @Sendable (WriteCall) throws(Refusal) -> Event?
        /// Reads the store; blocking.
        var read: @Sendable (ReadCall) throws(Refusal) -> ReadReply
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

        var isRemote: Bool {
            guard case .remote = pending.call else { return false }
            return true
        }
    }

    /// An event on its way to the commit thread.
    struct Prepared: Sendable {
        var event: Event
        var origin: Origin
    }

    /// Who waits for what becomes of an event.
    enum Origin: Sendable {
        case call(Job)
        case door(BlockingQueue<Result<WriteReply, Refusal>>)
    }

    /// Those that run.
    private struct Threads: Sendable {
        var workers: [Thread] = []
        var chainChecker: Thread?
        var committer: Thread?
    }

    /// Events of one commit: one sync costs 0.25 ms whether it carries one or 256.
    private static let groupCountMax = 256

    let operations: Operations
    /// nil: nobody asks Apple.
    let remote: RemoteWork?
    let limits: Limits
    let remoteJobs: BlockingQueue<Job>
    /// Calls whose chains a worker did not know.
    let unknownChainJobs: BlockingQueue<Job>
    let prepared: BlockingQueue<Prepared>
    let doorAdmission: Admission
    let isGivingUp = Atomic(false)
    private let ports: [LoopPort]
    private let admission: Admission
    private let remoteAdmission: Admission
    private let jobs: BlockingQueue<Job>
    private let threads = Locked(Threads())

    init(
        operations: Operations, remote: RemoteWork?, ports: [LoopPort], options: ServerOptions
    ) {
        self.operations = operations
        self.remote = remote
        self.ports = ports
        limits = options.limits
        admission = Admission(
            countMax: options.outstandingCallCountMax,
            byteCountMax: options.outstandingCallByteCountMax)
        remoteAdmission = Admission(
            countMax: options.remoteCallCountMax,
            byteCountMax: options.outstandingCallByteCountMax)
        doorAdmission = Admission(countMax: options.doorEventCountMax, byteCountMax: .max)
        jobs = BlockingQueue(capacity: options.outstandingCallCountMax)
        remoteJobs = BlockingQueue(capacity: options.remoteCallCountMax)
        unknownChainJobs = BlockingQueue(capacity: options.unknownChainCallCountMax)
        prepared = BlockingQueue(
            capacity: options.outstandingCallCountMax + options.doorEventCountMax)
    }

    /// Starts the threads.
    ///
    /// - Throws: `UVError` when the system refuses one; those started are ended then.
    func start(workerCount: Int, remoteThreadCount: Int = 0) throws(UVError) {
        do throws(UVError) {
            let committer = try Thread(name: "commit", priority: .low) { self.commitUntilClosed() }
            threads.withLock { $0.committer = committer }
            let checker = try Thread(name: "chains", priority: .lowest) { self.checkUntilClosed() }
            threads.withLock { $0.chainChecker = checker }
            for index in 0..<workerCount {
                // Signatures take 90 us each and big customers milliseconds: checks go first.
                let worker = try Thread(name: "worker \(index)", priority: .low) {
                    self.workUntilClosed()
                }
                threads.withLock { $0.workers.append(worker) }
            }
            for index in 0..<(remote == nil ? 0 : remoteThreadCount) {
                let thread = try Thread(name: "remote \(index)", priority: .low) {
                    self.askUntilClosed()
                }
                threads.withLock { $0.workers.append(thread) }
            }
        } catch {
            stop()
            throw error
        }
    }

    /// Calls that were taken in and are not answered yet.
    var outstandingCallCount: Int {
        admission.outstandingCount + remoteAdmission.outstandingCount
    }

    /// Takes a call in. Any thread; never blocks.
    ///
    /// - Returns: false when too much is outstanding: refuse it.
    func submit(_ job: Job) -> Bool {
        guard admission(of: job).admit(byteCount: job.pending.tag.byteCount) else { return false }
        guard (isAsked(job) ? remoteJobs : jobs).push(job) else {
            release(job)
            return false
        }
        return true
    }

    /// Takes no more, carries out what was taken, ends the threads and waits for them.
    func stop() {
        giveUpRemoteCalls()
        jobs.close()
        remoteJobs.close()
        let running = threads.withLock { threads in
            let running = threads
            threads = Threads()
            return running
        }
        for worker in running.workers { worker.join() }
        unknownChainJobs.close()
        running.chainChecker?.join()
        prepared.close()
        running.committer?.join()
    }

    func release(_ job: Job) {
        admission(of: job).release(byteCount: job.pending.tag.byteCount)
    }

    private func admission(of job: Job) -> Admission {
        isAsked(job) ? remoteAdmission : admission
    }

    /// Whether a thread that asks Apple takes it; without such threads a worker refuses it.
    private func isAsked(_ job: Job) -> Bool { remote != nil && job.isRemote }
}

// MARK: - Workers

extension CallDesk {
    private func workUntilClosed() {
        let encoder = ReplyEncoder(limits: limits)
        while let job = jobs.pop() {
            work(on: job, encoder)
            Thread.giveWay()
        }
    }

    private func work(on job: Job, _ encoder: ReplyEncoder) {
        guard !job.claim.isAbandoned else { return release(job) }
        do throws(Refusal) {
            switch job.pending.call {
            case .write(let call):
                guard let event = try operations.prepareWithKnownChains(call) else {
                    return try leaveToChainChecker(job)
                }
                try job.pending.checkScope(event.scope)
                leaveToCommitter(event, of: job)
            case .read(let call):
                let frame = encoder.frame(for: call, job.pending.tag) {
                    (call) throws(Refusal) in job.pending.limited(try operations.read(call))
                }
                finish(job, frame: frame)
            case .remote:
                throw Refusal(
                    .appStoreNotConfigured, "no App Store Server API credentials are configured")
            }
        } catch {
            finish(job, .refused(error), encoder)
        }
    }

    /// The next step of a call that is verified.
    func leaveToCommitter(_ event: Event, of job: Job) {
        guard job.claim.start() else { return release(job) }
        let isQueued = prepared.push(Prepared(event: event, origin: .call(job)))
        precondition(isQueued, "the commit thread ends after those that verify")
    }

    /// Hands in the answer of a call that is not committed.
    func finish(_ job: Job, _ reply: CallReply, _ encoder: ReplyEncoder) {
        finish(job, frame: encoder.frame(for: reply, job.pending.tag))
    }

    private func finish(_ job: Job, frame: [UInt8]) {
        defer { release(job) }
        guard job.claim.start() else { return }
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
            Thread.giveWay()
            group.removeAll(keepingCapacity: true)
        }
    }

    private func commit(_ group: [Prepared], _ encoder: ReplyEncoder) {
        let results = operations.commit(group.map(\.event))
        precondition(results.count == group.count, "every event has its result")
        var answers = [[LoopMessage]](repeating: [], count: ports.count)
        for (entry, result) in zip(group, results) {
            switch entry.origin {
            case .door(let mailbox):
                _ = mailbox.push(result)
            case .call(let job):
                let frame = encoder.frame(for: CallReply(result), job.pending.tag)
                answers[job.ticket.loopIndex].append(.completed(job.ticket, frame: frame))
                release(job)
            }
        }
        let revision = operations.revision()
        for (port, messages) in zip(ports, answers) {
            // One wakeup for each loop that is concerned.
            port.inbox.send(contentsOf: messages)
            port.announce(revision: revision)
        }
    }
}

extension CallReply {
    fileprivate init(_ result: Result<WriteReply, Refusal>) {
        switch result {
        case .success(let reply): self = .written(reply)
        case .failure(let refusal): self = .refused(refusal)
        }
    }
}

extension CallDesk.Operations {
    /// The operations of a service.
    init<Store: EntitlementWriter & Sendable>(_ service: EntitlementService<Store>) {
        self.init(
            prepare: { call throws(Refusal) in try service.prepare(call) },
            prepareWithKnownChains: { call throws(Refusal) in
                try service.prepareWithKnownChains(call)
            },
            read: { call throws(Refusal) in try service.read(call) },
            commit: { service.commit($0, afterEach: Thread.giveWay) },
            revision: { service.revision })
    }
}
