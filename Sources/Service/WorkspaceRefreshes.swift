import Entitlements
import Storage

/// What a group of events changes in the queue of fetches from Apple and in the marks.
///
/// None of it is a fact and no answer rests on it, so a change of it alone takes no revision.
struct RefreshNotes: Sendable {
    struct ScopedMark: Hashable, Sendable {
        let scope: ScopeNumber
        let mark: ReconciliationMark
    }

    /// Whether there is somebody who fetches; without one nothing is queued.
    let isQueueing: Bool
    /// Jobs as far as they were looked at; nil: none.
    fileprivate(set) var jobs: [CustomerKey: RefreshJob?] = [:]
    fileprivate var dirtyJobs: Set<CustomerKey> = []
    /// How often a job was changed.
    fileprivate(set) var jobChangeCount = 0
    /// When customers were fetched whole, where that changed; nil: not any more under this number.
    fileprivate var fetches: [CustomerKey: Timestamp?] = [:]
    fileprivate var marks: [ScopedMark: Timestamp] = [:]

    init(isQueueing: Bool) { self.isQueueing = isQueueing }

    /// The jobs that are other ones now; nil: none any more.
    var changedJobs: [CustomerKey: RefreshJob?] {
        jobs.filter { dirtyJobs.contains($0.key) }
    }

    /// Adds what is to be written.
    func write(into changes: inout ChangeSet) {
        for (key, job) in changedJobs {
            write(job.map { RecordCodec.encode($0) }, at: Key.refresh(key), into: &changes)
        }
        for (key, instant) in fetches {
            write(instant.map { RecordCodec.encode($0) }, at: Key.refreshed(key), into: &changes)
        }
        for (mark, instant) in marks {
            changes.put(
                RecordCodec.encode(instant), for: Key.mark(mark.mark, of: mark.scope), in: .meta)
        }
    }

    private func write(_ record: [UInt8]?, at key: [UInt8], into changes: inout ChangeSet) {
        if let record {
            changes.put(record, for: key, in: .refreshes)
        } else {
            changes.delete(key, in: .refreshes)
        }
    }
}

extension Workspace {
    /// Sees to it that the customer is fetched from Apple, in the same commit as what asks for it.
    ///
    /// One job per customer: a second event only notes that it came, so that a fetch that began
    /// before it does not end the job. A sweep has nothing to add to a job; after failures only an
    /// admin brings the next attempt forward.
    mutating func queueRefresh(
        of key: CustomerKey, trigger: RefreshTrigger, at clock: Timestamp
    ) throws(LedgerFailure) {
        guard refreshes.isQueueing, let key = try standing(key) else { return }
        guard var job = try refreshJob(of: key) else {
            return setRefreshJob(
                RefreshJob(trigger: trigger, queuedAt: clock, revision: revision), of: key)
        }
        guard trigger != .sweep else { return }
        job.trigger = trigger
        job.revision = revision
        // Queued in the future: the clock was set back since, and the wait would be as long.
        if trigger == .admin || job.queuedAt > clock { job.notBefore = min(job.notBefore, clock) }
        setRefreshJob(job, of: key)
    }

    /// The customer of this number, or whom he was merged into; nil when there is none.
    ///
    /// Cheaper than `customer`: it reads no facts.
    func standing(_ key: CustomerKey) throws(LedgerFailure) -> CustomerKey? {
        var key = key
        while true {
            let record: CustomerRecord?
            if let known = customers[key] {
                record = known.record
            } else {
                record = try reading { () throws(StorageError) in
                    try store.value(for: Key.customer(key), in: .customers)
                        .map { (bytes) throws(StorageError) in
                            try RecordCodec.decodeCustomer(bytes)
                        }
                }
            }
            guard let record else { return nil }
            guard record.mergedInto != 0 else { return key }
            key = CustomerKey(scope: key.scope, number: record.mergedInto)
        }
    }

    /// What the queue holds for a customer.
    mutating func refreshJob(of key: CustomerKey) throws(LedgerFailure) -> RefreshJob? {
        if let known = refreshes.jobs[key] { return known }
        let job = try reading { () throws(StorageError) in
            try store.refreshJob(of: key)
        }
        refreshes.jobs[key] = .some(job)
        return job
    }

    /// Puts a job into the queue, or takes it out.
    mutating func setRefreshJob(_ job: RefreshJob?, of key: CustomerKey) {
        refreshes.jobs[key] = .some(job)
        refreshes.dirtyJobs.insert(key)
        refreshes.jobChangeCount += 1
    }

    /// When the customer was last fetched whole; nil: never.
    func refreshedAt(_ key: CustomerKey) throws(LedgerFailure) -> Timestamp? {
        if let known = refreshes.fetches[key] { return known }
        return try reading { () throws(StorageError) in try store.refreshedAt(key) }
    }

    /// Notes when the customer was fetched whole.
    mutating func setRefreshedAt(_ instant: Timestamp?, of key: CustomerKey) {
        refreshes.fetches[key] = .some(instant)
    }

    /// Moves a mark forwards.
    mutating func move(
        _ mark: ReconciliationMark, of scope: ScopeNumber, to instant: Timestamp
    ) throws(LedgerFailure) {
        let scoped = RefreshNotes.ScopedMark(scope: scope, mark: mark)
        let known = try reading { () throws(StorageError) in try store.mark(mark, of: scope) }
        let latest = max(refreshes.marks[scoped] ?? .distantPast, known ?? .distantPast)
        if instant > latest { refreshes.marks[scoped] = instant }
    }

    /// Gives what is noted of a customer to the one whom he is merged into; before the facts move.
    ///
    /// Of two fetches the older one counts, for that is how old the older half of the facts is.
    mutating func mergeRefreshes(
        from source: CustomerKey, into target: CustomerKey
    ) throws(LedgerFailure) {
        if let moved = try refreshJob(of: source) {
            setRefreshJob(nil, of: source)
            var job = try refreshJob(of: target)?.merged(with: moved) ?? moved
            // A fetch that began before this asked for one of the two alone.
            job.revision = revision
            setRefreshJob(job, of: target)
        }
        let (moved, known) = (try refreshedAt(source), try refreshedAt(target))
        if moved != nil { setRefreshedAt(nil, of: source) }
        guard let sourceState = customers[source], let targetState = customers[target] else {
            return
        }
        if sourceState.transactions.isEmpty { return }
        var fetch = moved
        if !targetState.transactions.isEmpty {
            fetch = moved.flatMap { moved in known.map { min($0, moved) } }
        }
        if fetch != known { setRefreshedAt(fetch, of: target) }
    }
}

extension RefreshJob {
    /// One job for what two asked for: tried as soon as the first of them may be.
    func merged(with other: RefreshJob) -> RefreshJob {
        var merged = revision >= other.revision ? self : other
        merged.queuedAt = min(queuedAt, other.queuedAt)
        merged.notBefore = min(notBefore, other.notBefore)
        if merged.trigger == .sweep { merged.trigger = other.trigger }
        return merged
    }

    /// The job in a stored record. One that does not decode is due at once: what is lost of it is
    /// only why and when it was asked for, and the fetch writes it anew.
    init(stored bytes: [UInt8]) {
        do throws(StorageError) {
            self = try RecordCodec.decodeRefresh(bytes)
        } catch {
            self.init(trigger: .admin, queuedAt: .init(milliseconds: 0), revision: 0)
            lastReason = RefusalReason.storeDamaged.rawValue
            lastMessage = "the record of this job did not decode; the customer is fetched anew"
        }
    }
}

extension EntitlementReader {
    /// What the queue holds for a customer.
    func refreshJob(of key: CustomerKey) throws(StorageError) -> RefreshJob? {
        try value(for: Key.refresh(key), in: .refreshes).map { RefreshJob(stored: $0) }
    }

    /// When a customer was last fetched whole; nil: never.
    func refreshedAt(_ key: CustomerKey) throws(StorageError) -> Timestamp? {
        try value(for: Key.refreshed(key), in: .refreshes).map { (bytes) throws(StorageError) in
            try RecordCodec.decodeInstant(bytes, in: .refreshes)
        }
    }

    /// Where a mark stands; nil before the first time.
    func mark(
        _ mark: ReconciliationMark, of scope: ScopeNumber
    ) throws(StorageError) -> Timestamp? {
        try value(for: Key.mark(mark, of: scope), in: .meta).map { (bytes) throws(StorageError) in
            try RecordCodec.decodeInstant(bytes, in: .meta)
        }
    }
}
