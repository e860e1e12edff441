import Entitlements
import Storage

/// What followed from a customer's facts before the current event.
enum Outlook: Sendable {
    case whole(Fold)
    /// What was at hand of a long history, and the customer with which it can be completed.
    case long(LongHistory, CustomerState)
}

/// A long history before and after an event that needed none of its older facts.
struct LongStep: Sendable {
    /// How a transaction that the event changed has ended before its time.
    struct Ending: Sendable {
        var before: EndedAccess?
        var after: EndedAccess?
        /// Whether the customer had the transaction before.
        var wasServed: Bool
    }

    let before: LongHistory
    let after: LongHistory
    /// The products of the transactions and chains that the event changed.
    let products: Set<ExactName>
    /// By transactionId; those that had not ended before and have not after are left out.
    let endings: [ExactName: Ending]

    /// See `Fold.flips`.
    func flips(
        of customer: @autoclosure () -> String, catalog: Catalog, at clock: Timestamp,
        countsReasons: Bool
    ) -> [EntitlementChange] {
        // An answer about another product is the same before and after.
        let instant = max(before.now(clock), after.now(clock))
        return products.sorted().compactMap { product in
            let policy = catalog.policy(for: product.text)
            let old = before.decision(for: product, under: policy, at: instant)
            let new = after.decision(for: product, under: policy, at: instant)
            let isSame = old.reason == new.reason
            guard countsReasons ? !isSame : old.isGranted != new.isGranted else { return nil }
            return EntitlementChange(
                customerID: customer(), productID: product.text, wasGranted: old.isGranted,
                isGranted: new.isGranted, reason: new.reason)
        }
    }
}

extension Workspace {
    /// What follows from the facts of `key` now.
    mutating func outlook(_ key: CustomerKey) throws(LedgerFailure) -> Outlook {
        if let state = customers[key], !state.isWhole, let long = state.long {
            return .long(long, state)
        }
        return .whole(try fold(key))
    }

    /// The whole fold of what `key` was before the current event; nil when he was not there, or
    /// nobody remembered him.
    mutating func foldBefore(_ key: CustomerKey) throws(LedgerFailure) -> Fold? {
        switch before[key]?.outlook {
        case nil: return nil
        case .whole(let fold): return fold
        case .long(_, let state):
            let whole = try completed(state)
            let fold = Fold(whole.transactions, renewals: whole.renewals)
            before[key]?.outlook = .whole(fold)
            return fold
        }
    }

    /// Takes the current event into a long history that is not whole; nil when all facts are
    /// needed, or are here.
    mutating func takeStep(of key: CustomerKey) throws(LedgerFailure) -> LongStep? {
        guard let state = customers[key], !state.isWhole, let known = state.long,
            case .long(let before, _)? = before[key]?.outlook, state.record.household.isEmpty,
            !state.record.isEntangled
        else { return nil }
        var event = LongHistoryEvent(changes: [], renewals: [], terms: [:])
        var products: Set<ExactName> = []
        var endings: [ExactName: LongStep.Ending] = [:]
        for change in state.changes {
            guard let fact = state.transactions[change.id] else { return nil }
            event.changes.append(
                LongHistoryEvent.Change(
                    before: change.before, after: fact, isChainNew: change.isChainNew))
            products.insert(ExactName(fact.transaction.productID))
            let ending = LongStep.Ending(
                before: change.before?.ended, after: fact.ended, wasServed: change.before != nil)
            if ending.before != nil || ending.after != nil { endings[change.id] = ending }
            let chain = fact.transaction.originalTransactionID
            event.terms[chain] = try renewal(chain, of: key).map { RenewalTerms($0) }
        }
        for chain in state.changedRenewals.sorted() {
            guard let renewal = state.renewals[chain] else { return nil }
            event.renewals.append(renewal)
        }
        guard let after = known.taking(event, limits: longHistoryLimits) else { return nil }
        products.formUnion(known.products(changedIn: after))
        customers.keep(after, of: key)
        customers[key]?.changes = []
        customers[key]?.changedRenewals = []
        return LongStep(before: before, after: after, products: products, endings: endings)
    }
}

extension LongHistory {
    /// The products whose grants are other ones in `after`.
    fileprivate func products(changedIn after: LongHistory) -> [ExactName] {
        after.products.keys.filter { products[$0] != after.products[$0] }
    }
}
