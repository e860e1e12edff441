import AppStore
import Entitlements
import Storage

/// The part of the state that a group of events touches: loaded from the store when asked for,
/// changed in memory, written as one batch.
///
/// Events of a group see each other's effects here. All refusals are thrown before the first change
/// of an event, so a refused event leaves no trace; a failing store drops the whole workspace.
struct Workspace<Store: EntitlementReader & Sendable>: Sendable {
    let store: Store
    var revision: UInt64
    var nextCustomer: UInt64
    var customerCount: UInt64
    var transactionCount: UInt64

    var customers = CustomerStates()
    var identities = IdentityTable()
    /// Payloads, notifications, history, audit, households: written, never read back in a group,
    /// but for the UUIDs.
    var appended = ChangeSet() { didSet { hasChanged = true } }
    var storedUUIDs: [ScopeNumber: [ExactName: UInt64]] = [:]
    var households: [ScopeNumber: [ExactName: Set<UInt64>]] = [:]
    /// What each household bought, as far as it was asked for since the last change.
    var purchases: [ScopeNumber: [ExactName: HouseholdPurchases]] = [:]
    /// What this group has changed in `matches`.
    var matches = MatchChanges()
    /// Those whom the current event may change, as they were.
    var before: [CustomerKey: Before] = [:]
    /// How many audit entries the current revision has.
    var auditIndex = 0
    /// The current revision while what comes in lies in the notification that it stores; else 0.
    var payloadRevision: UInt64 = 0
    /// Whether the current event changed anything that is stored.
    var hasChanged = false
    /// How many facts said something new since the workspace was made; what was only signed anew
    /// does not.
    var learntFactCount = 0
    /// Purchases whose payment the current event reversed, or gave back.
    var reversals: [Transaction] = []
    /// The queue of fetches and the marks; no part of any revision.
    var refreshes: RefreshNotes
    /// How many customers were ever forgotten; 0 spares every event a look.
    var forgottenCount: UInt64
    /// Names that nobody has any more, unless somebody takes one of them in the same group.
    var withdrawnNames: [(scope: ScopeNumber, name: String)] = []
    /// What is to leave the disk, by customer.
    var erasures: [CustomerKey: [KeyRange]] = [:]
    /// The facts of long histories that an event needed whole, as they were before the group.
    var storedFacts: [CustomerKey: StoredFacts] = [:]
    /// From when on a history counts as long.
    let longHistoryLimits: LongHistoryLimits

    init(
        store: Store, counters: LedgerCounters, queuesRefreshes: Bool = false,
        longHistoryLimits: LongHistoryLimits = LongHistoryLimits()
    ) {
        self.store = store
        self.longHistoryLimits = longHistoryLimits
        refreshes = RefreshNotes(isQueueing: queuesRefreshes)
        revision = counters.revision
        nextCustomer = counters.nextCustomer
        customerCount = counters.customerCount
        transactionCount = counters.transactionCount
        forgottenCount = counters.forgottenCount
    }
}

/// The numbers that go on from group to group.
struct LedgerCounters: Hashable, Sendable {
    var revision: UInt64 = 0
    var nextCustomer: UInt64 = 1
    var customerCount: UInt64 = 0
    var transactionCount: UInt64 = 0
    var forgottenCount: UInt64 = 0
}

// MARK: - Loading

extension Workspace {
    /// Whom a name belongs to; a record without holders when nobody.
    mutating func identity(
        _ identity: Identity, in scope: ScopeNumber
    ) throws(LedgerFailure) -> IdentityRecord {
        if let known = identities.record(of: identity, in: scope) { return known }
        let record = try reading { () throws(StorageError) in
            try store.value(for: Key.identity(identity, in: scope), in: .identities)
                .map { (bytes) throws(StorageError) in try RecordCodec.decodeIdentity(bytes) }
        }
        let found = record ?? IdentityRecord()
        identities.load(found, of: identity, in: scope)
        return found
    }

    /// The customer with all that is his, following merges.
    ///
    /// - Throws: `.storage(.corruptRecord)` when an index names a customer that is not there.
    mutating func customer(_ key: CustomerKey) throws(LedgerFailure) -> CustomerState {
        let key = try person(key)
        try complete(key)
        guard let state = customers[key] else {
            preconditionFailure("customer \(key.number) was just loaded")
        }
        return state
    }

    /// Whom a number means, following merges: he is among `customers` then, of a long history
    /// without the facts that nobody has asked for.
    ///
    /// - Throws: `.storage(.corruptRecord)` when an index names a customer that is not there.
    mutating func person(_ key: CustomerKey) throws(LedgerFailure) -> CustomerKey {
        var key = key
        while true {
            if !customers.contains(key) { try load(key) }
            guard let next = customers[key]?.record.mergedInto, next != 0 else { return key }
            key = CustomerKey(scope: key.scope, number: next)
        }
    }

    private mutating func load(_ key: CustomerKey) throws(LedgerFailure) {
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
        customers.load(state)
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

    /// The signed copy behind a transaction, of this group or of the store; empty when it is lost,
    /// or was removed.
    func payload(
        of fact: TransactionFact, in scope: ScopeNumber
    ) throws(LedgerFailure) -> [UInt8] {
        guard fact.payloadRevision == 0 else {
            return try notification(fact.payloadRevision, in: scope)?.transaction ?? []
        }
        let key = Key.payload(.transaction(fact.transaction.transactionID), in: scope)
        return try value(for: key, in: .payloads) ?? []
    }

    /// The signed copy behind renewal info, likewise.
    func payload(
        of renewal: RenewalInfo, in scope: ScopeNumber
    ) throws(LedgerFailure) -> [UInt8] {
        guard renewal.payloadRevision == 0 else {
            return try notification(renewal.payloadRevision, in: scope)?.renewal ?? []
        }
        let key = Key.payload(.renewal(renewal.originalTransactionID), in: scope)
        return try value(for: key, in: .payloads) ?? []
    }

    /// The notification that a revision stored.
    private func notification(
        _ revision: UInt64, in scope: ScopeNumber
    ) throws(LedgerFailure) -> StoredNotification? {
        guard revision != PayloadPlace.forgotten else { return nil }
        let key = Key.payload(.notification(revision: revision), in: scope)
        return try value(for: key, in: .payloads).flatMap { StoredNotification(body: $0) }
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
        let fold = Fold(
            state.transactions, renewals: state.renewals,
            household: try householdPurchases(of: state))
        customers.keep(fold, of: state.key)
        return fold
    }

    private mutating func householdPurchases(
        of state: CustomerState
    ) throws(LedgerFailure) -> HouseholdPurchases {
        let (household, scope) = (state.record.household, state.key.scope)
        guard !household.isEmpty else { return .none }
        if let known = purchases[scope]?[household] { return known }
        var facts: [FactSet] = []
        for number in try members(of: household, in: scope).sorted() {
            facts.append(try customer(CustomerKey(scope: scope, number: number)).transactions)
        }
        let purchases = HouseholdPurchases(facts)
        self.purchases[scope, default: [:]][household] = purchases
        return purchases
    }
}
