internal import Entitlements
internal import EventLoop
internal import Service
internal import Storage

/// Which queued customers are being fetched, and who is next.
///
/// One thread hands out; the fetchers take and give back. Nothing is handed out ahead of time: as
/// many as there are fetchers, so that an urgent one waits for no batch of others.
final class FetchBoard: Sendable {
    private struct State {
        /// Handed out and not given back.
        var busy: Set<CustomerKey> = []
        /// When those were given back whose fetch is not long ago.
        var recent: [CustomerKey: Timestamp] = [:]
        /// Failures of the store in a row.
        var storeFailureCount = 0
        var storeResumesAt = Timestamp.distantPast
    }

    /// Nobody is fetched again sooner: events that follow each other closely share a fetch, and
    /// customers whose fetches queue one another cost Apple little.
    private static let restMilliseconds: Int64 = 2_000

    private let desk: ReconciliationDesk
    private let state = Locked(State())
    private let errands: BlockingQueue<QueuedRefresh>
    private let onReturn: @Sendable () -> Void

    /// A board without errands; `onReturn` is called when a fetcher is free again.
    init(desk: ReconciliationDesk, onReturn: @escaping @Sendable () -> Void) {
        self.desk = desk
        self.onReturn = onReturn
        errands = BlockingQueue(capacity: desk.configuration.fetchThreadCount)
    }

    // MARK: Fetchers

    /// The next customer; sleeps until there is one. nil: the end.
    func take() -> QueuedRefresh? { errands.pop() }

    /// A customer is done with, for now; not `isStored` when the store did not take what became of
    /// it.
    func giveBack(_ queued: QueuedRefresh, isStored: Bool) {
        let (now, fraction) = (desk.now, desk.surroundings.fraction())
        state.withLock { state in
            state.busy.remove(queued.key)
            state.recent = state.recent.filter { Self.isResting($0.value, at: now) }
            state.recent[queued.key] = now
            state.storeFailureCount = isStored ? 0 : state.storeFailureCount + 1
            guard !isStored else { return }
            state.storeResumesAt = now.adding(
                milliseconds: Backoff.outage(
                    afterFailures: state.storeFailureCount, fraction: fraction))
        }
        onReturn()
    }

    private static func isResting(_ since: Timestamp, at now: Timestamp) -> Bool {
        now.adding(milliseconds: -restMilliseconds) < since && since <= now
    }

    /// Wakes the fetchers for good.
    func close() { errands.close() }

    // MARK: Handing out

    /// Hands out what is due.
    ///
    /// - Parameter turn: Counts up; worlds take turns in being first.
    /// - Returns: when to come again, if nothing happens before.
    func handOut(turn: Int) -> Timestamp {
        let now = desk.now
        // Taken before the store is asked: who is given back in between is still in it, and is
        // seen as it is in the store the next time.
        let known = state.withLock { $0 }
        var room = desk.configuration.fetchThreadCount - known.busy.count
        guard room > 0 else { return .distantFuture }
        let latest = now.adding(milliseconds: 2 * 60_000)
        guard known.storeResumesAt <= now || known.storeResumesAt > latest else {
            return known.storeResumesAt
        }
        var next = Timestamp.distantFuture
        do throws(Refusal) {
            for offset in desk.ledger.scopes.indices {
                let (index, scope) = desk.ledger.scopes[(turn + offset) % desk.ledger.scopes.count]
                if let until = desk.pausedUntil(scope, .customers) {
                    next = min(next, until)
                } else {
                    next = min(next, try handOut(of: index, known, &room, at: now))
                }
            }
        } catch {
            if !desk.isStopping { desk.tell(.storeFailed(error)) }
            return now.adding(milliseconds: 5_000)
        }
        return next
    }

    private func handOut(
        of index: ScopeIndex, _ known: State, _ room: inout Int, at now: Timestamp
    ) throws(Refusal) -> Timestamp {
        let countMax = known.busy.count + min(known.recent.count, 16) + room
        let (due, nextAt) = try desk.ledger.due(index, now, countMax)
        var next = nextAt ?? .distantFuture
        for queued in due where room > 0 && !known.busy.contains(queued.key) {
            if let since = known.recent[queued.key], Self.isResting(since, at: now) {
                next = min(next, since.adding(milliseconds: Self.restMilliseconds))
                continue
            }
            room -= 1
            send(queued)
        }
        return next
    }

    private func send(_ queued: QueuedRefresh) {
        state.withLock { _ = $0.busy.insert(queued.key) }
        if !errands.push(queued) { state.withLock { _ = $0.busy.remove(queued.key) } }
    }
}
