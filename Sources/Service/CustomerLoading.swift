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
                try StoredFacts(
                    of: state.key, with: StoredLinks(of: state.key, from: store), from: store,
                    transactionCount: state.long?.transactionCount ?? 0)
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
        var own: Result<CustomerRecord, StorageError>?
        var links = StoredLinks()
        try store.scan(.customers, prefix: prefix, from: nil, reversed: false) { link, value in
            if own != nil {
                links.insert(link.dropFirst(prefix.count))
                return true
            }
            guard link.count == prefix.count else { return false }
            let record = Result { () throws(StorageError) in
                try RecordCodec.decodeCustomer(value)
            }
            own = record
            // Whoever is named with each of 25,000 purchases has a link for each: 30 ms to read.
            return (try? record.get().isReadInParts) == false
        }
        guard let own else { return nil }
        var state = CustomerState(key: key, record: try own.get())
        if state.record.isReadInParts {
            if try state.loadLong(from: store) { return state }
            links = try StoredLinks(of: key, from: store)
        }
        let stored = try StoredFacts(of: key, with: links, from: store)
        state.transactions = stored.transactions
        state.renewals = stored.renewals
        state.said = try stored.links.said()
        state.hinted = try stored.links.hinted()
        return state
    }

    /// Reads what is at hand of a long history; false where there is nothing.
    private mutating func loadLong(
        from store: some EntitlementReader
    ) throws(StorageError) -> Bool {
        guard
            let snapshot = try store.value(
                for: Key.snapshot(of: key, named: record.name), in: .snapshots),
            let long = LongHistory(snapshot: snapshot)
        else { return false }
        self.long = long
        isWhole = false
        hinted = try StoredLinks(of: key, from: store, kind: Key.hintKind).hinted()
        return true
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
        // Hints are here already; of what was said only that which was said since is.
        whole.said.formUnion(try stored.links.said())
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
}

extension CustomerRecord {
    /// Whether an event need not read all facts, provided that the snapshot has what it takes: what
    /// a household bought and what is contested is decided over all of them.
    fileprivate var isReadInParts: Bool { isLong && household.isEmpty && !isEntangled }
}

/// What was linked to a customer, as it is stored.
struct StoredLinks: Sendable {
    /// A kind, and a name.
    private var links: [ArraySlice<UInt8>] = []

    /// None.
    init() {}

    /// Reads them all, or those of one kind.
    init(
        of key: CustomerKey, from store: some EntitlementReader, kind: UInt8? = nil
    ) throws(StorageError) {
        let prefix = Key.customer(key)
        try store.scan(
            .customers, prefix: prefix + (kind.map { [$0] } ?? []), from: nil, reversed: false
        ) { link, _ in
            // His own record has no more than the prefix.
            if link.count > prefix.count { insert(link.dropFirst(prefix.count)) }
            return true
        }
    }

    /// Adds one.
    mutating func insert(_ link: ArraySlice<UInt8>) { links.append(link) }

    /// What was said in so many words.
    func said() throws(StorageError) -> Set<Identity> {
        var said: Set<Identity> = []
        for link in links where link.first != Key.hintKind {
            guard let kind = link.first.flatMap({ IdentityKind(rawValue: $0) }) else {
                throw .undecodableLink
            }
            said.insert(Identity(kind, try name(in: link)))
        }
        return said
    }

    /// Chains that only an unsigned body has named.
    func hinted() throws(StorageError) -> Set<ExactName> {
        var hinted: Set<ExactName> = []
        for link in links where link.first == Key.hintKind {
            hinted.insert(ExactName(try name(in: link)))
        }
        return hinted
    }

    private func name(in link: ArraySlice<UInt8>) throws(StorageError) -> String {
        guard let name = String(validating: link.dropFirst(), as: UTF8.self) else {
            throw .undecodableLink
        }
        return name
    }
}

extension StorageError {
    fileprivate static var undecodableLink: StorageError {
        .corruptRecord(keyspace: .customers, message: "a link does not decode")
    }
}

/// A customer's facts as they are stored.
struct StoredFacts: Sendable {
    private(set) var transactions = FactSet()
    private(set) var renewals: [ExactName: RenewalInfo] = [:]
    let links: StoredLinks

    /// Reads them all, with all that was linked to him.
    init(of key: CustomerKey, from store: some EntitlementReader) throws(StorageError) {
        try self.init(of: key, with: StoredLinks(of: key, from: store), from: store)
    }

    /// So many records tell how long the others are.
    private static let sampleCount = 64

    /// Reads them all; the links are known. So may be how many transactions there are: memory that
    /// grows by doubling was a fifth of what reading 50,000 took.
    init(
        of key: CustomerKey, with links: StoredLinks, from store: some EntitlementReader,
        transactionCount: Int = 0
    ) throws(StorageError) {
        self.links = links
        let prefix = Key.customer(key)
        var failure: StorageError?
        try store.scan(.transactions, prefix: prefix, from: nil, reversed: false) { _, record in
            do throws(StorageError) {
                try transactions.insert(record: record)
            } catch {
                failure = error
            }
            if transactions.count == Self.sampleCount, transactionCount > Self.sampleCount {
                let byteCount = transactions.arena.count / Self.sampleCount * transactionCount
                // A little more: some records are longer than the first ones.
                transactions.reserve(
                    recordCount: transactionCount, byteCount: byteCount + byteCount / 8)
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
