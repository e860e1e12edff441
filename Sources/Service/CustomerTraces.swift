import Entitlements
import Storage

/// Where a customer's names stand beside his own records, found out beside the commit thread: it
/// takes a walk over the names of his world, its customers, and the audit.
///
/// Names of older copies are nowhere else: a newer copy may carry another token, and the one before
/// goes on leading to him.
struct CustomerTraces: Sendable {
    let key: CustomerKey
    /// As it was before the walk: its revision changes with all that is his.
    let record: CustomerRecord
    /// His number and all that were merged into it.
    private(set) var numbers: Set<UInt64>
    /// Tokens and accounts that lead to him.
    private(set) var names: Set<Identity> = []
    /// Entries of the audit in which a name of his may stand.
    private(set) var auditKeys: [[UInt8]] = []

    /// Looks for the traces of a customer who stands for himself.
    init(
        of key: CustomerKey, _ record: CustomerRecord, in store: some EntitlementReader
    ) throws(StorageError) {
        self.key = key
        self.record = record
        numbers = [key.number]
        try findNumbers(in: store)
        for kind in [IdentityKind.appAccountToken, .appTransaction] {
            try findNames(kind, in: store)
        }
        try findAuditEntries(in: store)
    }

    private mutating func findNumbers(in store: some EntitlementReader) throws(StorageError) {
        var sources: [UInt64: [UInt64]] = [:]
        try store.scanDecoding(.customers, prefix: Key.scopePrefix(key.scope)) {
            (key, value) throws(StorageError) in
            guard key.count == Key.customerByteCount else { return true }
            let record = try RecordCodec.decodeCustomer(value)
            guard record.mergedInto != 0 else { return true }
            sources[record.mergedInto, default: []].append(Key.trailingNumber(of: key))
            return true
        }
        var open = [key.number]
        while let number = open.popLast() {
            for source in sources[number] ?? [] where numbers.insert(source).inserted {
                open.append(source)
            }
        }
    }

    private mutating func findNames(
        _ kind: IdentityKind, in store: some EntitlementReader
    ) throws(StorageError) {
        let prefix = Key.scopePrefix(key.scope) + [kind.rawValue]
        try store.scanDecoding(.identities, prefix: prefix) { (key, value) throws(StorageError) in
            let record = try RecordCodec.decodeIdentity(value)
            guard record.mentions(numbers) else { return true }
            names.insert(
                Identity(kind, String(decoding: key.dropFirst(prefix.count), as: UTF8.self)))
            return true
        }
    }

    private mutating func findAuditEntries(in store: some EntitlementReader) throws(StorageError) {
        let eraser = NameEraser(number: key.number, name: record.name, names: names)
        try store.scanDecoding(.audit, prefix: []) { (key, value) throws(StorageError) in
            guard eraser.mayConcern(value) else { return true }
            let entry = try RecordCodec.decodeAudit(value)
            if eraser.erased(entry, isOfHis: true) != entry { auditKeys.append(key) }
            return true
        }
    }
}

extension IdentityRecord {
    /// Whether it leads to one of these customers.
    func mentions(_ numbers: Set<UInt64>) -> Bool {
        numbers.contains(said) || numbers.contains(moved) || numbers.contains(primary)
            || holders.contains { numbers.contains($0) }
    }
}

extension EntitlementService {
    /// What is to be forgotten, with where it stands. Worker threads: the time grows with the names
    /// and customers of the world.
    func traced(_ request: ForgetRequest) -> Event.Forget {
        var forget = Event.Forget(
            scope: world(request.scope).scope, identity: Identity(request.customer),
            isDryRun: request.isDryRun)
        do throws(LedgerFailure) {
            forget.traces = try traces(of: forget.identity, in: world(request.scope).number)
        } catch {
            // The commit thread meets the same, and tells.
            forget.traces = nil
        }
        return forget
    }

    private func traces(
        of identity: Identity, in scope: ScopeNumber
    ) throws(LedgerFailure) -> CustomerTraces? {
        var workspace = Workspace(store: store, counters: LedgerCounters())
        let asked = try workspace.identity(identity, in: scope).primary
        guard asked != 0,
            let (key, record) = try workspace.standingRecord(
                of: CustomerKey(scope: scope, number: asked))
        else { return nil }
        return try reading { () throws(StorageError) in
            try CustomerTraces(of: key, record, in: store)
        }
    }
}
