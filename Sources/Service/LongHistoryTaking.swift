import Entitlements
import SnapshotTable
import Storage

// Events in a long history: a purchase, a renewal, a refund and its reversal, a family copy and its
// end, an upgrade, renewal info, the same signed anew. Each changes what one transaction grants,
// and by the lines of `LongHistoryLines.swift`, what its neighbours grant; the older facts are not
// read. Where they decide all the same (a refund is taken back of what is left out and would give
// access again, something arrives years late among what was upgraded) the whole history is folded.

/// What one event changes in a customer's facts.
struct LongHistoryEvent {
    /// A transaction that is new, or another copy than before.
    struct Change {
        var before: TransactionFact?
        var after: TransactionFact
        /// Whether the customer had no transaction of its chain.
        var isChainNew: Bool
    }

    var changes: [Change]
    /// The renewal infos that are new.
    var renewals: [RenewalInfo]
    /// The renewal info of every chain that the changes name, as it is after the event.
    var terms: [ExactName: RenewalTerms]
}

extension LongHistory {
    /// The history after an event; nil where that takes the older facts.
    ///
    /// - Parameters:
    ///   - event: what changes.
    ///   - limits: those that the history was made with.
    /// - Returns: What `LongHistory(_:limits:)` gives for all facts after the event, or nil.
    func taking(_ event: LongHistoryEvent, limits: LongHistoryLimits) -> LongHistory? {
        var history = self
        for change in event.changes {
            guard history.take(change, terms: event.terms) else { return nil }
        }
        for renewal in event.renewals {
            guard history.take(renewal) else { return nil }
        }
        guard history.chains.count + history.groups.count <= limits.chainCountMax else {
            return nil
        }
        for name in history.products.keys {
            guard history.cut(name, headCount: limits.headCount) else { return nil }
        }
        return history
    }

    private mutating func take(
        _ change: LongHistoryEvent.Change, terms: [ExactName: RenewalTerms]
    ) -> Bool {
        let after = TakenFact(change.after)
        guard let before = change.before.map({ TakenFact($0) }) else {
            newestSignedDate = max(newestSignedDate, after.newestDate)
            return add(after, isChainNew: change.isChainNew, terms: terms[after.chain])
        }
        // A recognised refund that is none any more may take its date along.
        let isNewestKept =
            after.newestDate >= before.newestDate || before.newestDate < newestSignedDate
        guard before.isSamePurchase(as: after), isNewestKept,
            after.plain.signedDate >= before.plain.signedDate
        else { return false }
        newestSignedDate = max(newestSignedDate, after.newestDate)
        return replace(before, by: after, terms: terms[after.chain])
    }

    private mutating func add(
        _ fact: TakenFact, isChainNew: Bool, terms: RenewalTerms?
    ) -> Bool {
        let transaction = fact.transaction
        transactionCount += 1
        leastChain = [leastChain, transaction.originalTransactionID].least
        leastAccount = [leastAccount, transaction.appTransactionID].least
        guard
            let isNewest = enterChain(of: fact, isChainNew: isChainNew, isRenewing: terms != nil)
        else { return false }
        if let group = transaction.subscriptionGroupID, groups[group] == nil {
            groups[group] = LongLine()
        }
        guard enterDate(of: fact) else { return false }
        var successor: Int64?
        if fact.plain.isUpgraded {
            upgradedCount += 1
            guard find(&successor, of: fact) else { return false }
        }
        let head = fact.head(terms: isNewest ? terms : nil, successor: successor)
        var product = products[transaction.productID] ?? Product()
        let position = product.position(of: head)
        if product.isCut && position == product.heads.count {
            product.restStop = max(product.restStop, head.grant.latestStop)
            if isInLine(head) {
                product.restLineStart = max(product.restLineStart, head.grant.start)
            }
        } else {
            product.heads.insert(head, at: position)
        }
        products[transaction.productID] = product
        return true
    }

    /// Enters a new transaction in its chain; whether it is the newest there, nil where that takes
    /// older facts.
    private mutating func enterChain(
        of fact: TakenFact, isChainNew: Bool, isRenewing: Bool
    ) -> Bool? {
        guard var line = chains[fact.chain] else {
            // Renewal info says nothing of what does not renew.
            guard fact.plain.type == .autoRenewable || fact.plain.isUpgraded else { return false }
            guard isChainNew else { return nil }
            var line = LongLine()
            line.newestID = fact.transaction.transactionID
            line.newestSignedDate = fact.plain.signedDate
            chains[fact.chain] = line
            return true
        }
        guard line.isOlder(than: fact) else { return false }
        guard changeNewest(of: line, { $0.set(nil) }) || !isRenewing else { return nil }
        line.newestID = fact.transaction.transactionID
        line.newestSignedDate = fact.plain.signedDate
        chains[fact.chain] = line
        return true
    }

    private mutating func take(_ renewal: RenewalInfo) -> Bool {
        newestSignedDate = max(newestSignedDate, renewal.signedDate.milliseconds)
        // In a chain without a line nothing renews.
        guard let line = chains[renewal.originalTransactionID] else { return true }
        return changeNewest(of: line) { $0.set(RenewalTerms(renewal)) }
    }

    /// Changes the grant of a chain's newest purchase; false when it is not at hand.
    private mutating func changeNewest(
        of line: LongLine, _ change: (inout Grant) -> Void
    ) -> Bool {
        for name in products.keys {
            guard var product = products[name], let index = product.index(of: line.newestID)
            else { continue }
            if product.heads[index].grant.type == .autoRenewable {
                change(&product.heads[index].grant)
                products[name] = product
            }
            return true
        }
        return false
    }
}

// MARK: - Another copy of what is known

extension LongHistory {
    private mutating func replace(
        _ before: TakenFact, by after: TakenFact, terms: RenewalTerms?
    ) -> Bool {
        let name = ExactName(after.transaction.productID)
        guard let isNewest = replaceInChain(after), noteUpgrade(from: before, to: after),
            var product = products[name]
        else { return false }
        guard let index = product.index(of: after.transaction.transactionID) else {
            // What the renewal info says of it is not known.
            if isNewest && after.plain.type == .autoRenewable { return false }
            guard product.replaceLeftOut(before, by: after) else { return false }
            products[name] = product
            return true
        }
        var successor = product.heads[index].grant.upgradedFrom.nonextreme
        if after.plain.isUpgraded && !before.plain.isUpgraded {
            guard find(&successor, of: after) else { return false }
        }
        product.heads.remove(at: index)
        let head = after.head(terms: isNewest ? terms : nil, successor: successor)
        // Not signed before what it replaces, so it is still before all that is left out.
        product.heads.insert(head, at: product.position(of: head))
        products[name] = product
        return true
    }

    /// Enters another copy in its chain; whether it is the newest there, nil where it has become
    /// that only now.
    private mutating func replaceInChain(_ fact: TakenFact) -> Bool? {
        guard let line = chains[fact.chain] else {
            return fact.plain.type == .autoRenewable || fact.plain.isUpgraded ? nil : false
        }
        if isSame(line.newestID, fact.transaction.transactionID) {
            chains[fact.chain]?.newestSignedDate = fact.plain.signedDate
            return true
        }
        return line.isOlder(than: fact) ? nil : false
    }

    /// Leaves out what need not be at hand any more; false when something is missing that must be.
    private mutating func cut(_ name: ExactName, headCount: Int) -> Bool {
        guard var product = products[name] else { return true }
        let heads = product.heads
        var stops = [Int64](repeating: product.restStop, count: heads.count + 1)
        for index in heads.indices.reversed() {
            stops[index] = max(stops[index + 1], heads[index].grant.latestStop)
        }
        var count = min(headCount, heads.count)
        while count < heads.count,
            max(heads[count - 1].grant.start, stops[count]) > newestSignedDate
        {
            count += 1
        }
        guard count < heads.count else {
            return !product.isCut || count >= headCount && product.horizon <= newestSignedDate
        }
        for head in heads[count...] where isInLine(head) {
            product.restLineStart = max(product.restLineStart, head.grant.start)
        }
        product.heads.removeLast(heads.count - count)
        product.isCut = true
        product.restStop = stops[count]
        products[name] = product
        return true
    }
}

extension LongHistory.Product {
    /// Where a grant goes.
    fileprivate func position(of head: LongHistory.Head) -> Int {
        heads.firstIndex { head.isNewer(than: $0) } ?? heads.count
    }

    /// Where a transaction's grant stands; nil when it is not at hand.
    fileprivate func index(of id: String) -> Int? {
        heads.firstIndex { isSame($0.transactionID, id) }
    }

    /// Takes in another copy of a transaction that is left out and is not the newest of a chain
    /// that renews; false where it takes the others to tell when the last of them stops.
    fileprivate mutating func replaceLeftOut(_ before: TakenFact, by after: TakenFact) -> Bool {
        // At most: when an upgrade ended it is not known.
        let old = before.head(terms: nil, successor: .max)
        let new = after.head(terms: nil, successor: .max)
        guard isCut, position(of: new) == heads.count else { return false }
        let (oldStop, newStop) = (old.grant.latestStop, new.grant.latestStop)
        if oldStop < restStop && newStop <= restStop { return true }
        guard !before.plain.isUpgraded, !after.plain.isUpgraded,
            oldStop < restStop || newStop >= oldStop
        else { return false }
        restStop = max(restStop, newStop)
        return true
    }
}

extension LongHistory.Head {
    /// Whether it stands before `other`; see `Transaction.isNewerPurchase`.
    fileprivate func isNewer(than other: LongHistory.Head) -> Bool {
        if grant.start != other.grant.start { return grant.start > other.grant.start }
        if signedDate != other.signedDate { return signedDate > other.signedDate }
        return isGreaterTransactionID(transactionID, than: other.transactionID)
    }
}

extension LongLine {
    /// Whether a transaction is a more recent purchase than the newest of the chain.
    fileprivate func isOlder(than fact: TakenFact) -> Bool {
        if fact.plain.start != newestDate { return fact.plain.start > newestDate }
        if fact.plain.signedDate != newestSignedDate {
            return fact.plain.signedDate > newestSignedDate
        }
        return isGreaterTransactionID(fact.transaction.transactionID, than: newestID)
    }
}

extension Grant {
    /// What the renewal info of its chain says of it, or nothing any more.
    fileprivate mutating func set(_ terms: RenewalTerms?) {
        graceEnd = terms?.graceEnd ?? .min
        if terms?.isRetrying == true {
            flags.insert(.billingRetry)
        } else {
            flags.remove(.billingRetry)
        }
    }
}

extension Int64 {
    /// Itself, but nil where it stands for no instant.
    fileprivate var nonextreme: Int64? { self == .min || self == .max ? nil : self }
}

extension [String?] {
    /// The least text byte by byte; nil of none.
    fileprivate var least: String? { compactMap { $0.map { ExactName($0) } }.min()?.text }
}
