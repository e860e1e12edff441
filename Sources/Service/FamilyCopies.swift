import Entitlements
import Storage

/// The purchase that a family copy came from, as far as that is known.
struct CopySource: Hashable, Sendable {
    var transactionID: String
    /// How it was found: declared, or recognised.
    var confidence: FamilyConfidence
    /// Whether its payment went back.
    var isRefunded: Bool

    /// The purchase behind `copy`; nil where none is known.
    ///
    /// Of the purchases of the declared household whose period overlaps its own it is the one that
    /// was bought at the nearest time; without any it is the one that was recognised. So no copy is
    /// on two bills.
    init?(of copy: TransactionFact, among purchases: [Transaction]) {
        if let declared = Self.nearest(copy.transaction, purchases) {
            transactionID = declared.transactionID
            confidence = .declared
            isRefunded = Revocation.isRefundedPurchase(declared)
        } else if let matched = copy.matched {
            transactionID = matched.transactionID
            confidence = FamilyConfidence(matched.kind)
            isRefunded = matched.refund != nil
        } else {
            return nil
        }
    }

    private static func nearest(
        _ copy: Transaction, _ purchases: [Transaction]
    ) -> Transaction? {
        guard let period = copy.period else { return nil }
        let overlapping = purchases.filter {
            isSame($0.productID, copy.productID) && $0.period?.overlaps(period) == true
        }
        return overlapping.min { left, right in
            let (near, far) = (distance(left, copy), distance(right, copy))
            if near != far { return near < far }
            return isGreaterTransactionID(right.transactionID, than: left.transactionID)
        }
    }

    private static func distance(_ purchase: Transaction, _ copy: Transaction) -> UInt64 {
        let bought = (purchase.purchaseDate ?? .distantPast).milliseconds
        let shared = (copy.purchaseDate ?? .distantPast).milliseconds
        return bought > shared
            ? UInt64(bitPattern: bought &- shared) : UInt64(bitPattern: shared &- bought)
    }
}

/// A transaction that somebody was served on.
struct ServedCopy: Hashable, Sendable {
    var holder: CustomerKey
    var transaction: Transaction
    /// Of a family copy.
    var source: CopySource?
}

/// The family copies of one product, by member and chain, with the purchases they came from.
struct FamilyCopies {
    /// The copies of one chain that came from one purchase.
    struct Group: Hashable {
        var confidence: FamilyConfidence
        /// Those whose period the purchase covers; at least one.
        var served: [ServedCopy]
        /// Later ones that no purchase covers.
        var beyond: [ServedCopy]
    }

    private struct Chain: Hashable {
        var holder: CustomerKey
        var chain: ExactName
    }

    private let productID: String
    private var chains: [Chain: [ServedCopy]] = [:]

    /// No copies yet.
    init(of productID: String) { self.productID = productID }

    /// Adds what a member holds; `purchases` are those of his declared household.
    mutating func add(_ member: CustomerState, sharing purchases: [Transaction]) {
        for fact in member.transactions.values {
            let transaction = fact.transaction
            guard transaction.ownership == .familyShared, isSame(transaction.productID, productID)
            else { continue }
            let chain = Chain(
                holder: member.key, chain: ExactName(transaction.originalTransactionID))
            chains[chain, default: []].append(
                ServedCopy(
                    holder: member.key, transaction: transaction,
                    source: CopySource(of: fact, among: purchases)))
        }
    }

    /// The copies that came from a purchase, by member and chain.
    func groups(from purchase: String) -> [Group] {
        chains.values.compactMap { copies in
            var group = Group(confidence: .none, served: [], beyond: [])
            var isOfPurchase = false
            let oldestFirst = copies.sorted {
                $1.transaction.isNewerPurchase(than: $0.transaction)
            }
            for copy in oldestFirst {
                if let source = copy.source {
                    isOfPurchase = isSame(source.transactionID, purchase)
                    guard isOfPurchase else { continue }
                    if group.served.isEmpty { group.confidence = source.confidence }
                    group.served.append(copy)
                } else if isOfPurchase {
                    group.beyond.append(copy)
                }
            }
            return group.served.isEmpty ? nil : group
        }
    }
}
