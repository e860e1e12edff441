import Entitlements
import Storage

// What of a customer is read from the store: all of it, or of a long history only what the current
// event names.

extension Workspace {
    /// Reads the facts of a long history that are not here yet.
    mutating func complete(_ key: CustomerKey) throws(LedgerFailure) {
        guard let state = customers[key], !state.isWhole else { return }
        customers.load(try completed(state))
    }

    /// A customer with the facts that are not in the workspace yet; they are read once per group.
    mutating func completed(_ state: CustomerState) throws(LedgerFailure) -> CustomerState {
        let stored: StoredFacts
        if let known = storedFacts[state.key] {
            stored = known
        } else {
            stored = try reading { () throws(StorageError) in
                try StoredFacts(of: state.key, from: store)
            }
            storedFacts[state.key] = stored
        }
        return try reading { () throws(StorageError) in try state.completed(with: stored) }
    }

    /// The fact of a transaction; nil when the customer has none of it.
    mutating func fact(
        _ id: String, of key: CustomerKey
    ) throws(LedgerFailure) -> TransactionFact? {
        if let fact = customers[key]?.transactions[id] { return fact }
        guard customers[key]?.isWhole == false else { return nil }
        try reading { () throws(StorageError) in
            if let record = try store.value(for: Key.of(key, id), in: .transactions) {
                try customers.load(record: record, of: key)
            }
        }
        return customers[key]?.transactions[id]
    }

    /// The renewal info of a chain; nil when the customer has none of it.
    mutating func renewal(
        _ chain: String, of key: CustomerKey
    ) throws(LedgerFailure) -> RenewalInfo? {
        if let renewal = customers[key]?.renewals[chain] { return renewal }
        guard customers[key]?.isWhole == false else { return nil }
        try reading { () throws(StorageError) in
            if let record = try store.value(for: Key.of(key, chain), in: .renewals) {
                customers.load(try RecordCodec.decodeRenewal(record), of: key)
            }
        }
        return customers[key]?.renewals[chain]
    }

    /// Whether the customer has no transaction of a chain; asked for in long histories only.
    mutating func isNew(chain: String, of key: CustomerKey) throws(LedgerFailure) -> Bool {
        guard customers[key]?.isWhole == false else { return false }
        let record = try identity(Identity(.originalTransaction, chain), in: key.scope)
        return !record.holders.contains(key.number)
    }
}

extension CustomerState {
    /// Reads what is stored of a customer, of a long history without its facts; nil without a
    /// record.
    static func load(
        _ key: CustomerKey, from store: some EntitlementReader
    ) throws(StorageError) -> CustomerState? {
        let prefix = Key.customer(key)
        // His own record comes first, then his links: one iterator instead of a look-up and one.
        var records: [(key: [UInt8], value: [UInt8])] = []
        try store.scan(.customers, prefix: prefix, from: nil, reversed: false) { key, value in
            records.append((key, value))
            return true
        }
        guard let own = records.first, own.key.count == prefix.count else { return nil }
        var state = CustomerState(key: key, record: try RecordCodec.decodeCustomer(own.value))
        for record in records.dropFirst() {
            try state.readLink(record.key.dropFirst(prefix.count))
        }
        // What a household bought and what is contested is decided over all facts.
        if state.record.isLong, state.record.household.isEmpty, !state.record.isEntangled,
            let snapshot = try store.value(
                for: Key.snapshot(of: key, named: state.record.name), in: .snapshots)
        {
            state.long = LongHistory(snapshot: snapshot)
            state.isWhole = state.long == nil
        }
        guard state.isWhole else { return state }
        let stored = try StoredFacts(of: key, from: store)
        state.transactions = stored.transactions
        state.renewals = stored.renewals
        return state
    }

    /// The customer with all his facts: those of the store, and what was changed since.
    func completed(with stored: StoredFacts) throws(StorageError) -> CustomerState {
        guard !isWhole else { return self }
        var whole = self
        whole.isWhole = true
        whole.long = nil
        whole.changes = []
        whole.changedRenewals = []
        whole.fold = nil
        whole.transactions = stored.transactions
        whole.renewals = stored.renewals
        for id in dirtyTransactions {
            if let record = transactions.record(id.text) {
                try whole.transactions.insert(record: record)
            } else {
                whole.transactions.remove(id.text)
            }
        }
        for chain in dirtyRenewals { whole.renewals[chain] = renewals[chain] }
        return whole
    }

    private mutating func readLink(_ link: ArraySlice<UInt8>) throws(StorageError) {
        let value = String(validating: link.dropFirst(), as: UTF8.self)
        let first = link.first ?? 0
        if let value, let kind = IdentityKind(rawValue: first) {
            said.insert(Identity(kind, value))
        } else if let value, first == Key.hintKind {
            hinted.insert(value)
        } else {
            throw .corruptRecord(keyspace: .customers, message: "a link does not decode")
        }
    }
}

/// A customer's facts as they are stored.
struct StoredFacts: Sendable {
    private(set) var transactions = FactSet()
    private(set) var renewals: [ExactName: RenewalInfo] = [:]

    /// Reads them all.
    init(of key: CustomerKey, from store: some EntitlementReader) throws(StorageError) {
        let prefix = Key.customer(key)
        var failure: StorageError?
        try store.scan(.transactions, prefix: prefix, from: nil, reversed: false) { _, record in
            do throws(StorageError) {
                try transactions.insert(record: record)
            } catch {
                failure = error
            }
            return failure == nil
        }
        try store.scan(.renewals, prefix: prefix, from: nil, reversed: false) { _, record in
            do throws(StorageError) {
                let renewal = try RecordCodec.decodeRenewal(record)
                renewals[renewal.originalTransactionID] = renewal
            } catch {
                failure = failure ?? error
            }
            return failure == nil
        }
        if let failure { throw failure }
    }
}
