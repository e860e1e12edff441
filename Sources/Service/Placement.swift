import Entitlements
import Storage

/// A verified copy of a transaction with what came along with it.
struct IncomingTransaction: Sendable {
    var signed: SignedTransaction
    var evidence: Evidence

    init(_ signed: SignedTransaction, evidence: Evidence = Evidence()) {
        self.signed = signed
        self.evidence = evidence
        if signed.transaction.revocationDate != nil {
            self.evidence.datedCopy = signed.transaction.signedDate
        }
    }
}

/// The names under which facts are found that come in together.
func carriedIdentities(
    _ incoming: [IncomingTransaction], _ renewals: [SignedRenewal]
) -> [Identity] {
    incoming.flatMap { $0.signed.transaction.identities }
        + renewals.map { Identity(.originalTransaction, $0.renewal.originalTransactionID) }
}

// Where facts go: all that shares an identity is one customer, until two named customers meet; then
// `ChainOwnership` decides chain by chain.

extension Workspace {
    /// The customers that have anything to do with these identities: who holds facts that carry
    /// them, to whom they were linked, to whom they were moved.
    mutating func related(
        to identities: [Identity], in scope: ScopeNumber
    ) throws(LedgerFailure) -> Set<CustomerKey> {
        try customers(of: identities, in: scope) { $0.holders + [$0.said, $0.moved] }
    }

    /// The customers whose these identities are now: what was linked and moved since counts no
    /// more.
    mutating func claimants(
        of identities: [Identity], in scope: ScopeNumber
    ) throws(LedgerFailure) -> Set<CustomerKey> {
        try customers(of: identities, in: scope) {
            $0.holders + [$0.moved == 0 ? $0.said : $0.moved]
        }
    }

    private mutating func customers(
        of identities: [Identity], in scope: ScopeNumber,
        _ numbers: (IdentityRecord) -> [UInt64]
    ) throws(LedgerFailure) -> Set<CustomerKey> {
        var found: Set<CustomerKey> = []
        for identity in identities {
            if found.contains(where: { isOnly($0, with: identity) }) { continue }
            for number in numbers(try self.identity(identity, in: scope)) where number != 0 {
                found.insert(try person(CustomerKey(scope: scope, number: number)))
            }
        }
        return found
    }

    /// Whether nobody but the customer has anything to do with an identity, as far as it shows
    /// without its record, which takes 6 us to read: a fact of his carries it, and whoever shares
    /// one is entangled.
    private func isOnly(_ key: CustomerKey, with identity: Identity) -> Bool {
        guard let state = customers[key], state.isWhole, !state.record.isEntangled else {
            return false
        }
        return state.transactions.carries(identity)
    }

    func named(_ keys: Set<CustomerKey>) -> [CustomerKey] {
        keys.filter { customers[$0]?.isNamed == true }.sorted { $0.number < $1.number }
    }

    /// Stores facts with their customer, merging or dividing customers as the identities ask for,
    /// and tells whether anything was new.
    ///
    /// Identities of older copies count as well; `renewals` are of chains among `incoming` or of
    /// stored ones; `claimant` is the customer who is said to own them, by people or by Apple's
    /// answer to a question about him, and gets what is nobody else's; `alsoNamed` are identities
    /// that came along without a transaction.
    mutating func place(
        _ incoming: [IncomingTransaction], renewals: [SignedRenewal], in scope: ScopeNumber,
        claimant: CustomerKey? = nil, alsoNamed: [Identity] = [], at clock: Timestamp
    ) throws(LedgerFailure) -> Bool {
        let identities = carriedIdentities(incoming, renewals) + alsoNamed
        guard !identities.isEmpty else { return false }
        var involved = try related(to: identities, in: scope)
        if let claimant { involved.insert(claimant) }
        let owners = named(involved)
        guard isContested(owners) else {
            let target = try gather(involved, owner: owners.first, in: scope, at: clock)
            return try add(incoming, renewals, at: [:], otherwise: target)
        }
        let component = try component(of: involved)
        let fallback = owners.first { $0 == claimant } ?? owners[0]
        var homes: [ExactName: CustomerKey] = [:]
        for identity in identities where identity.kind == .originalTransaction {
            homes[identity.value] = try holder(ofChain: identity.value, among: component)
        }
        let learnt = learntFactCount
        let isNew = try add(incoming, renewals, at: homes, otherwise: fallback)
        let isFirst = claimant.map { customers[$0]?.record.isEntangled == false } ?? false
        try divide(component, fallback: fallback, at: clock)
        // Whoever is asked about again and again brings the same facts, signed anew each time.
        if claimant == nil ? isNew : isFirst || learntFactCount > learnt {
            try auditConflict(incoming, claimant: claimant, in: scope, at: clock)
        }
        return isNew
    }

    /// Sees to it that what carries `identities` is where it belongs, after something was said of
    /// them.
    mutating func settle(
        _ identities: [Identity], in scope: ScopeNumber, at clock: Timestamp
    ) throws(LedgerFailure) {
        let involved = try related(to: identities, in: scope)
        guard !involved.isEmpty else { return }
        let owners = named(involved)
        guard isContested(owners) else {
            _ = try gather(involved, owner: owners.first, in: scope, at: clock)
            return
        }
        try divide(try component(of: involved), fallback: owners[0], at: clock)
    }

    /// Whether more than these owners may have a say.
    private func isContested(_ owners: [CustomerKey]) -> Bool {
        owners.count > 1 || owners.contains { customers[$0]?.record.isEntangled == true }
    }

    /// Makes one customer of all of `involved`.
    private mutating func gather(
        _ involved: Set<CustomerKey>, owner: CustomerKey?, in scope: ScopeNumber,
        at clock: Timestamp
    ) throws(LedgerFailure) -> CustomerKey {
        let target =
            owner ?? involved.min { $0.number < $1.number } ?? makeCustomer(name: "", in: scope)
        for key in involved.sorted(by: { $0.number < $1.number }) where key != target {
            try merge(key, into: target, at: clock)
        }
        return target
    }

    /// Adds copies to the homes of their chains.
    private mutating func add(
        _ incoming: [IncomingTransaction], _ renewals: [SignedRenewal],
        at homes: [ExactName: CustomerKey], otherwise fallback: CustomerKey
    ) throws(LedgerFailure) -> Bool {
        var isNew = false
        for copy in incoming {
            let home = homes[copy.signed.transaction.originalTransactionID] ?? fallback
            isNew = try add(copy, to: home) || isNew
        }
        for renewal in renewals {
            let home = homes[renewal.renewal.originalTransactionID] ?? fallback
            isNew = try add(renewal, to: home) || isNew
        }
        return isNew
    }

    /// The customer of `component` that holds a chain.
    private mutating func holder(
        ofChain chain: String, among component: Set<CustomerKey>
    ) throws(LedgerFailure) -> CustomerKey? {
        guard let scope = component.first?.scope else { return nil }
        let record = try identity(Identity(.originalTransaction, chain), in: scope)
        return component.first { record.holders.contains($0.number) }
    }

    /// Adds one copy; whether it is newer than what is stored, or its evidence is.
    private mutating func add(
        _ copy: IncomingTransaction, to key: CustomerKey
    ) throws(LedgerFailure) -> Bool {
        let transaction = copy.signed.transaction
        let isChainNew = try isNew(chain: transaction.originalTransactionID, of: key)
        try index(transaction, under: key)
        let id = transaction.transactionID
        guard let known = try fact(id, of: key) else {
            transactionCount += 1
            learntFactCount += 1
            notePayment(transaction, before: nil)
            var fact = TransactionFact(transaction: transaction, evidence: copy.evidence)
            fact.payloadRevision = keep(copy.signed, instead: nil, in: key.scope)
            customers[key]?.put(fact, isChainNew: isChainNew)
            return true
        }
        var fact = known
        fact.evidence.merge(copy.evidence)
        if try supersedes(copy.signed, known, in: key.scope) {
            fact.transaction = transaction
            if !known.transaction.saysTheSame(as: transaction) { learntFactCount += 1 }
            notePayment(transaction, before: known.transaction)
            fact.payloadRevision = keep(copy.signed, instead: known, in: key.scope)
        } else if fact.evidence == known.evidence {
            return false
        }
        customers[key]?.put(fact)
        return true
    }

    /// Sees to it that a signed copy is stored, once; in which notification it lies.
    private mutating func keep(
        _ signed: SignedTransaction, instead known: TransactionFact?, in scope: ScopeNumber
    ) -> UInt64 {
        keep(
            signed.payload,
            at: Key.payload(.transaction(signed.transaction.transactionID), in: scope),
            instead: known?.payloadRevision)
    }

    /// The same of any payload that would be stored by itself under `key`; `known` says where the
    /// one before lies. An empty one is of a forgotten customer: none is kept.
    private mutating func keep(
        _ payload: [UInt8], at key: [UInt8], instead known: UInt64?
    ) -> UInt64 {
        if payload.isEmpty {
            if known == 0 { appended.delete(key, in: .payloads) }
            return PayloadPlace.forgotten
        }
        if payloadRevision == 0 {
            appended.put(payload, for: key, in: .payloads)
        } else if known == 0 {
            appended.delete(key, in: .payloads)
        }
        return payloadRevision
    }

    /// Reads the stored bytes only where the dates are equal.
    private func supersedes(
        _ copy: SignedTransaction, _ known: TransactionFact, in scope: ScopeNumber
    ) throws(LedgerFailure) -> Bool {
        guard copy.transaction.signedDate == known.transaction.signedDate else {
            return copy.transaction.signedDate > known.transaction.signedDate
        }
        let payload = try payload(of: known, in: scope)
        return copy.supersedes(SignedTransaction(transaction: known.transaction, payload: payload))
    }

    /// Reads the stored bytes only where the dates are equal.
    private func supersedes(
        _ copy: SignedRenewal, _ known: RenewalInfo, in scope: ScopeNumber
    ) throws(LedgerFailure) -> Bool {
        guard copy.renewal.signedDate == known.signedDate else {
            return copy.renewal.signedDate > known.signedDate
        }
        let payload = try payload(of: known, in: scope)
        return copy.supersedes(SignedRenewal(renewal: known, payload: payload))
    }

    private mutating func add(
        _ copy: SignedRenewal, to key: CustomerKey
    ) throws(LedgerFailure) -> Bool {
        let chain = copy.renewal.originalTransactionID
        let known = try renewal(chain, of: key)
        if let known {
            guard try supersedes(copy, known, in: key.scope) else { return false }
            if !known.saysTheSame(as: copy.renewal) { learntFactCount += 1 }
        } else {
            learntFactCount += 1
        }
        var renewal = copy.renewal
        renewal.payloadRevision = keep(
            copy.payload, at: Key.payload(.renewal(chain), in: key.scope),
            instead: known?.payloadRevision)
        customers[key]?.put(renewal)
        return true
    }
}

extension Transaction {
    /// Whether another copy says nothing else, whenever it was signed.
    fileprivate func saysTheSame(as other: Transaction) -> Bool {
        var copy = self
        copy.signedDate = other.signedDate
        return copy == other
    }
}

extension RenewalInfo {
    /// Whether another copy says nothing else, whenever it was signed.
    fileprivate func saysTheSame(as other: RenewalInfo) -> Bool {
        var copy = self
        copy.signedDate = other.signedDate
        copy.payloadRevision = other.payloadRevision
        return copy == other
    }
}
