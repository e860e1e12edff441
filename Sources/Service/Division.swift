import Entitlements
import Storage

// What moves between customers: a provisional one merged into another, a chain given to its owner,
// a component of customers divided among those who are named.

extension Workspace {
    /// Moves all that a provisional customer has to `target`; his number leads there from now on.
    mutating func merge(
        _ source: CustomerKey, into target: CustomerKey, at clock: Timestamp
    ) throws(LedgerFailure) {
        let state = try customer(source)
        _ = try customer(target)
        audit(
            "MERGED", of: target,
            detail: "what was known of \(state.displayName); "
                + "transactions: \(state.transactions.count)",
            at: clock)
        try mergeRefreshes(from: source, into: target)
        try mergeHints(of: state, into: target)
        for fact in state.transactions.values {
            try move(fact, from: source, to: target, keeping: [])
        }
        for renewal in state.renewals.values { customers[target]?.put(renewal) }
        for identity in state.said { try say(identity, isOf: target) }
        try moveHistory(from: source, to: target, of: nil)
        var emptied = CustomerState(key: source, record: state.record)
        emptied.isTouched = true
        emptied.record.mergedInto = target.number
        // What was taken from him earlier in the group is still to be removed from the store.
        emptied.dirtyTransactions = state.dirtyTransactions.union(state.transactions.keys)
        emptied.dirtyRenewals = state.dirtyRenewals.union(state.renewals.keys)
        emptied.dirtyLinks = state.dirtyLinks.union(state.said)
        emptied.dirtyHints = state.dirtyHints.union(state.hinted)
        emptied.isDirty = true
        emptied.placesBefore = state.placesBeforeRemoval
        customers[source] = emptied
        customerCount -= 1
    }

    /// Moves one chain, with its transactions and renewal info, to another customer.
    mutating func moveChain(
        _ chain: String, from source: CustomerKey, to target: CustomerKey
    ) throws(LedgerFailure) {
        guard let taken = customers[source]?.takeChain(chain) else { return }
        // The others of his chains may carry the same token or account.
        let kept = customers[source]?.carriedIdentities ?? []
        for fact in taken.facts { try move(fact, from: source, to: target, keeping: kept) }
        if let renewal = taken.renewal { customers[target]?.put(renewal) }
        let ids = Set(taken.facts.map { ExactName($0.transaction.transactionID) })
        try moveHistory(from: source, to: target, of: ids)
    }

    private mutating func move(
        _ fact: TransactionFact, from source: CustomerKey, to target: CustomerKey,
        keeping kept: Set<Identity>
    ) throws(LedgerFailure) {
        try index(fact.transaction, under: target)
        customers[target]?.put(fact)
        for identity in fact.transaction.identities where !kept.contains(identity) {
            var record = try self.identity(identity, in: source.scope)
            record.holders.removeAll { $0 == source.number }
            if record.said == 0 && record.moved == 0 && record.primary == source.number {
                record.primary = record.holders.last ?? target.number
            }
            setIdentity(identity, in: source.scope, record)
        }
    }

    /// Lets `target` see the past notifications that name `ids`, or all of them.
    private mutating func moveHistory(
        from source: CustomerKey, to target: CustomerKey, of ids: Set<ExactName>?
    ) throws(LedgerFailure) {
        for (revision, record) in try historyEntries(of: source) {
            if let ids {
                guard let id = try transactionID(of: revision, record, in: source.scope),
                    ids.contains(id)
                else { continue }
            }
            appended.delete(Key.history(source, revision: revision), in: .history)
            let targetKey = Key.history(target, revision: revision)
            if case .put(let known)? = appended.change(for: targetKey, in: .history),
                !known.isEmpty
            {
                continue
            }
            appended.put(record, for: targetKey, in: .history)
        }
    }

    /// The records of a customer's history by revision, as this group has left them.
    func historyEntries(of key: CustomerKey) throws(LedgerFailure) -> [UInt64: [UInt8]] {
        let prefix = Key.customer(key)
        var entries: [UInt64: [UInt8]] = [:]
        try reading { () throws(StorageError) in
            try store.scan(.history, prefix: prefix, from: nil, reversed: false) { key, record in
                entries[Key.trailingNumber(of: key)] = record
                return true
            }
        }
        for (key, change) in appended.changes[.history] ?? [:] where key.starts(with: prefix) {
            // An earlier event of the group may have moved it away already.
            switch change {
            case .put(let record): entries[Key.trailingNumber(of: key)] = record
            case .delete: entries[Key.trailingNumber(of: key)] = nil
            }
        }
        return entries
    }

    /// The transaction that a notification in a history names; nil where the entry is about
    /// something else.
    private func transactionID(
        of revision: UInt64, _ record: [UInt8], in scope: ScopeNumber
    ) throws(LedgerFailure) -> String? {
        if record.isEmpty {
            let key = Key.notification(revision: revision, in: scope)
            if case .put(let bytes)? = appended.change(for: key, in: .notifications) {
                return try transactionID(of: revision, bytes, in: scope)
            }
        }
        return try reading { () throws(StorageError) in
            try store.notification(of: revision, record, in: scope)?.transactionID
        }
    }

    /// All customers that hang together with `involved` by tokens, accounts and chains, kept as
    /// they were before the event.
    mutating func component(
        of involved: Set<CustomerKey>
    ) throws(LedgerFailure) -> Set<CustomerKey> {
        var component = involved
        var open = Array(involved)
        while let key = open.popLast() {
            let state = try customer(key)
            let identities = state.carriedIdentities.union(state.said)
            for found in try related(to: Array(identities), in: key.scope)
            where component.insert(found).inserted {
                open.append(found)
            }
        }
        for key in component { try rememberBefore(key) }
        return component
    }

    /// Gives each chain of a component to the named customer who owns it.
    mutating func divide(
        _ component: Set<CustomerKey>, fallback: CustomerKey, at clock: Timestamp
    ) throws(LedgerFailure) {
        var chains: [ExactName: [OwnerClaim]] = [:]
        var said: [Identity: UInt64] = [:]
        var transfers: [Identity: Transfer] = [:]
        var current: [ExactName: CustomerKey] = [:]
        for key in component {
            let state = try customer(key)
            for (chain, claims) in state.claims {
                chains[chain, default: []] += claims
                current[chain] = key
            }
            for identity in state.said {
                let record = try self.identity(identity, in: key.scope)
                if record.said != 0 { said[identity] = record.said }
                if record.moved != 0 {
                    transfers[identity] = Transfer(
                        owner: record.moved, revision: record.movedAt)
                }
            }
        }
        let owners = ChainOwnership(chains: chains, said: said, transfers: transfers).owners()
        for (chain, key) in current.sorted(by: { $0.key < $1.key }) {
            let isNamed = customers[key]?.isNamed == true
            let kept = isNamed ? key.number : fallback.number
            let owner = CustomerKey(scope: key.scope, number: owners[chain] ?? kept)
            if owner != key { try moveChain(chain.text, from: key, to: owner) }
        }
        for key in component {
            if customers[key]?.isNamed == true {
                entangle(key)
            } else {
                try merge(key, into: fallback, at: clock)
            }
        }
        try settlePrimaries(of: chains, in: fallback.scope)
    }

    /// Who is meant when somebody asks under a token or an account that several customers carry:
    /// the owner of the newest purchase with it.
    private mutating func settlePrimaries(
        of chains: [ExactName: [OwnerClaim]], in scope: ScopeNumber
    ) throws(LedgerFailure) {
        var newest: [Identity: (claim: OwnerClaim, chain: String)] = [:]
        for (chain, claims) in chains {
            for claim in claims {
                let names = [
                    claim.appAccountToken.map { Identity(.appAccountToken, $0) },
                    claim.appTransactionID.map { Identity(.appTransaction, $0) },
                ]
                for name in names.compactMap(\.self) {
                    if let best = newest[name], !claim.isNewer(than: best.claim) { continue }
                    newest[name] = (claim, chain.text)
                }
            }
        }
        for (name, best) in newest {
            var record = try identity(name, in: scope)
            let chain = try identity(Identity(.originalTransaction, best.chain), in: scope)
            guard record.said == 0, record.moved == 0, let owner = chain.holders.last else {
                continue
            }
            record.primary = owner
            setIdentity(name, in: scope, record)
        }
    }

    /// Records that the identities of a copy's chain are claimed by more than one named customer.
    ///
    /// The whole chain's: a renewal that brings another token takes the chain from whom the token
    /// before it names, and that must leave a trace. `claimant` counts as well: Apple gave him what
    /// somebody else has.
    mutating func auditConflict(
        _ incoming: [IncomingTransaction], claimant: CustomerKey?, in scope: ScopeNumber,
        at clock: Timestamp
    ) throws(LedgerFailure) {
        var seen: Set<ExactName> = []
        for copy in incoming {
            let transaction = copy.signed.transaction
            guard seen.insert(ExactName(transaction.originalTransactionID)).inserted else {
                continue
            }
            let chain = Identity(.originalTransaction, transaction.originalTransactionID)
            var identities = Set(transaction.identities)
            for holder in try related(to: [chain], in: scope) {
                for fact in try customer(holder).transactions.values
                where isSame(fact.transaction.originalTransactionID, chain.value) {
                    identities.formUnion(fact.transaction.identities)
                }
            }
            var keys = try self.claimants(of: Array(identities), in: scope)
            if let claimant { keys.insert(claimant) }
            let claimants = named(keys)
            guard claimants.count > 1 else { continue }
            let names = claimants.compactMap { customers[$0]?.record.name }
            for claimant in claimants {
                audit(
                    "IDENTITY_CONFLICT", of: claimant,
                    detail: "transaction \(transaction.transactionID) of chain "
                        + "\(transaction.originalTransactionID) is claimed by "
                        + names.joined(separator: ", "),
                    at: clock)
            }
        }
    }
}
