/// What one transaction says of its owner.
package struct OwnerClaim: Hashable, Sendable {
    /// When it was bought.
    package let purchaseDate: Timestamp?
    /// When the copy was signed; decides between equal purchase dates.
    package let signedDate: Timestamp
    /// Decides between equal dates.
    package let transactionID: String
    /// The app's UUID of the person.
    package let appAccountToken: String?
    /// The Apple Account in the app.
    package let appTransactionID: String?

    /// The claim of `transaction`.
    package init(_ transaction: Transaction) {
        purchaseDate = transaction.purchaseDate
        signedDate = transaction.signedDate
        transactionID = transaction.transactionID
        appAccountToken = transaction.appAccountToken
        appTransactionID = transaction.appTransactionID
    }

    /// Whether `self` is of the more recent purchase.
    package func isNewer(than other: OwnerClaim) -> Bool {
        let (left, right) = (purchaseDate ?? .distantPast, other.purchaseDate ?? .distantPast)
        if left != right { return left > right }
        if signedDate != other.signedDate { return signedDate > other.signedDate }
        return isGreaterTransactionID(transactionID, than: other.transactionID)
    }
}

/// What was said of an identity with the word that it is to move.
package struct Transfer: Hashable, Sendable {
    /// To whom.
    package let owner: UInt64
    /// The revision that said it; of several transfers that name a chain the last one counts.
    package let revision: UInt64

    /// A transfer.
    package init(owner: UInt64, revision: UInt64) {
        self.owner = owner
        self.revision = revision
    }
}

/// Decides which named customer each chain belongs to, where chains that share an identity meet
/// more than one of them.
///
/// A chain belongs to the customer to whom its originalTransactionId was linked in so many words;
/// else to the one whose token its newest transaction carries, else whose appTransactionId: a
/// function of what was signed and said, not of arrival. A token or an account that nobody named
/// belongs to the owner of the newest purchase that carries it.
///
/// A transfer moves the chains that carry what it names, and nothing else: what follows for other
/// chains follows from the links, as if it had not been said.
package struct ChainOwnership: Sendable {
    /// The transactions of each chain, by originalTransactionId.
    private let chains: [ExactName: [OwnerClaim]]
    /// What was linked: which customer an identity belongs to.
    private let said: [Identity: UInt64]
    /// What was moved.
    private let transfers: [Identity: Transfer]

    /// Claims of chains that hang together, and what was said of their identities.
    package init(
        chains: [ExactName: [OwnerClaim]], said: [Identity: UInt64],
        transfers: [Identity: Transfer] = [:]
    ) {
        self.chains = chains.mapValues { claims in claims.sorted { $0.isNewer(than: $1) } }
        self.said = said
        self.transfers = transfers
    }

    /// The owner of each chain; chains that no named customer reaches are left out.
    ///
    /// Time: the number of claims times the number of rounds, at most one per chain.
    package func owners() -> [ExactName: UInt64] {
        var owners: [ExactName: UInt64] = [:]
        for chain in chains.keys {
            if let owner = said[Identity(.originalTransaction, chain.text)] {
                owners[chain] = owner
            }
        }
        adopt(linked(by: .appAccountToken, \.appAccountToken, known: owners), into: &owners)
        adopt(linked(by: .appTransaction, \.appTransactionID, known: owners), into: &owners)
        propagate(&owners)
        for (chain, claims) in chains {
            if let transfer = lastTransfer(of: chain.text, claims) {
                owners[chain] = transfer.owner
            }
        }
        // What only a transferred chain reaches.
        propagate(&owners)
        return owners
    }

    private func adopt(_ found: [ExactName: UInt64], into owners: inout [ExactName: UInt64]) {
        owners.merge(found) { known, _ in known }
    }

    /// The last transfer that names the chain, a token or an account in it.
    private func lastTransfer(of chain: String, _ claims: [OwnerClaim]) -> Transfer? {
        var names = [Identity(.originalTransaction, chain)]
        for claim in claims {
            if let token = claim.appAccountToken { names.append(Identity(.appAccountToken, token)) }
            if let id = claim.appTransactionID { names.append(Identity(.appTransaction, id)) }
        }
        return names.compactMap { transfers[$0] }.max { $0.revision < $1.revision }
    }

    /// Gives chains without an owner the one of the chains that share a token, else an account.
    private func propagate(_ owners: inout [ExactName: UInt64]) {
        while true {
            var found = inferred(by: \.appAccountToken, known: owners)
            if found.isEmpty { found = inferred(by: \.appTransactionID, known: owners) }
            guard !found.isEmpty else { return }
            adopt(found, into: &owners)
        }
    }

    /// The chains without an owner whose newest transaction with a linked name of this kind says
    /// whose they are.
    private func linked(
        by kind: IdentityKind, _ value: KeyPath<OwnerClaim, String?>, known: [ExactName: UInt64]
    ) -> [ExactName: UInt64] {
        assign(value, known: known) { said[Identity(kind, $0)] }
    }

    /// The same for names that nobody linked: they are the owner's of the newest purchase with
    /// them.
    private func inferred(
        by value: KeyPath<OwnerClaim, String?>, known: [ExactName: UInt64]
    ) -> [ExactName: UInt64] {
        var newest: [ExactName: (claim: OwnerClaim, owner: UInt64)] = [:]
        for (chain, owner) in known {
            for claim in chains[chain] ?? [] {
                guard let name = claim[keyPath: value] else { continue }
                if let best = newest[name], !claim.isNewer(than: best.claim) { continue }
                newest[name] = (claim, owner)
            }
        }
        return assign(value, known: known) { newest[$0]?.owner }
    }

    private func assign(
        _ value: KeyPath<OwnerClaim, String?>, known: [ExactName: UInt64],
        owner: (String) -> UInt64?
    ) -> [ExactName: UInt64] {
        var found: [ExactName: UInt64] = [:]
        for (chain, claims) in chains where known[chain] == nil {
            for claim in claims {
                guard let name = claim[keyPath: value], let owner = owner(name) else { continue }
                found[chain] = owner
                break
            }
        }
        return found
    }
}
