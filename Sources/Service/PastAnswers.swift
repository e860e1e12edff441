import Entitlements
import Storage

extension EntitlementReader where Self: Sendable {
    /// The snapshot with all grants of the customer whom a name means, made from his facts; nil
    /// when nobody. It reads and folds all of them on the caller's thread.
    ///
    /// All of it is of one revision of the customer: it begins again when a commit comes between.
    ///
    /// - Throws: STORE_UNAVAILABLE, STORE_DAMAGED.
    func wholeSnapshot(of identity: Identity, in scope: ScopeNumber) throws(Refusal) -> [UInt8]? {
        for _ in 0..<8 {
            do throws(LedgerFailure) {
                var workspace = Workspace(store: self, counters: LedgerCounters())
                let record = try workspace.identity(identity, in: scope)
                guard record.primary != 0 else { return nil }
                let key = try workspace.person(CustomerKey(scope: scope, number: record.primary))
                let known = workspace.customers[key]?.record
                let fold = try workspace.fold(key)
                let current = try reading { () throws(StorageError) in
                    try value(for: Key.customer(key), in: .customers)
                        .map { (bytes) throws(StorageError) in
                            try RecordCodec.decodeCustomer(bytes)
                        }
                }
                if current == known { return fold.snapshot }
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
}
