import Entitlements
import Storage

/// The part of the state that a group of events touches: loaded from the store when asked for,
/// changed in memory, written as one batch.
///
/// Events of a group see each other's effects here. All refusals are thrown before the first change
/// of an event, so a refused event leaves no trace; a failing store drops the whole workspace.
struct Workspace<Store: EntitlementReader & Sendable>: Sendable {
    struct ScopedIdentity: Hashable, Sendable {
        let scope: ScopeNumber
        let identity: Identity
    }

    let store: Store
    var revision: UInt64
    var nextCustomer: UInt64
    var customerCount: UInt64
    var transactionCount: UInt64

    var customers: [CustomerKey: CustomerState] = [:]
    var identities: [ScopedIdentity: IdentityRecord] = [:]
    var dirtyIdentities: Set<ScopedIdentity> = []
    /// Payloads, notifications, history, audit, households: written, never read back in a group,
    /// but for the UUIDs.
    var appended = ChangeSet() { didSet { hasChanged = true } }
    var storedUUIDs: [ScopeNumber: [ExactName: UInt64]] = [:]
    var households: [ScopeNumber: [ExactName: Set<UInt64>]] = [:]
    /// What each household bought, as far as it was asked for since the last change.
    var purchases: [ScopeNumber: [ExactName: [HouseholdPurchase]]] = [:]
    /// What this group has changed in `matches`.
    var matches = MatchChanges()
    /// Those whom the current event may change, as they were.
    var before: [CustomerKey: Before] = [:]
    /// How many audit entries the current revision has.
    var auditIndex = 0
    /// Whether the current event changed anything that is stored.
    var hasChanged = false
    /// How many facts said something new since the workspace was made; what was only signed anew
    /// does not.
    var learntFactCount = 0
    /// Purchases whose payment the current event reversed, or gave back.
    var reversals: [Transaction] = []
    /// The queue of fetches and the marks; no part of any revision.
    var refreshes: RefreshNotes

    init(store: Store, counters: LedgerCounters, queuesRefreshes: Bool = false) {
        self.store = store
        refreshes = RefreshNotes(isQueueing: queuesRefreshes)
        revision = counters.revision
        nextCustomer = counters.nextCustomer
        customerCount = counters.customerCount
        transactionCount = counters.transactionCount
    }
}

/// The numbers that go on from group to group.
struct LedgerCounters: Hashable, Sendable {
    var revision: UInt64 = 0
    var nextCustomer: UInt64 = 1
    var customerCount: UInt64 = 0
    var transactionCount: UInt64 = 0
}

// MARK: - Loading

extension Workspace {
    /// Whom a name belongs to; a record without holders when nobody.
    mutating func identity(
        _ identity: Identity, in scope: ScopeNumber
    ) throws(LedgerFailure) -> IdentityRecord {
        let scoped = ScopedIdentity(scope: scope, identity: identity)
        if let known = identities[scoped] { return known }
        let record = try reading { () throws(StorageError) in
            try store.value(for: Key.identity(identity, in: scope), in: .identities)
                .map { (bytes) throws(StorageError) in try RecordCodec.decodeIdentity(bytes) }
        }
        let found = record ?? IdentityRecord()
        identities[scoped] = found
        return found
    }

    /// The customer, following merges.
    ///
    /// - Throws: `.storage(.corruptRecord)` when an index names a customer that is not there.
    mutating func customer(_ key: CustomerKey) throws(LedgerFailure) -> CustomerState {
        var key = key
        while true {
            let state = try load(key)
            guard state.record.mergedInto != 0 else { return state }
            key = CustomerKey(scope: key.scope, number: state.record.mergedInto)
        }
    }

    private mutating func load(_ key: CustomerKey) throws(LedgerFailure) -> CustomerState {
        if let known = customers[key] { return known }
        let state = try reading { () throws(StorageError) in
            try CustomerState.load(key, from: store)
        }
        guard let state else {
            throw .storage(
                .corruptRecord(
                    keyspace: .customers,
                    message: "customer \(key.number) is named by an index "
                        + "and has no record; restore a backup"))
        }
        customers[key] = state
        return state
    }

    /// The members of a household.
    mutating func members(
        of household: String, in scope: ScopeNumber
    ) throws(LedgerFailure) -> Set<UInt64> {
        if let known = households[scope]?[household] { return known }
        var found: Set<UInt64> = []
        let prefix = Key.household(household, in: scope)
        try reading { () throws(StorageError) in
            try store.scan(.households, prefix: prefix, from: nil, reversed: false) { key, _ in
                found.insert(Key.trailingNumber(of: key))
                return true
            }
        }
        households[scope, default: [:]][household] = found
        return found
    }

    /// The revision that stored the notification of this UUID.
    mutating func revision(
        ofNotification uuid: String, in scope: ScopeNumber
    ) throws(LedgerFailure) -> UInt64? {
        if let known = storedUUIDs[scope]?[uuid] { return known }
        return try reading { () throws(StorageError) in
            try store.value(for: Key.notification(uuid: uuid, in: scope), in: .notifications)
                .map { (bytes) throws(StorageError) in
                    try RecordCodec.decodeNumber(bytes, in: .notifications)
                }
        }
    }

    /// A payload of this group or of the store.
    func payload(
        _ payload: Key.Payload, in scope: ScopeNumber
    ) throws(LedgerFailure) -> [UInt8]? {
        try value(for: Key.payload(payload, in: scope), in: .payloads)
    }

    /// What is to be written under a key, or what the store has there.
    func value(
        for key: [UInt8], in keyspace: Keyspace
    ) throws(LedgerFailure) -> [UInt8]? {
        if case .put(let bytes)? = appended.change(for: key, in: keyspace) { return bytes }
        return try reading { () throws(StorageError) in try store.value(for: key, in: keyspace) }
    }

    /// What follows from the facts of `key` now, with what his household bought.
    mutating func fold(_ key: CustomerKey) throws(LedgerFailure) -> Fold {
        let state = try customer(key)
        if let fold = state.fold { return fold }
        let purchases = try householdPurchases(of: state)
        let fold = Fold(
            CustomerHistory(
                transactions: state.transactions, renewals: state.renewals,
                householdPurchases: purchases))
        customers[state.key]?.fold = fold
        return fold
    }

    private mutating func householdPurchases(
        of state: CustomerState
    ) throws(LedgerFailure) -> [HouseholdPurchase] {
        let (household, scope) = (state.record.household, state.key.scope)
        guard !household.isEmpty else { return [] }
        if let known = purchases[scope]?[household] { return known }
        var purchases: [HouseholdPurchase] = []
        for number in try members(of: household, in: scope).sorted() {
            let member = try customer(CustomerKey(scope: scope, number: number))
            purchases += member.transactions.values.compactMap {
                HouseholdPurchase($0.transaction)
            }
        }
        self.purchases[scope, default: [:]][household] = purchases
        return purchases
    }
}

extension CustomerState {
    /// Reads all that is stored of a customer; nil without a record.
    static func load(
        _ key: CustomerKey, from store: some EntitlementReader
    ) throws(StorageError) -> CustomerState? {
        let prefix = Key.customer(key)
        guard let bytes = try store.value(for: prefix, in: .customers) else { return nil }
        var state = CustomerState(key: key, record: try RecordCodec.decodeCustomer(bytes))
        var links: [[UInt8]] = []
        try store.scan(.customers, prefix: prefix, from: nil, reversed: false) { key, _ in
            if key.count > prefix.count { links.append(Array(key.dropFirst(prefix.count))) }
            return true
        }
        for link in links {
            let value = String(validating: link.dropFirst(), as: UTF8.self)
            if let value, let kind = IdentityKind(rawValue: link[0]) {
                state.said.insert(Identity(kind, value))
            } else if let value, link[0] == Key.hintKind {
                state.hinted.insert(value)
            } else {
                throw .corruptRecord(keyspace: .customers, message: "a link does not decode")
            }
        }
        for fact in try records(.transactions, prefix, store) {
            let fact = try RecordCodec.decodeTransaction(fact)
            state.transactions[fact.transaction.transactionID] = fact
        }
        for renewal in try records(.renewals, prefix, store) {
            let renewal = try RecordCodec.decodeRenewal(renewal)
            state.renewals[renewal.originalTransactionID] = renewal
        }
        return state
    }

    private static func records(
        _ keyspace: Keyspace, _ prefix: [UInt8], _ store: some EntitlementReader
    ) throws(StorageError) -> [[UInt8]] {
        var records: [[UInt8]] = []
        try store.scan(keyspace, prefix: prefix, from: nil, reversed: false) { _, value in
            records.append(value)
            return true
        }
        return records
    }
}
