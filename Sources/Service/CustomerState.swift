import Entitlements
import Storage

/// A customer as loaded into a workspace, with what has changed since.
struct CustomerState: Sendable {
    /// A transaction that the current event changed.
    struct Change: Sendable {
        var id: ExactName
        var before: TransactionFact?
        /// Whether he had no transaction of its chain.
        var isChainNew: Bool
    }

    let key: CustomerKey
    var record: CustomerRecord
    /// Whether all his facts are here; of a long history only those are that were asked for.
    var isWhole = true
    /// What is at hand of a history that is not whole, without what the current event changed.
    var long: LongHistory?
    /// What the current event changed in a history that is not whole.
    var changes: [Change] = []
    var changedRenewals: Set<ExactName> = []
    var transactions = FactSet()
    var renewals: [ExactName: RenewalInfo] = [:]
    /// What was linked to him in so many words.
    var said: Set<Identity> = []
    /// Chains that an unsigned body named while nobody knew them; each until a fact of it comes.
    var hinted: Set<ExactName> = []

    /// Ids whose records are to be written, or removed where the fact is gone.
    var dirtyTransactions: Set<ExactName> = []
    var dirtyRenewals: Set<ExactName> = []
    var dirtyLinks: Set<Identity> = []
    var dirtyHints: Set<ExactName> = []
    var isDirty = false
    /// Whether the current event changed him.
    var isTouched = false
    /// The fold of the current facts; nil after a change.
    var fold: Fold?
    /// Where the transactions that the current event changed stood in `matches` before it.
    var placesBefore: [ExactName: MatchPlace?] = [:]
    /// Where those of them stand that it has put last; for others the facts say it.
    var placesNow: [ExactName: MatchPlace] = [:]

    init(key: CustomerKey, record: CustomerRecord) {
        self.key = key
        self.record = record
    }

    /// Whether the app has said who it is.
    var isNamed: Bool { !record.name.isEmpty }

    /// The app's name, or Apple's while there is none: the account in the app, else a chain.
    var displayName: String {
        guard !isNamed else { return record.name }
        let names =
            isWhole
            ? (transactions.leastAccount, transactions.leastChain)
            : (long?.leastAccount, long?.leastChain)
        return names.0 ?? names.1 ?? said.min()?.value ?? hinted.min()?.text ?? ""
    }

    /// The names that his transactions carry: chains, tokens, accounts, and the transactions.
    var carriedIdentities: Set<Identity> {
        var identities: Set<Identity> = []
        for fact in transactions.values {
            for identity in fact.transaction.identities { identities.insert(identity) }
        }
        return identities
    }

    /// All names under which he may be found.
    var knownIdentities: Set<Identity> {
        let hints = hinted.map { Identity(.originalTransaction, $0.text) }
        return carriedIdentities.union(said).union(hints)
    }

    /// The claims of each of his chains.
    var claims: [ExactName: [OwnerClaim]] {
        var claims: [ExactName: [OwnerClaim]] = [:]
        for fact in transactions.values {
            claims[fact.transaction.originalTransactionID, default: []]
                .append(OwnerClaim(fact.transaction))
        }
        return claims
    }

    /// Keeps a fact; `isChainNew` says whether he had no transaction of its chain.
    mutating func put(_ fact: TransactionFact, isChainNew: Bool = false) {
        let id = fact.transaction.transactionID
        noteChange(of: ExactName(id), isChainNew: isChainNew)
        notePlace(of: ExactName(id))
        placesNow[id] = MatchPlace(fact, of: key)
        transactions.put(fact)
        dirtyTransactions.insert(id)
        let chain = ExactName(fact.transaction.originalTransactionID)
        if hinted.remove(chain) != nil { dirtyHints.insert(chain) }
        markChanged()
    }

    /// Keeps what a transaction was before the current event changes it.
    mutating func noteChange(of id: ExactName, isChainNew: Bool) {
        guard !isWhole, !changes.contains(where: { $0.id == id }) else { return }
        changes.append(Change(id: id, before: transactions[id], isChainNew: isChainNew))
    }

    mutating func put(_ renewal: RenewalInfo) {
        renewals[renewal.originalTransactionID] = renewal
        if !isWhole { changedRenewals.insert(renewal.originalTransactionID) }
        dirtyRenewals.insert(renewal.originalTransactionID)
        markChanged()
    }

    /// Takes a chain out: its transactions and its renewal info.
    mutating func takeChain(_ chain: String) -> (facts: [TransactionFact], renewal: RenewalInfo?) {
        let facts = transactions.values.filter {
            isSame($0.transaction.originalTransactionID, chain)
        }
        for fact in facts {
            notePlace(of: ExactName(fact.transaction.transactionID))
            placesNow[fact.transaction.transactionID] = nil
            transactions.remove(fact.transaction.transactionID)
            dirtyTransactions.insert(fact.transaction.transactionID)
        }
        let renewal = renewals.removeValue(forKey: ExactName(chain))
        if renewal != nil { dirtyRenewals.insert(chain) }
        markChanged()
        return (facts, renewal)
    }

    mutating func markChanged() {
        isDirty = true
        isTouched = true
        fold = nil
    }
}

extension Transaction {
    /// The names that a transaction carries.
    var identities: [Identity] {
        var identities = [
            Identity(.transaction, transactionID),
            Identity(.originalTransaction, originalTransactionID),
        ]
        if let token = appAccountToken { identities.append(Identity(.appAccountToken, token)) }
        if let id = appTransactionID { identities.append(Identity(.appTransaction, id)) }
        return identities
    }
}
