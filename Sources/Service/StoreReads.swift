import Entitlements
import Storage
import Synchronization

extension EntitlementService {
    /// Runs reads of the store that must all see one revision, and tells which.
    ///
    /// Worker threads: it blocks. `body` may run more than once and must start afresh each time:
    /// it gets a workspace of its own, whose changes are dropped. Where commits come too fast it
    /// holds them up.
    ///
    /// - Throws: what `body` refuses, STORE_UNAVAILABLE, STORE_DAMAGED.
    func readingStore<Result: Sendable>(
        _ body: (inout Workspace<Store>, _ revision: UInt64) throws(LedgerFailure) -> Result
    ) throws(Refusal) -> Result {
        for _ in 0..<4 {
            let sequence = reader.storeSequence.load(ordering: .sequentiallyConsistent)
            guard sequence.isMultiple(of: 2) else { break }
            let result = try readOnce(body)
            if reader.storeSequence.load(ordering: .sequentiallyConsistent) == sequence {
                return result
            }
        }
        return try reader.publication.withLock { (_) throws(Refusal) in try readOnce(body) }
    }

    private func readOnce<Result: Sendable>(
        _ body: (inout Workspace<Store>, UInt64) throws(LedgerFailure) -> Result
    ) throws(Refusal) -> Result {
        // Before the first read: whatever is read is of it, or newer.
        let revision = revision
        var workspace = Workspace(store: store, counters: LedgerCounters())
        do throws(LedgerFailure) {
            return try body(&workspace, revision)
        } catch {
            switch error {
            case .refused(let refusal): throw refusal
            case .storage(let error): throw Refusal(error)
            }
        }
    }
}
