import AppStore
import Entitlements
import SnapshotTable
import Storage

extension EntitlementReader {
    /// All worlds that were ever configured, not only those of today.
    func numberedScopes() throws(StorageError) -> [ScopeNumber] {
        guard let bytes = try value(for: Key.nextScope, in: .meta) else { return [] }
        let next = try RecordCodec.decodeNumber(bytes, in: .meta)
        return (1..<max(1, next)).map { ScopeNumber(UInt16(truncatingIfNeeded: $0)) }
    }

    /// Calls `body` with the snapshot of the customer of this name, where it lies; false when there
    /// is nobody. One read; the bytes are good during the call only.
    ///
    /// - Throws: STORE_UNAVAILABLE, STORE_DAMAGED.
    func withSnapshot(
        named name: Span<UInt8>, in scope: ScopeNumber, _ body: (Span<UInt8>) -> Void
    ) throws(Refusal) -> Bool {
        do throws(StorageError) {
            let key = Key.snapshot(named: name, in: scope)
            let isWhole = try withValue(for: key, in: .snapshots) { snapshot in
                guard SnapshotView(snapshot).isWellFormed else { return false }
                body(snapshot)
                return true
            }
            guard let isWhole else { return false }
            guard isWhole else { throw .undecodableSnapshot }
            return true
        } catch {
            throw Refusal(error)
        }
    }

    /// The snapshot of the customer whom one of Apple's names means; nil when nobody.
    ///
    /// - Throws: STORE_UNAVAILABLE, STORE_DAMAGED.
    func snapshot(of identity: Identity, in scope: ScopeNumber) throws(Refusal) -> [UInt8]? {
        do throws(StorageError) {
            let key = Key.identity(identity, in: scope)
            guard let record = try value(for: key, in: .identities) else { return nil }
            let number = try RecordCodec.decodeIdentity(record).primary
            guard let snapshot = try mergedSnapshot(of: number, in: scope) else { return nil }
            guard SnapshotView(snapshot.span).isWellFormed else { throw .undecodableSnapshot }
            return snapshot
        } catch {
            throw Refusal(error)
        }
    }

    /// The snapshot of a customer, or of the one that he was merged into: names of superseded
    /// copies still lead to the old number.
    ///
    /// The number comes first: who has no name, and is given one between two reads, is found under
    /// his name by the later one.
    private func mergedSnapshot(
        of number: UInt64, in scope: ScopeNumber
    ) throws(StorageError) -> [UInt8]? {
        var number = number
        while number != 0 {
            let customer = CustomerKey(scope: scope, number: number)
            let key = Key.customer(customer)
            if let snapshot = try value(for: key, in: .snapshots) { return snapshot }
            guard let bytes = try value(for: key, in: .customers) else { return nil }
            let record = try RecordCodec.decodeCustomer(bytes)
            if record.mergedInto == 0, !record.name.isEmpty {
                return try value(
                    for: Key.snapshot(of: customer, named: record.name), in: .snapshots)
            }
            number = record.mergedInto
        }
        return nil
    }
}

extension EntitlementWriter {
    /// Puts the snapshots of named customers under their names, where an earlier release had them
    /// under their numbers. May be cut short and run again.
    ///
    /// Nobody is answered meanwhile: `onProgress` is told how many were moved so far, at the first
    /// of them, now and then, and at the end if there were any.
    ///
    /// - Throws: what the store throws.
    func placeSnapshotsByName(
        onProgress: (_ movedCount: Int, _ isDone: Bool) -> Void
    ) throws(StorageError) {
        guard try value(for: Key.namedSnapshots, in: .meta) == nil else { return }
        var movedCount = 0
        var batchCount = 0
        for scope in try numberedScopes() {
            var start: [UInt8]?
            repeat {
                let changes = try misplacedSnapshots(of: scope, from: &start)
                guard !changes.isEmpty else { continue }
                try commit(changes)
                movedCount += (changes.changes[.snapshots]?.count ?? 0) / 2
                if batchCount.isMultiple(of: Self.batchesPerReport) {
                    onProgress(movedCount, false)
                }
                batchCount += 1
            } while start != nil
        }
        var mark = ChangeSet()
        mark.put([], for: Key.namedSnapshots, in: .meta)
        try commit(mark)
        if movedCount > 0 { onProgress(movedCount, true) }
    }

    private static var batchesPerReport: Int { 32 }
    /// A batch ends with the customer who fills either: earlier releases gave whoever has 50,000
    /// transactions a snapshot of 6 MB.
    private static var batchCustomerCountMax: Int { 4_096 }
    private static var batchByteCountMax: Int { 8 << 20 }

    /// Some of the changes that put snapshots under names; `start` is where to go on, or nil.
    private func misplacedSnapshots(
        of scope: ScopeNumber, from start: inout [UInt8]?
    ) throws(StorageError) -> ChangeSet {
        var changes = ChangeSet()
        var count = 0
        var byteCount = 0
        var next: [UInt8]?
        try scanDecoding(.customers, prefix: Key.scopePrefix(scope), from: start) {
            (key, bytes) throws(StorageError) in
            guard key.count == Key.customerByteCount else { return true }
            guard count < Self.batchCustomerCountMax, byteCount < Self.batchByteCountMax else {
                next = key
                return false
            }
            count += 1
            let name = try RecordCodec.decodeCustomer(bytes).name
            guard !name.isEmpty, let snapshot = try value(for: key, in: .snapshots) else {
                return true
            }
            byteCount += snapshot.count
            let customer = CustomerKey(scope: scope, number: Key.trailingNumber(of: key))
            changes.put(snapshot, for: Key.snapshot(of: customer, named: name), in: .snapshots)
            changes.delete(key, in: .snapshots)
            return true
        }
        start = next
        return changes
    }
}

extension StorageError {
    /// What is stored as a snapshot is none.
    static var undecodableSnapshot: StorageError {
        .corruptRecord(
            keyspace: .snapshots, message: "a snapshot does not decode; rebuild the customer")
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
