import AppStore
import Entitlements
import SnapshotTable
import Storage

extension EntitlementReader {
    /// The snapshot of the customer whom a name means; nil when nobody.
    ///
    /// - Throws: STORE_UNAVAILABLE, STORE_DAMAGED.
    func snapshot(of identity: Identity, in scope: ScopeNumber) throws(Refusal) -> [UInt8]? {
        do throws(StorageError) {
            let key = Key.identity(identity, in: scope)
            guard let record = try value(for: key, in: .identities) else { return nil }
            let number = try RecordCodec.decodeIdentity(record).primary
            guard let snapshot = try mergedSnapshot(of: number, in: scope) else { return nil }
            guard SnapshotView(snapshot.span).isWellFormed else {
                throw .corruptRecord(
                    keyspace: .snapshots,
                    message: "a snapshot does not decode; rebuild the customer")
            }
            return snapshot
        } catch {
            throw Refusal(error)
        }
    }

    /// The snapshot of a customer, or of the one that he was merged into: names of superseded
    /// copies still lead to the old number.
    private func mergedSnapshot(
        of number: UInt64, in scope: ScopeNumber
    ) throws(StorageError) -> [UInt8]? {
        var number = number
        while number != 0 {
            let key = Key.customer(CustomerKey(scope: scope, number: number))
            if let snapshot = try value(for: key, in: .snapshots) { return snapshot }
            guard let record = try value(for: key, in: .customers) else { return nil }
            number = try RecordCodec.decodeCustomer(record).mergedInto
        }
        return nil
    }
}

extension Refusal {
    /// The answer to a call that needed a store which failed.
    init(_ error: StorageError) {
        switch error {
        case .damaged, .corruptRecord:
            self.init(.storeDamaged, "stored data is damaged: \(error)")
        default:
            self.init(
                .storeUnavailable, "the store cannot be used now: \(error)",
                retryAfterMilliseconds: 1_000)
        }
    }

    /// The answer to signed data that did not pass verification.
    init(_ error: AppStoreError) {
        self.init(RefusalReason(rawValue: error.reason) ?? .malformedPayload, error.message)
    }
}
