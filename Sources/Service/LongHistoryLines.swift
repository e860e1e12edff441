import Entitlements
import SnapshotTable
import Storage

// The lines of a long history: chains and subscription groups, and what was bought after what in
// them. That matters to upgraded transactions alone, each of which ends with the next purchase of
// its chain or group. `Product.restLineStart` says how far back the purchases of all lines are at
// hand; what is asked about times before that takes the older facts.

/// A fact as `LongHistory.taking` looks at it.
struct TakenFact {
    let fact: TransactionFact
    let plain: PlainFact

    init(_ fact: TransactionFact) {
        self.fact = fact
        plain = PlainFact(fact)
    }

    var transaction: Transaction { fact.transaction }
    var chain: ExactName { ExactName(transaction.originalTransactionID) }

    /// The newest date that Apple has signed about it; see `CustomerHistory.newestSignedDate`.
    var newestDate: Int64 {
        max(plain.newestDate, fact.matched?.refund?.signedDate.milliseconds ?? .min)
    }

    /// What it grants to somebody without a declared household.
    ///
    /// - Parameters:
    ///   - terms: the renewal info of its chain, when it is the newest there.
    ///   - successor: when the next of its chain or group was bought; `Int64.max`: unknown.
    /// - Returns: What is kept at hand of it.
    func head(terms: RenewalTerms?, successor: Int64?) -> LongHistory.Head {
        var grant = plain.grant(terms: terms, successor: successor)
        if plain.ownership == .familyShared {
            grant.apply(CustomerHistory().familyCut(of: fact), to: transaction)
        }
        return LongHistory.Head(
            grant: grant, signedDate: plain.signedDate, transactionID: transaction.transactionID,
            chain: transaction.originalTransactionID, group: transaction.subscriptionGroupID)
    }

    /// Whether another copy is of the same purchase in all by which it is found among others.
    func isSamePurchase(as other: TakenFact) -> Bool {
        let (left, right) = (transaction, other.transaction)
        return isSame(left.originalTransactionID, right.originalTransactionID)
            && isSame(left.productID, right.productID) && isSame(left.rawType, right.rawType)
            && isSame(left.rawOwnership, right.rawOwnership)
            && left.purchaseDate == right.purchaseDate
            && left.appTransactionID.map { ExactName($0) }
                == right.appTransactionID.map { ExactName($0) }
            && left.subscriptionGroupID.map { ExactName($0) }
                == right.subscriptionGroupID.map { ExactName($0) }
    }
}

extension LongHistory {
    /// A chain or a group.
    private enum LineName {
        case chain(ExactName)
        case group(ExactName)

        /// Whether a transaction is of it.
        func holds(_ head: Head) -> Bool {
            switch self {
            case .chain(let name): isSame(head.chain, name.text)
            case .group(let name): head.group.map { isSame($0, name.text) } ?? false
            }
        }
    }

    private subscript(name: LineName) -> LongLine {
        get {
            switch name {
            case .chain(let chain): chains[chain] ?? LongLine()
            case .group(let group): groups[group] ?? LongLine()
            }
        }
        set {
            switch name {
            case .chain(let chain): chains[chain] = newValue
            case .group(let group): groups[group] = newValue
            }
        }
    }

    /// The lines that a transaction is of.
    private func lines(of fact: TakenFact) -> [LineName] {
        var names: [LineName] = []
        if chains[fact.chain] != nil { names.append(.chain(fact.chain)) }
        if let group = fact.transaction.subscriptionGroupID {
            names.append(.group(ExactName(group)))
        }
        return names
    }

    /// Whether a transaction at hand is of any line.
    func isInLine(_ head: Head) -> Bool { head.group != nil || chains[head.chain] != nil }

    /// All that was bought later in any line is at hand.
    private var restLineStart: Int64 { products.values.lazy.map(\.restLineStart).max() ?? .min }

    /// The dated purchases of a line that are at hand.
    private func heads(of line: LineName) -> [Head] {
        products.values.flatMap { product in
            product.heads.filter { $0.grant.start != .min && line.holds($0) }
        }
    }

    /// Enters the date of a new transaction in its lines, and what it ends there; false where it
    /// takes older facts to tell what that is.
    mutating func enterDate(of fact: TakenFact) -> Bool {
        guard let date = fact.plain.purchaseDate else { return true }
        for name in lines(of: fact) {
            guard follow(date, in: name) else { return false }
            self[name].note(fact.plain)
        }
        return true
    }

    /// Ends those upgraded transactions that a purchase of `date` follows.
    private mutating func follow(_ date: Int64, in name: LineName) -> Bool {
        let newest = self[name].newestDate
        guard upgradedCount > 0, date != newest else { return true }
        if date > newest && !self[name].isAwaiting { return true }
        let previous =
            date > newest
            ? newest : heads(of: name).map(\.grant.start).filter { $0 < date }.max()
        guard let previous else { return restLineStart == .min }
        guard restLineStart < previous else { return false }
        for product in products.keys {
            for index in products[product]?.heads.indices ?? 0..<0 {
                products[product]?.heads[index].follow(date, after: previous, in: name.holds)
            }
        }
        return true
    }

    /// Finds when the next of the chain or group of an upgraded transaction was bought, nil when
    /// none was; false where it takes older facts.
    func find(_ successor: inout Int64?, of fact: TakenFact) -> Bool {
        successor = nil
        guard let date = fact.plain.purchaseDate else { return true }
        for name in lines(of: fact) where self[name].newestDate > date {
            guard restLineStart <= date else { return false }
            let later = heads(of: name).map(\.grant.start).filter { $0 > date }.min()
            successor = [successor, later].compactMap(\.self).min()
        }
        return true
    }

    /// Notes that another copy says of a transaction that it was upgraded, or that it was not;
    /// false where it takes older facts to tell what follows.
    mutating func noteUpgrade(from before: TakenFact, to after: TakenFact) -> Bool {
        guard before.plain.isUpgraded != after.plain.isUpgraded else { return true }
        // A chain in which nothing renews has a line while something in it was upgraded.
        guard chains[after.chain] != nil,
            after.plain.isUpgraded || after.plain.type == .autoRenewable
        else { return false }
        upgradedCount += after.plain.isUpgraded ? 1 : -1
        guard let date = after.plain.purchaseDate else { return true }
        for name in lines(of: after) where self[name].newestDate == date {
            guard after.plain.isUpgraded || restLineStart < date else { return false }
            self[name].isAwaiting =
                after.plain.isUpgraded
                || heads(of: name).contains {
                    $0.grant.start == date && $0.grant.upgradedFrom != .max
                        && !isSame($0.transactionID, after.transaction.transactionID)
                }
        }
        return true
    }
}

extension LongHistory.Head {
    /// Ends with a purchase of `date` when it is upgraded, was bought at `previous` and is of a
    /// line.
    fileprivate mutating func follow(
        _ date: Int64, after previous: Int64, in line: (LongHistory.Head) -> Bool
    ) {
        guard grant.start == previous, grant.upgradedFrom != .max, line(self) else { return }
        // Without a successor it gives no access at all.
        grant.upgradedFrom = grant.upgradedFrom == .min ? date : min(grant.upgradedFrom, date)
    }
}
