import Entitlements
import Storage

// Families that nobody declared, recognised by what is equal in their transactions. The index
// `matches` and the purchase that is noted on each family copy are functions of the facts, kept up
// by the commit of every fact: one scan of those that are equal tells who belongs together now and
// who did before, so only those for whom that changed are read and written.

/// A group of transactions that may be one family's.
struct ScopedFamily: Hashable, Sendable {
    let scope: ScopeNumber
    let family: FamilyKey
}

/// Where a transaction stands in `matches`.
struct MatchPlace: Hashable, Sendable {
    let group: ScopedFamily
    let candidate: FamilyCandidate

    /// The place of a customer's transaction; nil when it can be of no family.
    init?(_ fact: TransactionFact?, of customer: CustomerKey) {
        guard let fact, let family = FamilyKey(fact.transaction),
            let candidate = fact.candidate(of: customer.number)
        else { return nil }
        group = ScopedFamily(scope: customer.scope, family: family)
        self.candidate = candidate
    }

    /// Two places of one customer and transaction have the same key within a group.
    fileprivate var name: MatchName {
        MatchName(
            customer: candidate.customer, transactionID: ExactName(candidate.transactionID))
    }
}

/// Which candidate of a group it is.
struct MatchName: Hashable, Sendable {
    let customer: UInt64
    let transactionID: ExactName
}

/// What a group of events changes in `matches`.
struct MatchChanges: Sendable {
    /// The candidates that are other ones than in the store; nil: none any more.
    fileprivate var changed: [ScopedFamily: [MatchName: FamilyCandidate?]] = [:]
    /// Groups with too many candidates, from which nothing was taken since that was seen.
    fileprivate var crowded: Set<ScopedFamily> = []

    /// Adds what is to be written.
    func write(into changes: inout ChangeSet) {
        for (group, candidates) in changed {
            for (name, candidate) in candidates {
                let place =
                    candidate
                    ?? FamilyCandidate(
                        customer: name.customer, transactionID: name.transactionID.text,
                        isPurchase: false)
                let key = Key.match(place, of: group.family, in: group.scope)
                if let candidate {
                    changes.put(RecordCodec.encode(candidate), for: key, in: .matches)
                } else {
                    changes.delete(key, in: .matches)
                }
            }
        }
    }
}

extension CustomerState {
    /// Keeps where a transaction stands before the current event changes it.
    mutating func notePlace(of id: ExactName) {
        guard placesBefore[id] == nil else { return }
        placesBefore.updateValue(MatchPlace(transactions[id], of: key), forKey: id)
    }

    /// The places to give up when all is taken from him.
    var placesBeforeRemoval: [ExactName: MatchPlace?] {
        var copy = self
        for id in transactions.keys { copy.notePlace(of: id) }
        return copy.placesBefore
    }

    /// Notes the purchase behind a family copy; whether it is another one than before.
    fileprivate mutating func link(_ id: ExactName, to matched: MatchedPurchase?) -> Bool {
        guard var fact = transactions[id], fact.matched != matched else { return false }
        noteChange(of: id, isChainNew: false)
        fact.matched = matched
        transactions.put(fact)
        dirtyTransactions.insert(id)
        isDirty = true
        fold = nil
        return true
    }
}

extension FactSet {
    /// The row of the oldest purchase that can be of a family; nil without one.
    fileprivate var oldestMatchable: Int? {
        var oldest: Int?
        for (index, row) in rows.enumerated() where row.plain.isMatchable {
            if let known = oldest, rows[known].plain.start <= row.plain.start { continue }
            oldest = index
        }
        return oldest
    }
}

extension PlainFact {
    /// Whether it can be of a family; see `FamilyKey`.
    fileprivate var isMatchable: Bool {
        (ownership == .purchased || ownership == .familyShared) && purchaseDate != nil
            && (type == .autoRenewable || type == .nonConsumable)
    }
}

extension Ledger {
    /// Brings `matches` and the purchases behind family copies to what follows from the facts that
    /// the current event changed; tells whose copies have another purchase behind them now.
    ///
    /// Time: one scan of at most 36 equal transactions per transaction that is new or differs in
    /// what families are recognised by; none when only its dates of signing changed.
    mutating func rematch(at clock: Timestamp) throws(LedgerFailure) -> Set<CustomerKey> {
        var relinked: Set<CustomerKey> = []
        for (group, moves) in workspace.takeMoves() {
            for (name, link) in try workspace.apply(moves, to: group) {
                let key = CustomerKey(scope: group.scope, number: name.customer)
                guard try workspace.link(name.transactionID, of: key, to: link.now) else {
                    continue
                }
                relinked.insert(key)
                guard link.before?.refund?.date != link.now?.refund?.date else { continue }
                try queueRefresh(of: key, afterRefundBehind: name.transactionID, at: clock)
            }
        }
        return relinked
    }

    /// Enters what a release that recognised no families has left out of `matches`; one read where
    /// nothing was.
    mutating func repairMatches(of key: CustomerKey, at clock: Timestamp) throws(LedgerFailure) {
        let facts = try workspace.customer(key).transactions
        guard try !workspace.areEntered(facts, of: key) else { return }
        _ = try change([key], at: clock) { (ledger) in
            for id in ledger.workspace.customers[key]?.transactions.keys.map(\.self) ?? [] {
                ledger.workspace.customers[key]?.placesBefore.updateValue(nil, forKey: id)
            }
        }
    }

    /// Asks Apple early about a member whose purchase was refunded, or whose refund was reversed:
    /// his own REVOKE may be lost, and of a reversal nobody may be told.
    private mutating func queueRefresh(
        of key: CustomerKey, afterRefundBehind id: ExactName, at clock: Timestamp
    ) throws(LedgerFailure) {
        guard catalogs[key.scope]?.defaultPolicy.familyCut != .off,
            let fact = workspace.customers[key]?.transactions[id]
        else { return }
        let isRefunded = fact.matched?.refund != nil
        let isEnded = fact.candidate(of: key.number)?.isEnded == true
        guard !(isRefunded && isEnded) else { return }
        let isReversed = fact.matched != nil && !isRefunded
        try workspace.queueRefresh(
            of: key, trigger: isReversed ? .refundReversed : .familyRefund, at: clock)
    }
}

/// The purchase behind a copy before and after an event.
private struct LinkChange {
    var before: MatchedPurchase?
    var now: MatchedPurchase?
}

/// A transaction that leaves a group, enters it, or stands in it as another one.
struct MatchMove {
    var before: FamilyCandidate?
    var now: FamilyCandidate?
}

extension Workspace {
    /// What the current event changes in each group; the notes about it are taken off.
    fileprivate mutating func takeMoves() -> [ScopedFamily: [MatchName: MatchMove]] {
        var moves: [ScopedFamily: [MatchName: MatchMove]] = [:]
        for key in customers.modified(where: { !$0.placesBefore.isEmpty }) {
            guard let state = customers[key] else { continue }
            customers[key]?.placesBefore = [:]
            customers[key]?.placesNow = [:]
            for (id, before) in state.placesBefore {
                let now = state.placesNow[id] ?? MatchPlace(state.transactions[id], of: key)
                guard before != now else { continue }
                if let before {
                    moves[before.group, default: [:]][before.name, default: MatchMove()].before =
                        before.candidate
                }
                if let now {
                    moves[now.group, default: [:]][now.name, default: MatchMove()].now =
                        now.candidate
                }
            }
        }
        return moves
    }

    /// Changes a group; the copies in it that may have another purchase behind them now.
    fileprivate mutating func apply(
        _ moves: [MatchName: MatchMove], to group: ScopedFamily
    ) throws(LedgerFailure) -> [MatchName: LinkChange] {
        let isTaking = moves.values.contains { $0.now == nil }
        let isCrowded = matches.crowded.contains(group) && !isTaking
        let before = isCrowded ? [:] : try candidates(of: group, besides: moves.count)
        var now = before
        for (name, move) in moves {
            now[name] = move.now
            matches.changed[group, default: [:]].updateValue(move.now, forKey: name)
        }
        hasChanged = true
        let oldLinks = Self.links(of: before)
        var newLinks: [ExactName: MatchedPurchase] = [:]
        if isCrowded || now.count > FamilyMatch.candidateCountMax {
            matches.crowded.insert(group)
        } else {
            matches.crowded.remove(group)
            newLinks = Self.links(of: now)
        }
        var changes: [MatchName: LinkChange] = [:]
        for name in Set(before.keys).union(moves.keys) {
            let id = name.transactionID
            let change = LinkChange(
                before: before[name] == nil ? nil : oldLinks[id],
                now: now[name] == nil ? nil : newLinks[id])
            // What came from elsewhere may still carry what it was linked to there.
            if change.before != change.now || moves[name]?.now != nil { changes[name] = change }
        }
        return changes
    }

    private static func links(
        of candidates: [MatchName: FamilyCandidate]
    ) -> [ExactName: MatchedPurchase] {
        FamilyMatch.links(of: FamilyMatch.families(among: Array(candidates.values)))
    }

    /// Whether these facts of a customer's are in the index, as far as they belong there.
    func areEntered(_ facts: FactSet, of key: CustomerKey) throws(LedgerFailure) -> Bool {
        guard let oldest = facts.oldestMatchable,
            let place = MatchPlace(facts.fact(at: oldest), of: key)
        else { return true }
        return try isEntered(place)
    }

    /// Whether a place is in the index.
    private func isEntered(_ place: MatchPlace) throws(LedgerFailure) -> Bool {
        if matches.changed[place.group]?[place.name] != nil { return true }
        let key = Key.match(place.candidate, of: place.group.family, in: place.group.scope)
        return try reading { () throws(StorageError) in
            try store.value(for: key, in: .matches) != nil
        }
    }

    /// The candidates of a group, as this group of events has left them; of a crowded one at least
    /// as many as show that it is, whatever `count` of them become.
    private func candidates(
        of group: ScopedFamily, besides count: Int
    ) throws(LedgerFailure) -> [MatchName: FamilyCandidate] {
        let changed = matches.changed[group] ?? [:]
        let countMax = FamilyMatch.candidateCountMax + 1 + count + changed.count
        var found: [MatchName: FamilyCandidate] = [:]
        let stored = try reading { () throws(StorageError) in
            try store.candidates(of: group, countMax: countMax)
        }
        for candidate in stored {
            let name = MatchName(
                customer: candidate.customer, transactionID: ExactName(candidate.transactionID))
            found[name] = candidate
        }
        for (name, candidate) in changed { found[name] = candidate }
        return found
    }

    /// Notes the purchase behind a copy; whether it is another one than before.
    fileprivate mutating func link(
        _ id: ExactName, of key: CustomerKey, to matched: MatchedPurchase?
    ) throws(LedgerFailure) -> Bool {
        // Whoever was merged into another by this event has nothing any more.
        guard try person(key) == key else { return false }
        // Most are purchases, with none behind them before or after: their record says so.
        if matched == nil, customers[key]?.transactions.isMatched(id.text) == false {
            return false
        }
        guard let fact = try fact(id.text, of: key),
            fact.matched != matched,
            let state = customers[key]
        else { return false }
        // Who is new, or was changed by the event itself, is remembered already or has no before.
        if !state.isTouched && before[key] == nil {
            before[key] = Before(
                outlook: try outlook(key), household: state.record.household, members: [])
        }
        return customers[key]?.link(id, to: matched) == true
    }
}

extension EntitlementReader {
    /// The stored candidates of a group, at most `countMax`, in the order of customers.
    func candidates(
        of group: ScopedFamily, countMax: Int
    ) throws(StorageError) -> [FamilyCandidate] {
        let prefix = Key.matches(group.family, in: group.scope)
        var records: [(key: [UInt8], value: [UInt8])] = []
        try scan(.matches, prefix: prefix, from: nil, reversed: false) { key, value in
            records.append((key, value))
            return records.count < countMax
        }
        var candidates: [FamilyCandidate] = []
        for record in records {
            candidates.append(
                try RecordCodec.decodeMatch(
                    key: record.key, prefixByteCount: prefix.count, value: record.value))
        }
        return candidates
    }
}
