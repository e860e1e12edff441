import Entitlements
import SnapshotTable
import Storage

/// What a rebuild would answer about a customer whose snapshot is what his facts say, found out
/// beside the commit thread.
///
/// To read and fold 50,000 transactions takes 70 to 120 ms, in which nobody's facts could come in.
/// So a worker does it, and the commit thread only looks whether the customer is still the one that
/// was read. Where something is to be repaired, or a household has a say, there is no rehearsal,
/// and the commit thread does it all.
struct RebuildRehearsal: Sendable {
    /// Whom the name meant, and who that is after all merges.
    let asked: UInt64
    let key: CustomerKey
    /// The record as it was before and after the facts were read: its revision changes with them.
    let record: CustomerRecord
    /// The answer, but for the revision.
    let reply: RebuildReply
}

extension EntitlementService {
    /// The rebuild with what it would answer. Worker threads: it reads all facts of the customer.
    func rehearsed(_ rebuild: Event.Rebuild) -> Event.Rebuild {
        var rebuild = rebuild
        do throws(LedgerFailure) {
            rebuild.rehearsal = try rehearse(rebuild)
        } catch {
            // The commit thread meets the same, and tells.
            rebuild.rehearsal = nil
        }
        return rebuild
    }

    private func rehearse(
        _ rebuild: Event.Rebuild
    ) throws(LedgerFailure) -> RebuildRehearsal? {
        guard let scope = scopeNumbers[rebuild.scope] else { return nil }
        var workspace = Workspace(store: store, counters: LedgerCounters())
        let asked = try workspace.identity(rebuild.identity, in: scope).primary
        guard asked != 0,
            let (key, record) = try workspace.standingRecord(
                of: CustomerKey(scope: scope, number: asked)),
            record.household.isEmpty
        else { return nil }
        let snapshot = try reading { () throws(StorageError) in
            try store.value(for: Key.snapshot(of: key, named: record.name), in: .snapshots)
        }
        let known = record.isLong ? snapshot.flatMap { LongHistory(snapshot: $0) } : nil
        let facts = try reading { () throws(StorageError) in
            try StoredFacts(
                of: key, with: StoredLinks(), from: store,
                transactionCount: known?.transactionCount ?? 0)
        }
        let fold = Fold(facts.transactions, renewals: facts.renewals)
        let long = LongHistory(fold, limits: configuration.longHistoryLimits)
        guard snapshot == (long?.snapshot ?? fold.snapshot),
            try workspace.areIndexed(fold, of: key, unless: rebuild.isDryRun),
            try workspace.record(of: key) == record
        else { return nil }
        let reply = RebuildReply(
            source: .storedFacts, transactionCount: fold.facts.count, changes: [],
            entitlements: fold.statuses(
                catalog: catalogs[scope] ?? Catalog(), at: fold.now(configuration.clock())),
            revision: 0)
        return RebuildRehearsal(asked: asked, key: key, record: record, reply: reply)
    }
}

extension Ledger {
    /// The answer that was rehearsed; nil where the customer is another one since.
    mutating func rehearsedReply(
        to rebuild: Event.Rebuild, in scope: ScopeNumber
    ) throws(LedgerFailure) -> RebuildReply? {
        guard let rehearsal = rebuild.rehearsal,
            try workspace.identity(rebuild.identity, in: scope).primary == rehearsal.asked,
            try workspace.record(of: rehearsal.key) == rehearsal.record
        else { return nil }
        var reply = rehearsal.reply
        reply.revision = workspace.revision
        return reply
    }
}

extension Workspace {
    /// A customer's record, as this group has left it.
    func record(of key: CustomerKey) throws(LedgerFailure) -> CustomerRecord? {
        if let state = customers[key] { return state.record }
        return try reading { () throws(StorageError) in
            try store.value(for: Key.customer(key), in: .customers)
                .map { (bytes) throws(StorageError) in try RecordCodec.decodeCustomer(bytes) }
        }
    }

    /// The record of the one whom a number means, following merges.
    func standingRecord(
        of key: CustomerKey
    ) throws(LedgerFailure) -> (CustomerKey, CustomerRecord)? {
        var key = key
        while let record = try record(of: key) {
            guard record.mergedInto != 0 else { return (key, record) }
            key = CustomerKey(scope: key.scope, number: record.mergedInto)
        }
        return nil
    }

    /// Whether others find what follows from a customer's facts where they look for it; a dry run
    /// does not ask.
    fileprivate func areIndexed(
        _ fold: Fold, of key: CustomerKey, unless isDryRun: Bool
    ) throws(LedgerFailure) -> Bool {
        if isDryRun { return true }
        guard try areEntered(fold.facts, of: key) else { return false }
        return try hasEndings(of: fold, key)
    }
}
