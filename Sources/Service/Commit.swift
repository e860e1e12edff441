import Entitlements
import SnapshotTable
import Storage
import Synchronization

extension EntitlementService {
    /// Applies events in order, writes them as one durable batch and publishes what readers see.
    ///
    /// The commit thread only. When it returns, every answer in it is durable and visible. A
    /// refused event changes nothing and does not touch the others; when the store fails, none of
    /// the group is applied.
    ///
    /// - Parameters:
    ///   - events: In order.
    ///   - afterEach: Called whenever an event has been applied in memory, some 100 us after the
    ///     one before: the thread may let others go first there.
    /// - Returns: one result per event, in order.
    package func commit(
        _ events: [Event], afterEach: () -> Void = {}
    ) -> [Result<WriteReply, Refusal>] {
        let results: [Result<WriteReply, Refusal>]
        do throws(StorageError) {
            results = try commitGroup(events, afterEach)
        } catch {
            // One damaged record must not refuse its neighbours: alone, each fails for itself.
            guard events.count > 1 else {
                let results = events.map { _ in refused(Refusal(error)) }
                commitTally.count(events, results, at: configuration.clock())
                return results
            }
            return events.flatMap { commit([$0], afterEach: afterEach) }
        }
        for case (let event, .success) in zip(events, results) { refreshTally.count(event) }
        commitTally.count(events, results, at: configuration.clock())
        for case .success(.notification(let reply)) in results {
            counters.count(reply.disposition.rawValue)
            if reply.disposition == .storedUnknown {
                configuration.onNotice(
                    .unknownNotification(type: reply.type, subtype: reply.subtype))
            }
        }
        return results
    }

    private func refused(_ refusal: Refusal) -> Result<WriteReply, Refusal> {
        counters.count(refusal.reason)
        configuration.onNotice(.refused(refusal))
        return .failure(refusal)
    }

    private func commitGroup(
        _ events: [Event], _ afterEach: () -> Void
    ) throws(StorageError) -> [Result<WriteReply, Refusal>] {
        let counters = ledgerCounters.value
        var ledger = Ledger(
            workspace: Workspace(
                store: store, counters: counters,
                queuesRefreshes: configuration.isAppStoreConfigured,
                longHistoryLimits: configuration.longHistoryLimits),
            scopes: scopeNumbers, catalogs: catalogs)
        var results: [Result<WriteReply, Refusal>] = []
        results.reserveCapacity(events.count)
        do throws(LedgerFailure) {
            for event in events {
                results.append(try apply(event, to: &ledger))
                afterEach()
            }
            let (changes, publications) = try ledger.workspace.finish()
            guard !changes.isEmpty else { return results }
            try reading { () throws(StorageError) in
                try write(changes, publications, counters: ledger.workspace.counters)
            }
            refreshQueue.apply(ledger.workspace.refreshes.changedJobs)
            forgot(ledger.workspace.erasures)
        } catch {
            switch error {
            case .storage(let error): throw error
            case .refused: preconditionFailure("refusals are results")
            }
        }
        reader.table.reclaim()
        return results
    }

    private func apply(
        _ event: Event, to ledger: inout Ledger<Store>
    ) throws(LedgerFailure) -> Result<WriteReply, Refusal> {
        do throws(LedgerFailure) {
            return .success(try ledger.apply(event))
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            return refused(refusal)
        }
    }

    private func write(
        _ changes: ChangeSet, _ publications: [Publication], counters: LedgerCounters
    ) throws(StorageError) {
        try reader.publication.withLock { (_) throws(StorageError) in
            reader.storeSequence.add(1, ordering: .sequentiallyConsistent)
            defer { reader.storeSequence.add(1, ordering: .sequentiallyConsistent) }
            let start = ContinuousClock.now
            try store.commit(changes)
            timings.commits.observe(since: start)
            reader.publicationSequence.add(1, ordering: .sequentiallyConsistent)
            for publication in publications {
                guard let snapshot = publication.snapshot else {
                    reader.table.forget(scope: publication.scope.value, name: publication.name)
                    continue
                }
                reader.table.put(
                    scope: publication.scope.value, name: publication.name, snapshot: snapshot)
            }
            reader.visibleRevision.store(counters.revision, ordering: .sequentiallyConsistent)
            reader.publicationSequence.add(1, ordering: .sequentiallyConsistent)
        }
        ledgerCounters.value = counters
    }
}
