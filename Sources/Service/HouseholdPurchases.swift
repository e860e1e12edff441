import Entitlements
import Storage

/// What the members of a household bought, as far as it matters to what they share.
struct HouseholdPurchases: Sendable {
    private struct Entry: Sendable {
        var purchase: HouseholdPurchase
        /// The latest end of this and all earlier entries.
        var latestEnd: Timestamp
    }

    /// Nobody's purchases.
    static let none = HouseholdPurchases()

    /// The newest signedDate among all purchases of the members.
    private(set) var newestSignedDate = Int64.min
    /// By product, in the order of their starts; only products of which somebody has a shared copy.
    private var entries: [ExactName: [Entry]] = [:]

    /// Whether nothing in it can be behind anybody's copy.
    var isEmpty: Bool { entries.isEmpty }

    private init() {}

    /// The purchases of these members.
    init(_ members: [FactSet]) {
        var shared = NameTable()
        for member in members {
            let bytes = member.arena.span
            for row in member.rows where row.isShared {
                _ = shared.number(of: row.product, in: bytes)
            }
        }
        var purchases: [ExactName: [HouseholdPurchase]] = [:]
        for member in members {
            for (position, row) in member.rows.enumerated()
            where row.plain.ownership == .purchased && row.plain.purchaseDate != nil {
                newestSignedDate = max(newestSignedDate, row.plain.signedDate)
                guard shared.find(row.product, in: member.arena.span) != nil,
                    let purchase = HouseholdPurchase(member.fact(at: position).transaction)
                else { continue }
                purchases[purchase.productID, default: []].append(purchase)
            }
        }
        entries = purchases.mapValues { Self.entries($0) }
    }

    private static func entries(_ purchases: [HouseholdPurchase]) -> [Entry] {
        var latest = Timestamp.distantPast
        return purchases.sorted { $0.period.lowerBound < $1.period.lowerBound }.map { purchase in
            latest = max(latest, purchase.period.upperBound)
            return Entry(purchase: purchase, latestEnd: latest)
        }
    }

    /// The purchases that may be behind a copy of `product` over `period`: all that overlap it.
    ///
    /// Time: logarithmic in the purchases of the product, plus what is found.
    func overlapping(_ product: String, _ period: Range<Timestamp>) -> [HouseholdPurchase] {
        let entries = entries[product] ?? []
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].purchase.period.lowerBound < period.upperBound {
                low = middle + 1
            } else {
                high = middle
            }
        }
        var found: [HouseholdPurchase] = []
        while low > 0, entries[low - 1].latestEnd > period.lowerBound {
            low -= 1
            if entries[low].purchase.period.overlaps(period) { found.append(entries[low].purchase) }
        }
        return found
    }
}
