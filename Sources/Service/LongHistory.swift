import Entitlements
import SnapshotTable
import Storage

// A history of thousands of transactions, as far as the next event needs it: the newest grants of
// each product, what the older ones can still do, and which transaction of each chain is the
// newest. It is stored as the customer's snapshot in layout 2, and it is a function of the facts,
// as every snapshot is: `init(_ fold:)` says which. `LongHistory.taking` gives, for the events of
// daily life, the same without the older facts; where it cannot it says so, and the whole history
// is folded.

/// From when on a history counts as long, and how much of it is kept at hand.
package struct LongHistoryLimits: Hashable, Sendable {
    /// Up to this many transactions a snapshot has all grants: 60 KB with Apple's usual ids.
    package var transactionCountMax: Int
    /// How many grants of a product are kept at least, in a long history.
    package var headCount: Int
    /// How many chains that renew or groups a long history may have; with more it is kept whole.
    package var chainCountMax: Int

    /// The limits of a server, or smaller ones for a test.
    package init(
        transactionCountMax: Int = 512, headCount: Int = 8, chainCountMax: Int = 1_024
    ) {
        precondition(transactionCountMax >= 0 && headCount > 0 && chainCountMax >= 0)
        self.transactionCountMax = transactionCountMax
        self.headCount = headCount
        self.chainCountMax = chainCountMax
    }
}

/// See the comment above.
struct LongHistory: Hashable, Sendable {
    /// A grant at hand.
    struct Head: Hashable, Sendable {
        var grant: Grant
        var signedDate: Int64
        var transactionID: String
        var chain: String
        /// The subscription group; nil without one.
        var group: String?
    }

    /// A product: its newest grants, and what is left out.
    struct Product: Hashable, Sendable {
        /// Newest first.
        var heads: [Head] = []
        /// Whether older grants are left out.
        var isCut = false
        /// From when on none of those left out can grant.
        var restStop = Int64.min
        /// The latest purchaseDate of those left out that are of a line below, of a chain or a
        /// group: what was bought after it is at hand.
        var restLineStart = Int64.min
    }

    var newestSignedDate = Int64.min
    var transactionCount = 0
    /// How many transactions were upgraded: of each it matters what was bought after it.
    var upgradedCount = 0
    var leastAccount: String?
    var leastChain: String?
    var products: [ExactName: Product] = [:]
    /// Chains with a transaction that renews or was upgraded.
    var chains: [ExactName: LongLine] = [:]
    var groups: [ExactName: LongLine] = [:]
}

// MARK: - From the facts

extension LongHistory {
    /// What is kept at hand of a whole history; nil when it is not long, or of too many chains.
    init?(_ fold: Fold, limits: LongHistoryLimits) {
        let facts = fold.facts
        guard facts.count > limits.transactionCountMax else { return nil }
        newestSignedDate = (fold.newestSignedDate ?? .distantPast).milliseconds
        transactionCount = facts.count
        for row in facts.rows where row.plain.isUpgraded { upgradedCount += 1 }
        leastAccount = facts.leastAccount
        leastChain = facts.leastChain
        guard let names = findLines(of: facts, countMax: limits.chainCountMax) else { return nil }
        for product in fold.products {
            var found = head(of: product, in: fold, limits: limits)
            found.restLineStart = Self.restLineStart(
                product.range.dropFirst(found.heads.count), in: fold, chains: names)
            products[facts.text(product.name)] = found
        }
    }

    /// See `Product.restLineStart`; the grants in `range` stand newest first.
    private static func restLineStart(
        _ range: Range<Int>, in fold: Fold, chains: NameTable
    ) -> Int64 {
        let bytes = fold.facts.arena.span
        for position in range {
            let row = fold.facts.rows[Int(fold.rows[position])]
            if row.group != nil || chains.find(row.chain, in: bytes) != nil {
                return row.plain.start
            }
        }
        return .min
    }

    private func head(
        of product: Fold.Product, in fold: Fold, limits: LongHistoryLimits
    ) -> Product {
        let grants = fold.grants[product.range]
        var stops = [Int64](repeating: .min, count: grants.count + 1)
        for index in stride(from: grants.count - 1, through: 0, by: -1) {
            stops[index] = max(
                stops[index + 1], grants[grants.startIndex + index].grant.latestStop)
        }
        var count = min(limits.headCount, grants.count)
        while count < grants.count,
            max(grants[grants.startIndex + count - 1].grant.start, stops[count]) > newestSignedDate
        {
            count += 1
        }
        var found = Product(isCut: count < grants.count, restStop: stops[count])
        for position in product.range.prefix(count) {
            let fact = fold.facts.rows[Int(fold.rows[position])]
            found.heads.append(
                Head(
                    grant: fold.grants[position].grant, signedDate: fact.plain.signedDate,
                    transactionID: fold.facts.text(fact.id), chain: fold.facts.text(fact.chain),
                    group: fact.group.map { fold.facts.text($0) }))
        }
        return found
    }

    /// Finds chains and groups; the names of the chains, or nil when there are more than
    /// `countMax`.
    private mutating func findLines(of facts: FactSet, countMax: Int) -> NameTable? {
        let bytes = facts.arena.span
        var chainNames = NameTable()
        var groupNames = NameTable()
        for row in facts.rows {
            if row.plain.type == .autoRenewable || row.plain.isUpgraded {
                _ = chainNames.number(of: row.chain, in: bytes)
            }
            if let group = row.group { _ = groupNames.number(of: group, in: bytes) }
        }
        guard chainNames.count + groupNames.count <= countMax else { return nil }
        var newest = [Int](repeating: -1, count: chainNames.count)
        var chainLines = [LongLine](repeating: LongLine(), count: chainNames.count)
        var groupLines = [LongLine](repeating: LongLine(), count: groupNames.count)
        for (index, row) in facts.rows.enumerated() {
            if let chain = chainNames.findNext(row.chain, in: bytes) {
                chainLines[chain].note(row.plain)
                let known = newest[chain]
                if known < 0 || isNewerPurchase(row, than: facts.rows[known], in: bytes) {
                    newest[chain] = index
                }
            }
            if let name = row.group, let group = groupNames.findNext(name, in: bytes) {
                groupLines[group].note(row.plain)
            }
        }
        for (number, index) in newest.enumerated() {
            let row = facts.rows[index]
            chainLines[number].newestID = facts.text(row.id)
            chainLines[number].newestSignedDate = row.plain.signedDate
        }
        for (number, name) in chainNames.texts.enumerated() { chains[name] = chainLines[number] }
        for (number, name) in groupNames.texts.enumerated() { groups[name] = groupLines[number] }
        return chainNames
    }
}

extension LongLine {
    /// Counts a transaction in, whatever the order.
    mutating func note(_ plain: PlainFact) {
        guard let date = plain.purchaseDate else { return }
        if date > newestDate {
            newestDate = date
            isAwaiting = plain.isUpgraded
        } else if date == newestDate {
            isAwaiting = isAwaiting || plain.isUpgraded
        }
    }
}

// MARK: - Looking at it

extension LongHistory {
    /// The instant that "now" means to this customer.
    func now(_ clock: Timestamp) -> Timestamp {
        max(clock, Timestamp(milliseconds: newestSignedDate))
    }

    /// The answer about a product, at `now` or later.
    func decision(
        for product: ExactName, under policy: ProductPolicy, at instant: Timestamp
    ) -> AccessDecision {
        guard let product = products[product] else { return AccessDecision(reason: .noPurchase) }
        return HeadGrants(product).fullDecision(at: instant.milliseconds, under: policy)
    }
}

/// The grants of a head.
private struct HeadGrants: GrantList {
    private let heads: [LongHistory.Head]
    private let ends: [Int64]

    init(_ product: LongHistory.Product) {
        heads = product.heads
        ends = product.ends
    }

    var count: Int { heads.count }
    func grant(at index: Int) -> Grant { heads[index].grant }
    func endOfRest(after index: Int) -> Int64 { ends[index] }
}

extension LongHistory.Product {
    /// For each head the instant from which on nothing after it can grant.
    var ends: [Int64] {
        var ends = [Int64](repeating: .min, count: heads.count)
        var latest = restStop
        for index in heads.indices.reversed() {
            ends[index] = latest
            latest = max(latest, heads[index].grant.latestStop)
        }
        return ends
    }

    /// From when on the heads answer for all.
    var horizon: Int64 {
        guard isCut, let last = heads.last else { return .min }
        return max(last.grant.start, restStop)
    }
}
