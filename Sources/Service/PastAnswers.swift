import Entitlements
import Storage
import Synchronization

/// Snapshots with all grants of customers whose stored ones have their newest grants only: for
/// questions about a past that those do not reach back to. Any thread.
///
/// To make one takes 2 us per transaction, 100 ms for 50,000, on the thread that was asked; so the
/// last ones are kept, each for as long as its customer's record stays the same.
final class PastAnswers<Store: EntitlementReader & Sendable>: Sendable {
    fileprivate struct Entry {
        var key: CustomerKey
        var record: CustomerRecord
        var snapshot: [UInt8]
    }

    fileprivate struct State {
        /// Used last, last.
        var entries: [Entry] = []
        var byteCount = 0
    }

    private let store: Store
    private let byteCountMax: Int
    private let state = Mutex(State())

    /// For the customers of `store`; what is kept has at most `byteCountMax` bytes in all.
    init(_ store: Store, byteCountMax: Int = 32 << 20) {
        self.store = store
        self.byteCountMax = byteCountMax
    }

    /// The snapshot with all grants of the customer whom a name means, made from his facts; nil
    /// when nobody. Where none is kept it reads and folds all of them on the caller's thread.
    ///
    /// All of it is of one revision of the customer: it begins again when a commit comes between.
    ///
    /// - Throws: STORE_UNAVAILABLE, STORE_DAMAGED.
    func snapshot(
        of identity: Identity, in scope: ScopeNumber
    ) throws(Refusal) -> [UInt8]? {
        for _ in 0..<8 {
            do throws(LedgerFailure) {
                var workspace = Workspace(store: store, counters: LedgerCounters())
                let record = try workspace.identity(identity, in: scope)
                guard record.primary != 0,
                    let (key, known) = try workspace.standingRecord(
                        of: CustomerKey(scope: scope, number: record.primary))
                else { return nil }
                if let snapshot = kept(of: key, known) { return snapshot }
                let snapshot = try workspace.fold(key).snapshot
                // His own facts, and the others' that count for him, change with his record.
                let after = Workspace(store: store, counters: LedgerCounters())
                guard try after.record(of: key) == known else { continue }
                keep(Entry(key: key, record: known, snapshot: snapshot))
                return snapshot
            } catch {
                switch error {
                case .refused(let refusal): throw refusal
                case .storage(let error): throw Refusal(error)
                }
            }
        }
        throw Refusal(
            .storeUnavailable, "the customer's history changes faster than it is read",
            retryAfterMilliseconds: 100)
    }

    /// Keeps nothing of a customer any more.
    func forget(_ key: CustomerKey) { state.withLock { $0.remove { $0.key == key } } }

    /// How many bytes are kept.
    var byteCount: Int { state.withLock { $0.byteCount } }

    private func kept(of key: CustomerKey, _ record: CustomerRecord) -> [UInt8]? {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.key == key }) else { return nil }
            let entry = state.entries.remove(at: index)
            guard entry.record == record else {
                state.byteCount -= entry.snapshot.count
                return nil
            }
            state.entries.append(entry)
            return entry.snapshot
        }
    }

    private func keep(_ entry: Entry) {
        guard entry.snapshot.count <= byteCountMax else { return }
        state.withLock { state in
            state.remove { $0.key == entry.key }
            state.entries.append(entry)
            state.byteCount += entry.snapshot.count
            while state.byteCount > byteCountMax { state.removeFirst() }
        }
    }
}

extension PastAnswers.State {
    fileprivate mutating func remove(where isGone: (PastAnswers.Entry) -> Bool) {
        guard let index = entries.firstIndex(where: isGone) else { return }
        byteCount -= entries.remove(at: index).snapshot.count
    }

    fileprivate mutating func removeFirst() { byteCount -= entries.removeFirst().snapshot.count }
}
