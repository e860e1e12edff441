import Entitlements
import SnapshotTable
import Storage

// The events of daily life in a long history: a purchase, a renewal, the same transaction signed
// anew, renewal info. They change the newest grants and nothing else, so they are taken in without
// the older facts. Everything else (a refund, a family copy, an upgrade, what is older than the
// heads and may still matter) folds the whole history.

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
            let isCut = history.products[name]?.cut(
                headCount: limits.headCount, newestSignedDate: history.newestSignedDate)
            guard isCut == true else { return nil }
        }
        return history
    }

    private mutating func take(
        _ change: LongHistoryEvent.Change, terms: [ExactName: RenewalTerms]
    ) -> Bool {
        guard change.after.isPlain else { return false }
        let plain = PlainFact(change.after)
        newestSignedDate = max(newestSignedDate, plain.newestDate)
        if let before = change.before {
            guard before.isPlain, before.transaction.isSamePurchase(as: change.after.transaction)
            else { return false }
            return replace(change.after.transaction, plain, terms: terms)
        }
        return add(
            change.after.transaction, plain, isChainNew: change.isChainNew, terms: terms)
    }

    private mutating func add(
        _ transaction: Transaction, _ plain: PlainFact, isChainNew: Bool,
        terms: [ExactName: RenewalTerms]
    ) -> Bool {
        let chain = ExactName(transaction.originalTransactionID)
        transactionCount += 1
        leastChain = [leastChain, chain.text].least
        leastAccount = [leastAccount, transaction.appTransactionID].least
        var isNewest = true
        if var line = chains[chain] {
            isNewest = line.isOlder(than: transaction, plain)
            if isNewest {
                guard releaseNewest(of: line, isRenewing: terms[chain] != nil) else {
                    return false
                }
                line.newestID = transaction.transactionID
                line.newestSignedDate = plain.signedDate
            }
            guard line.add(plain.purchaseDate, hasUpgraded: hasUpgraded) else { return false }
            chains[chain] = line
        } else {
            guard isChainNew else { return false }
            if plain.type == .autoRenewable {
                chains[chain] = LongLine(newest: transaction, plain)
            }
        }
        if let group = transaction.subscriptionGroupID {
            var line = groups[group] ?? LongLine()
            guard line.add(plain.purchaseDate, hasUpgraded: hasUpgraded) else { return false }
            groups[group] = line
        }
        let head = Head(transaction, plain, terms: isNewest ? terms[chain] : nil)
        var product = products[transaction.productID] ?? Product()
        let position = product.position(of: head)
        if product.isCut && position == product.heads.count {
            product.restStop = max(product.restStop, head.grant.latestStop)
        } else {
            product.heads.insert(head, at: position)
        }
        products[transaction.productID] = product
        return true
    }

    /// Takes in another copy of a transaction that is at hand.
    private mutating func replace(
        _ transaction: Transaction, _ plain: PlainFact, terms: [ExactName: RenewalTerms]
    ) -> Bool {
        let chain = ExactName(transaction.originalTransactionID)
        guard var product = products[transaction.productID],
            let index = product.index(of: transaction.transactionID)
        else { return false }
        var isNewest = false
        if var line = chains[chain] {
            isNewest = isSame(line.newestID, transaction.transactionID)
            guard isNewest || !line.isOlder(than: transaction, plain) else { return false }
            if isNewest { line.newestSignedDate = plain.signedDate }
            chains[chain] = line
        } else if plain.type == .autoRenewable {
            return false
        }
        product.heads.remove(at: index)
        let head = Head(transaction, plain, terms: isNewest ? terms[chain] : nil)
        // Signed later than what it replaces, so it is still before all that is left out.
        product.heads.insert(head, at: product.position(of: head))
        products[transaction.productID] = product
        return true
    }

    private mutating func take(_ renewal: RenewalInfo) -> Bool {
        newestSignedDate = max(newestSignedDate, renewal.signedDate.milliseconds)
        guard let line = chains[renewal.originalTransactionID] else { return false }
        return changeNewest(of: line) { $0.set(RenewalTerms(renewal)) }
    }

    /// Takes the renewal info from what is no longer the newest purchase of its chain.
    private mutating func releaseNewest(of line: LongLine, isRenewing: Bool) -> Bool {
        changeNewest(of: line) { $0.set(nil) } || !isRenewing
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

extension LongHistory.Product {
    /// Where a grant goes.
    fileprivate func position(of head: LongHistory.Head) -> Int {
        heads.firstIndex { head.isNewer(than: $0) } ?? heads.count
    }

    /// Where a transaction's grant stands; nil when it is not at hand.
    fileprivate func index(of id: String) -> Int? {
        heads.firstIndex { isSame($0.transactionID, id) }
    }

    /// Leaves out what need not be at hand any more; false when something is missing that must be.
    fileprivate mutating func cut(headCount: Int, newestSignedDate: Int64) -> Bool {
        var stops = [Int64](repeating: restStop, count: heads.count + 1)
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
            return !isCut || count >= headCount && horizon <= newestSignedDate
        }
        heads.removeLast(heads.count - count)
        isCut = true
        restStop = stops[count]
        return true
    }
}

extension LongHistory.Head {
    fileprivate init(_ transaction: Transaction, _ plain: PlainFact, terms: RenewalTerms?) {
        self.init(
            grant: plain.grant(terms: terms, successor: nil), signedDate: plain.signedDate,
            transactionID: transaction.transactionID, chain: transaction.originalTransactionID)
    }

    /// Whether it stands before `other`; see `Transaction.isNewerPurchase`.
    fileprivate func isNewer(than other: LongHistory.Head) -> Bool {
        if grant.start != other.grant.start { return grant.start > other.grant.start }
        if signedDate != other.signedDate { return signedDate > other.signedDate }
        return isGreaterTransactionID(transactionID, than: other.transactionID)
    }
}

extension LongLine {
    fileprivate init(newest transaction: Transaction, _ plain: PlainFact) {
        self.init()
        newestID = transaction.transactionID
        newestSignedDate = plain.signedDate
        newestDate = plain.start
    }

    /// Whether a transaction is a more recent purchase than the newest of the chain.
    fileprivate func isOlder(than transaction: Transaction, _ plain: PlainFact) -> Bool {
        if plain.start != newestDate { return plain.start > newestDate }
        if plain.signedDate != newestSignedDate { return plain.signedDate > newestSignedDate }
        return isGreaterTransactionID(transaction.transactionID, than: newestID)
    }

    /// Counts the date of a transaction in that was not upgraded; false when it may be what
    /// followed an upgrade.
    fileprivate mutating func add(_ date: Int64?, hasUpgraded: Bool) -> Bool {
        guard let date, date != newestDate else { return true }
        guard date > newestDate else { return !hasUpgraded }
        guard !isAwaiting else { return false }
        newestDate = date
        return true
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

extension TransactionFact {
    /// Whether nothing but its own dates decides what it grants.
    fileprivate var isPlain: Bool {
        transaction.ownership != .familyShared && transaction.revocationDate == nil
            && !transaction.isUpgraded && matched == nil
    }
}

extension Transaction {
    /// Whether another copy is of the same purchase in all that older facts are found by.
    fileprivate func isSamePurchase(as other: Transaction) -> Bool {
        isSame(originalTransactionID, other.originalTransactionID)
            && isSame(productID, other.productID) && isSame(rawType, other.rawType)
            && isSame(rawOwnership, other.rawOwnership) && purchaseDate == other.purchaseDate
            && appTransactionID.map { ExactName($0) }
                == other.appTransactionID.map { ExactName($0) }
            && subscriptionGroupID.map { ExactName($0) }
                == other.subscriptionGroupID.map { ExactName($0) }
    }
}

extension [String?] {
    /// The least text byte by byte; nil of none.
    fileprivate var least: String? { compactMap { $0.map { ExactName($0) } }.min()?.text }
}
