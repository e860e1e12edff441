import Entitlements
import Storage

/// What a transaction's grant takes from the customer's other transactions: the renewal info of the
/// chain, which counts for its newest purchase alone, and what followed an upgrade.
struct FoldContext {
    /// For each chain with renewal info its newest purchase, as a row, and the terms.
    private var termsByRow: [Int: RenewalTerms] = [:]
    /// The purchase dates of each chain, and of each group, that has an upgraded transaction.
    private var chains = Timeline()
    private var groups = Timeline()

    init(_ facts: FactSet, renewals: [ExactName: RenewalInfo]) {
        findNewest(facts, renewals)
        if facts.rows.contains(where: { $0.plain.isUpgraded }) { findDates(facts) }
    }

    /// The renewal info that counts for the transaction in a row; nil without one.
    func terms(of row: Int) -> RenewalTerms? {
        termsByRow.isEmpty ? nil : termsByRow[row]
    }

    /// When the next transaction of an upgraded one's group, or of its chain, was bought.
    func successor(of fact: StoredFact, in facts: FactSet) -> Int64? {
        guard let date = fact.plain.purchaseDate else { return nil }
        let bytes = facts.arena.span
        let next = chains.first(after: date, of: fact.chain, in: bytes)
        guard let group = fact.group,
            let other = groups.first(after: date, of: group, in: bytes)
        else { return next }
        return min(next ?? other, other)
    }

    private mutating func findDates(_ facts: FactSet) {
        let bytes = facts.arena.span
        for row in facts.rows where row.plain.isUpgraded {
            chains.open(row.chain, in: bytes)
            if let group = row.group { groups.open(group, in: bytes) }
        }
        for row in facts.rows {
            guard let date = row.plain.purchaseDate else { continue }
            chains.add(date, to: row.chain, in: bytes)
            if let group = row.group { groups.add(date, to: group, in: bytes) }
        }
        chains.sort()
        groups.sort()
    }

    private mutating func findNewest(
        _ facts: FactSet, _ renewals: [ExactName: RenewalInfo]
    ) {
        guard !renewals.isEmpty else { return }
        let bytes = facts.arena.span
        var chains = NameTable()
        var terms: [RenewalTerms] = []
        for (chain, renewal) in renewals {
            _ = chains.number(of: chain.text)
            terms.append(RenewalTerms(renewal))
        }
        var newest = [Int](repeating: -1, count: terms.count)
        for (index, row) in facts.rows.enumerated() {
            guard let chain = chains.findNext(row.chain, in: bytes) else { continue }
            let known = newest[chain]
            if known < 0 || isNewerPurchase(row, than: facts.rows[known], in: bytes) {
                newest[chain] = index
            }
        }
        for (chain, row) in newest.enumerated() where row >= 0 { termsByRow[row] = terms[chain] }
    }
}

/// Purchase dates under names, to find what followed an upgrade.
private struct Timeline {
    private var names = NameTable()
    private var dates: [[Int64]] = []

    /// Begins to keep the dates of a name.
    mutating func open(_ name: TextRange, in arena: Span<UInt8>) {
        if names.number(of: name, in: arena) == dates.count { dates.append([]) }
    }

    /// Keeps a date, where somebody will ask for it.
    mutating func add(_ date: Int64, to name: TextRange, in arena: Span<UInt8>) {
        if let number = names.findNext(name, in: arena) { dates[number].append(date) }
    }

    mutating func sort() {
        for number in dates.indices { dates[number].sort() }
    }

    /// The first date of a name after `date`.
    func first(after date: Int64, of name: TextRange, in arena: Span<UInt8>) -> Int64? {
        guard let number = names.find(name, in: arena) else { return nil }
        let dates = dates[number]
        var (low, high) = (0, dates.count)
        while low < high {
            let middle = (low + high) / 2
            if dates[middle] > date { high = middle } else { low = middle + 1 }
        }
        return low < dates.count ? dates[low] : nil
    }
}
