import Entitlements
import Storage

// MARK: - Changing

extension Workspace {
    /// A new customer of this name; empty: provisional.
    mutating func makeCustomer(name: String, in scope: ScopeNumber) -> CustomerKey {
        let key = CustomerKey(scope: scope, number: nextCustomer)
        nextCustomer += 1
        customerCount += 1
        var state = CustomerState(key: key, record: CustomerRecord(name: name))
        state.markChanged()
        customers[key] = state
        if !name.isEmpty {
            setIdentity(
                Identity(.customer, name), in: scope,
                IdentityRecord(said: key.number, primary: key.number))
        }
        return key
    }

    mutating func setIdentity(
        _ identity: Identity, in scope: ScopeNumber, _ record: IdentityRecord
    ) {
        if identities.set(record, of: identity, in: scope) { hasChanged = true }
    }

    /// Says in so many words that `identity` is the customer's; nobody else was said to have it.
    mutating func say(_ identity: Identity, isOf key: CustomerKey) throws(LedgerFailure) {
        var record = try self.identity(identity, in: key.scope)
        record.said = key.number
        if record.moved == 0 { record.primary = key.number }
        setIdentity(identity, in: key.scope, record)
        note(identity, saidOf: key)
    }

    /// Says that what `identity` names moves to the customer, whosever it was.
    mutating func move(_ identity: Identity, to key: CustomerKey) throws(LedgerFailure) {
        for other in named(try related(to: [identity], in: key.scope)) where other != key {
            entangle(other)
            entangle(key)
        }
        var record = try self.identity(identity, in: key.scope)
        record.moved = key.number
        record.movedAt = revision
        record.primary = key.number
        setIdentity(identity, in: key.scope, record)
        note(identity, saidOf: key)
    }

    /// Notes that the customer shares identities with another one.
    mutating func entangle(_ key: CustomerKey) {
        guard customers[key]?.record.isEntangled == false else { return }
        customers[key]?.record.isEntangled = true
        customers[key]?.markChanged()
    }

    private mutating func note(_ identity: Identity, saidOf key: CustomerKey) {
        guard customers[key]?.said.contains(identity) == false else { return }
        customers[key]?.said.insert(identity)
        customers[key]?.dirtyLinks.insert(identity)
        customers[key]?.markChanged()
    }

    /// Enters the customer among the holders of what `transaction` carries.
    mutating func index(
        _ transaction: Transaction, under key: CustomerKey
    ) throws(LedgerFailure) {
        for identity in transaction.identities {
            // Who has a fact that carries it is among its holders.
            if customers[key]?.transactions.carries(identity) == true { continue }
            var record = try self.identity(identity, in: key.scope)
            if let position = record.holders.firstIndex(where: { $0 >= key.number }) {
                if record.holders[position] != key.number {
                    record.holders.insert(key.number, at: position)
                }
            } else {
                record.holders.append(key.number)
            }
            let isSaid = record.said != 0 || record.moved != 0
            if record.primary == 0 || record.holders.count == 1 && !isSaid {
                record.primary = key.number
            }
            setIdentity(identity, in: key.scope, record)
        }
    }

    /// Appends to what concerns the customer in the order of revisions.
    mutating func noteHistory(_ key: CustomerKey) {
        noteHistory(key, [])
    }

    /// The same, with the record of the notification that was it; it stands once, and not under its
    /// revision as well.
    mutating func noteHistory(_ key: CustomerKey, _ record: [UInt8]) {
        let historyKey = Key.history(key, revision: revision)
        if record.isEmpty, case .put? = appended.change(for: historyKey, in: .history) { return }
        appended.put(record, for: historyKey, in: .history)
    }

    mutating func audit(
        _ action: String, of key: CustomerKey, detail: String, at clock: Timestamp
    ) {
        let isForgotten = customers[key]?.record.isForgotten == true
        let name = isForgotten ? "#\(key.number)" : customers[key]?.displayName ?? ""
        // A transfer of thousands of chains must not make a record that nobody can read.
        let shown = detail.count > 1_000 ? detail.prefix(1_000) + "…" : detail[...]
        let record = AuditRecord(at: clock, action: action, customer: name, detail: String(shown))
        let auditKey = Key.audit(revision: revision, index: auditIndex)
        appended.put(RecordCodec.encode(record), for: auditKey, in: .audit)
        auditIndex += 1
        noteHistory(key)
    }

    /// Starts the next revision.
    mutating func beginRevision() {
        revision += 1
        auditIndex = 0
        hasChanged = false
        payloadRevision = 0
        reversals = []
    }

    /// Takes back the revision of an event that changed nothing: every revision is one that a
    /// reader comes to see.
    mutating func endRevision() {
        if !hasChanged && !customers.isTouched { revision -= 1 }
    }
}

// MARK: - Writing

/// A snapshot to publish once its batch is durable.
struct Publication: Sendable {
    let scope: ScopeNumber
    let name: [UInt8]
    /// Nil: nobody has the name any more.
    let snapshot: [UInt8]?
}

extension Workspace {
    /// The batch of all that has changed, and what readers are to see after it.
    mutating func finish() throws(LedgerFailure) -> (ChangeSet, [Publication]) {
        var changes = appended
        // Its dictionaries would be copied at the first change of the others.
        appended = ChangeSet()
        // First: whoever has taken one of these names since is among the customers.
        var publications = withdrawnNames.map {
            Publication(scope: $0.scope, name: Array($0.name.utf8), snapshot: nil)
        }
        for key in customers.keys {
            guard var state = customers[key], state.isDirty else { continue }
            if state.record.mergedInto != 0 {
                write(state, into: &changes)
                changes.delete(
                    Key.snapshot(of: key, named: state.record.name), in: .snapshots)
                continue
            }
            let (snapshot, isLong) = try snapshot(of: key)
            state.record.isLong = isLong
            write(state, into: &changes)
            changes.put(
                snapshot, for: Key.snapshot(of: key, named: state.record.name), in: .snapshots)
            if state.isNamed {
                publications.append(
                    Publication(
                        scope: key.scope, name: Array(state.record.name.utf8), snapshot: snapshot))
            }
        }
        identities.write(into: &changes)
        refreshes.write(into: &changes)
        matches.write(into: &changes)
        guard !changes.isEmpty else { return (changes, []) }
        writeCounters(into: &changes)
        return (changes, publications)
    }

    /// The snapshot that follows from the facts of `key`, and whether it is one of a long history.
    mutating func snapshot(
        of key: CustomerKey
    ) throws(LedgerFailure) -> (bytes: [UInt8], isLong: Bool) {
        if let state = customers[key], !state.isWhole, let long = state.long {
            return (long.snapshot, true)
        }
        let fold = try fold(key)
        if let long = LongHistory(fold, limits: longHistoryLimits) { return (long.snapshot, true) }
        return (fold.snapshot, false)
    }

    private func write(_ state: CustomerState, into changes: inout ChangeSet) {
        let key = state.key
        changes.put(
            RecordCodec.encode(state.record), for: Key.customer(key), in: .customers)
        for identity in state.dirtyLinks {
            let link = Key.link(key, identity)
            if state.said.contains(identity) {
                changes.put([], for: link, in: .customers)
            } else {
                changes.delete(link, in: .customers)
            }
        }
        for chain in state.dirtyHints {
            let hint = Key.hint(key, chain.text)
            if state.hinted.contains(chain) {
                changes.put([], for: hint, in: .customers)
            } else {
                changes.delete(hint, in: .customers)
            }
        }
        for id in state.dirtyTransactions {
            if let record = state.transactions.record(id.text) {
                changes.put(record, for: Key.of(key, id.text), in: .transactions)
            } else {
                changes.delete(Key.of(key, id.text), in: .transactions)
            }
        }
        for id in state.dirtyRenewals {
            if let renewal = state.renewals[id] {
                changes.put(RecordCodec.encode(renewal), for: Key.of(key, id.text), in: .renewals)
            } else {
                changes.delete(Key.of(key, id.text), in: .renewals)
            }
        }
    }

    private func writeCounters(into changes: inout ChangeSet) {
        changes.put(RecordCodec.encode(revision), for: Key.revision, in: .meta)
        changes.put(RecordCodec.encode(nextCustomer), for: Key.nextCustomer, in: .meta)
        changes.put(
            RecordCodec.encode(customers: customerCount, transactions: transactionCount),
            for: Key.counts, in: .meta)
        if forgottenCount > 0 {
            changes.put(RecordCodec.encode(forgottenCount), for: Key.forgottenCount, in: .meta)
        }
    }

    /// The counters after this group.
    var counters: LedgerCounters {
        LedgerCounters(
            revision: revision, nextCustomer: nextCustomer, customerCount: customerCount,
            transactionCount: transactionCount, forgottenCount: forgottenCount)
    }
}
