import AppStore
import Entitlements
import Storage

// Forgetting a customer, in one batch: his names lead to nobody any more, his facts and the bytes
// behind them name nobody, and what counts of them stays as it was. He goes on as a number, with
// the chains that he holds; see ForgottenCopies.swift for what comes in of them later.

extension Ledger {
    /// Forgets a customer; only a dry run tells by what names.
    mutating func apply(
        _ forget: Event.Forget, at clock: Timestamp
    ) throws(LedgerFailure) -> ForgetReply {
        var reply = try apply(isDryRun: forget.isDryRun, \.revision) {
            (ledger) throws(LedgerFailure) in
            try ledger.take(forget, at: clock)
        }
        if !forget.isDryRun { reply.names = [] }
        return reply
    }

    private mutating func take(
        _ forget: Event.Forget, at clock: Timestamp
    ) throws(LedgerFailure) -> ForgetReply {
        let scope = try number(of: forget.scope)
        let asked = try workspace.identity(forget.identity, in: scope)
        guard asked.primary != 0 else {
            throw .refused(Refusal(.unknownCustomer, "nothing is known under this name"))
        }
        let key = try workspace.customer(CustomerKey(scope: scope, number: asked.primary)).key
        let traces = try traces(of: key, forget.traces)
        var reply = ForgetReply(number: key.number)
        _ = try change([key], at: clock) { (ledger) throws(LedgerFailure) in
            reply = try ledger.workspace.forget(key, traces, at: clock)
        }
        reply.revision = workspace.revision
        return reply
    }

    /// What the worker has found, where the customer is still the one that it has seen.
    private func traces(
        of key: CustomerKey, _ found: CustomerTraces?
    ) throws(LedgerFailure) -> CustomerTraces {
        let stored = try reading { () throws(StorageError) in
            try workspace.store.value(for: Key.customer(key), in: .customers)
                .map { (bytes) throws(StorageError) in try RecordCodec.decodeCustomer(bytes) }
        }
        // What this group has changed is not in the store, and is looked for in the workspace.
        let record = stored ?? workspace.customers[key]?.record ?? CustomerRecord()
        if let found, found.key == key, found.record == record { return found }
        return try reading { () throws(StorageError) in
            try CustomerTraces(of: key, record, in: workspace.store)
        }
    }
}

// MARK: - One customer

extension Workspace {
    /// Takes away all that names a customer, and tells how much that was.
    mutating func forget(
        _ key: CustomerKey, _ traces: CustomerTraces, at clock: Timestamp
    ) throws(LedgerFailure) -> ForgetReply {
        var reply = ForgetReply(number: key.number)
        let state = try customer(key)
        var ranges = RangesOfCustomer(numbers: traces.numbers, in: key.scope)
        let name = state.record.name
        let names = namesOf(state, traces)
        let history = try historyEntries(of: key)
        reply.names = names.map(\.description).sorted()
        reply.nameCount = names.count
        reply.transactionCount = state.transactions.count
        for identity in names {
            try withdraw(identity, from: key, traces.numbers)
            ranges.add(.identities, Key.identity(identity, in: key.scope))
        }
        try settleChains(of: state, traces.numbers)
        reply.payloadCount = try removePayloads(
            of: state, history, traces.numbers, into: &ranges)
        try leaveHouseholdUnlessShared(key, into: &ranges)
        reply.isInHousehold = customers[key]?.record.household.isEmpty == false
        if try refreshJob(of: key) != nil {
            setRefreshJob(nil, of: key)
            reply.wasQueued = true
        }
        reply.auditCount = try eraseAudit(
            of: state, traces, names, revisions: Set(history.keys), into: &ranges)
        if !name.isEmpty {
            let snapshot = Key.snapshot(of: key, named: name)
            appended.delete(snapshot, in: .snapshots)
            ranges.add(.snapshots, snapshot)
            withdrawnNames.append((key.scope, name))
        }
        customers[key]?.becomeForgotten()
        if !state.record.isForgotten { forgottenCount += 1 }
        audit(
            "FORGOTTEN", of: key,
            detail: "names: \(reply.nameCount), payloads: \(reply.payloadCount), "
                + "transactions that stay: \(reply.transactionCount)",
            at: clock)
        try note(ranges.ranges, toErase: key)
        return reply
    }

    /// All names of a customer but his chains and transactions, those of older copies too; and the
    /// chains of which only a word is known.
    private func namesOf(_ state: CustomerState, _ traces: CustomerTraces) -> Set<Identity> {
        var names = traces.names.union(
            identities.names(of: traces.numbers, in: state.key.scope))
        let held = state.chains
        for identity in state.knownIdentities {
            switch identity.kind {
            case .transaction: continue
            case .originalTransaction where held.contains(ExactName(identity.value)): continue
            default: names.insert(identity)
            }
        }
        if state.isNamed { names.insert(Identity(.customer, state.record.name)) }
        return names
    }

    /// Has a name lead to him no more. What is his in so many words is nobody's afterwards; what
    /// others' facts carry as well goes on being theirs.
    private mutating func withdraw(
        _ identity: Identity, from key: CustomerKey, _ numbers: Set<UInt64>
    ) throws(LedgerFailure) {
        var record = try self.identity(identity, in: key.scope)
        let owner = record.moved == 0 ? record.said : record.moved
        if numbers.contains(owner) || identity.kind == .customer {
            try unsay(identity, &record, in: key.scope)
        } else if numbers.contains(record.said) {
            record.said = 0
        }
        record.holders.removeAll { numbers.contains($0) }
        if numbers.contains(record.primary) {
            record.primary =
                [record.moved, record.said].first { $0 != 0 } ?? record.holders.last ?? 0
        }
        setIdentity(identity, in: key.scope, record)
    }

    /// Takes back what was said of a name, with whoever it was said of.
    private mutating func unsay(
        _ identity: Identity, _ record: inout IdentityRecord, in scope: ScopeNumber
    ) throws(LedgerFailure) {
        for number in [record.said, record.moved] where number != 0 {
            let key = try person(CustomerKey(scope: scope, number: number))
            try complete(key)
            guard customers[key]?.said.contains(identity) == true else { continue }
            try rememberBefore(key)
            customers[key]?.said.remove(identity)
            customers[key]?.dirtyLinks.insert(identity)
            customers[key]?.markChanged()
        }
        record.said = 0
        record.moved = 0
        record.movedAt = 0
    }

    /// Has the chains that he holds be his because he holds them: nothing that was said of them
    /// before is to give them to somebody else later.
    private mutating func settleChains(
        of state: CustomerState, _ numbers: Set<UInt64>
    ) throws(LedgerFailure) {
        for chain in state.chains {
            let identity = Identity(.originalTransaction, chain.text)
            var record = try self.identity(identity, in: state.key.scope)
            if record.said != 0 || record.moved != 0 {
                try unsay(identity, &record, in: state.key.scope)
            }
            record.primary = state.key.number
            setIdentity(identity, in: state.key.scope, record)
        }
    }

    /// Leaves his household where nobody else is in it. Else he stays, as a number: what the others
    /// may use and what a refund of his costs follow from who shares with whom.
    private mutating func leaveHouseholdUnlessShared(
        _ key: CustomerKey, into ranges: inout RangesOfCustomer
    ) throws(LedgerFailure) {
        let household = customers[key]?.record.household ?? ""
        guard !household.isEmpty,
            try members(of: household, in: key.scope).subtracting([key.number]).isEmpty
        else { return }
        ranges.add(.households, Key.member(key.number, of: household, in: key.scope))
        try leave(household, key)
        customers[key]?.record.household = ""
    }

    private mutating func eraseAudit(
        of state: CustomerState, _ traces: CustomerTraces, _ names: Set<Identity>,
        revisions: Set<UInt64>, into ranges: inout RangesOfCustomer
    ) throws(LedgerFailure) -> Int {
        let eraser = NameEraser(
            number: state.key.number, name: state.record.name,
            names: names.filter { $0.kind == .appAccountToken || $0.kind == .appTransaction })
        var count = 0
        for key in Set(traces.auditKeys).union((appended.changes[.audit] ?? [:]).keys) {
            guard let bytes = try value(for: key, in: .audit) else { continue }
            let entry = try reading { () throws(StorageError) in
                try RecordCodec.decodeAudit(bytes)
            }
            let revision = key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            let erased = eraser.erased(entry, isOfHis: revisions.contains(revision))
            guard erased != entry else { continue }
            appended.put(RecordCodec.encode(erased), for: key, in: .audit)
            ranges.add(.audit, key)
            count += 1
        }
        return count
    }

    /// Notes what is to leave the disk: to the key for this process, and without names in the
    /// store, in the same batch, for the next one.
    private mutating func note(
        _ ranges: [KeyRange], toErase key: CustomerKey
    ) throws(LedgerFailure) {
        erasures[key, default: []] += ranges
        let markKey = Key.erasure(of: key)
        let known = try value(for: markKey, in: .meta)
        var wide = try reading { () throws(StorageError) in
            try known.map { (bytes) throws(StorageError) in
                try RecordCodec.decodeRanges(bytes)
            } ?? []
        }
        for range in ranges.map(\.withoutNames) where !wide.contains(range) { wide.append(range) }
        appended.put(RecordCodec.encode(wide), for: markKey, in: .meta)
    }
}

/// The keys under which something of a customer stood.
struct RangesOfCustomer {
    private(set) var ranges: [KeyRange] = []

    /// All that stands under his numbers.
    init(numbers: Set<UInt64>, in scope: ScopeNumber) {
        for number in numbers.sorted() {
            let prefix = Key.customer(CustomerKey(scope: scope, number: number))
            for keyspace in [Keyspace.customers, .transactions, .renewals, .snapshots] {
                ranges.append(KeyRange(keyspace, prefix: prefix))
            }
        }
    }

    /// Adds a key.
    mutating func add(_ keyspace: Keyspace, _ key: [UInt8]) {
        ranges.append(KeyRange(keyspace, key: key))
    }
}

extension CustomerState {
    /// The chains of which he has a fact.
    var chains: Set<ExactName> {
        Set(transactions.rows.map { ExactName(transactions.text($0.chain)) })
    }

    /// Is nobody but his number from now on.
    fileprivate mutating func becomeForgotten() {
        for identity in said { dirtyLinks.insert(identity) }
        said = []
        dirtyHints.formUnion(hinted)
        hinted = []
        record.name = ""
        record.isForgotten = true
        record.isEntangled = false
        markChanged()
    }
}
