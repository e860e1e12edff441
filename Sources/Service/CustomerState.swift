import Entitlements
import SnapshotTable
import Storage

/// What follows from a customer's facts at one moment of the ledger.
struct Fold: Hashable, Sendable {
    var grantsByProduct: [ExactName: [GrantRecord]]
    var newestSignedDate: Timestamp?
    /// The transactions that have ended before their time, by id.
    var endings: [ExactName: EndedAccess]

    init(_ history: CustomerHistory) {
        grantsByProduct = history.grantsByProduct()
        newestSignedDate = history.newestSignedDate
        endings = history.endings(of: grantsByProduct)
    }

    /// What CheckAccess reads of it.
    var snapshot: [UInt8] {
        SnapshotCodec.encode(grantsByProduct, newestSignedDate: newestSignedDate)
    }

    /// The instant that "now" means to this customer: never before what Apple has signed.
    func now(_ clock: Timestamp) -> Timestamp {
        max(clock, newestSignedDate ?? .distantPast)
    }
}

/// A customer as loaded into a workspace, with what has changed since.
struct CustomerState: Sendable {
    let key: CustomerKey
    var record: CustomerRecord
    var transactions: [ExactName: TransactionFact] = [:]
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

    init(key: CustomerKey, record: CustomerRecord) {
        self.key = key
        self.record = record
    }

    /// Whether the app has said who it is.
    var isNamed: Bool { !record.name.isEmpty }

    /// The app's name, or Apple's while there is none: the account in the app, else a chain.
    var displayName: String {
        guard !isNamed else { return record.name }
        let accounts = transactions.values.compactMap(\.transaction.appTransactionID)
        let chains = transactions.values.map(\.transaction.originalTransactionID)
        return accounts.min() ?? chains.min() ?? said.min()?.value ?? hinted.min()?.text ?? ""
    }

    /// The names that his transactions carry: chains, tokens, accounts, and the transactions.
    var carriedIdentities: Set<Identity> {
        var identities: Set<Identity> = []
        for fact in transactions.values { identities.formUnion(fact.transaction.identities) }
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

    mutating func put(_ fact: TransactionFact) {
        let id = fact.transaction.transactionID
        notePlace(of: ExactName(id))
        transactions[id] = fact
        dirtyTransactions.insert(id)
        let chain = ExactName(fact.transaction.originalTransactionID)
        if hinted.remove(chain) != nil { dirtyHints.insert(chain) }
        markChanged()
    }

    mutating func put(_ renewal: RenewalInfo) {
        renewals[renewal.originalTransactionID] = renewal
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
            transactions[fact.transaction.transactionID] = nil
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
