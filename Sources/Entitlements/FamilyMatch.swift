// Apple names no family and no buyer in a shared copy. What is equal in all of one family is the
// product and, to the millisecond, the period; a line item, where a copy carries one, is one
// purchase's. So a family is recognised, never known, and where two fit none is assumed.

/// What the transactions of one purchase and of its family copies have in common.
package struct FamilyKey: Hashable, Sendable {
    /// The product.
    package let productID: ExactName
    /// When it was bought.
    package let purchaseDate: Timestamp
    /// When the period ends; nil for what has no end.
    package let expiresDate: Timestamp?

    /// A key of these parts.
    package init(productID: String, purchaseDate: Timestamp, expiresDate: Timestamp?) {
        self.productID = ExactName(productID)
        self.purchaseDate = purchaseDate
        self.expiresDate = expiresDate
    }

    /// What `transaction` has in common with its family's; nil when it can be of no family.
    package init?(_ transaction: Transaction) {
        switch transaction.ownership {
        case .purchased, .familyShared: break
        case .assigned, .other, .unspecified: return nil
        }
        guard let purchaseDate = transaction.purchaseDate else { return nil }
        switch transaction.type {
        case .autoRenewable: expiresDate = transaction.expiresDate
        case .nonConsumable: expiresDate = nil
        case .consumable, .nonRenewing, .unknown: return nil
        }
        productID = ExactName(transaction.productID)
        self.purchaseDate = purchaseDate
    }
}

/// The reversed payment of a purchase, as far as it matters to those who share it.
package struct PurchaseRefund: Hashable, Sendable {
    /// As Apple dates it.
    package let date: Timestamp
    /// Whether only a part went back.
    package let isProrated: Bool
    /// When this was signed.
    package let signedDate: Timestamp

    /// A refund.
    package init(date: Timestamp, isProrated: Bool, signedDate: Timestamp) {
        self.date = date
        self.isProrated = isProrated
        self.signedDate = signedDate
    }

    /// The refund of `transaction`; nil while the payment stands, or when it was not bought.
    package init?(of transaction: Transaction) {
        guard Revocation.isRefundedPurchase(transaction), let date = transaction.revocationDate
        else { return nil }
        self.init(
            date: date, isProrated: transaction.revocationType == "REFUND_PRORATED",
            signedDate: transaction.signedDate)
    }
}

/// A purchase or a family copy among those that share a `FamilyKey`.
package struct FamilyCandidate: Hashable, Sendable {
    /// Whose it is.
    package var customer: UInt64
    /// The transaction.
    package var transactionID: String
    /// Whether it was bought; else it was shared.
    package var isPurchase: Bool
    /// The purchase event, where the copy names one.
    package var lineItemID: String?
    /// Whether its own evidence has ended it.
    package var isEnded: Bool
    /// The refund, when it is a purchase whose payment went back.
    package var refund: PurchaseRefund?

    /// A candidate.
    package init(
        customer: UInt64, transactionID: String, isPurchase: Bool, lineItemID: String? = nil,
        isEnded: Bool = false, refund: PurchaseRefund? = nil
    ) {
        self.customer = customer
        self.transactionID = transactionID
        self.isPurchase = isPurchase
        self.lineItemID = lineItemID
        self.isEnded = isEnded
        self.refund = refund
    }

    package static func == (left: FamilyCandidate, right: FamilyCandidate) -> Bool {
        left.customer == right.customer && isSame(left.transactionID, right.transactionID)
            && left.isPurchase == right.isPurchase && left.isEnded == right.isEnded
            && left.lineItemID.map { ExactName($0) } == right.lineItemID.map { ExactName($0) }
            && left.refund == right.refund
    }
}

extension TransactionFact {
    /// The fact as a candidate of `customer`; nil when it can be of no family.
    package func candidate(of customer: UInt64) -> FamilyCandidate? {
        guard FamilyKey(transaction) != nil else { return nil }
        return FamilyCandidate(
            customer: customer, transactionID: transaction.transactionID,
            isPurchase: transaction.ownership == .purchased,
            lineItemID: transaction.webOrderLineItemID,
            isEnded: transaction.revocationDate != nil
                || evidence.override(of: transaction) != nil,
            refund: PurchaseRefund(of: transaction))
    }
}

/// How a purchase was found to be the one behind a family copy.
package enum FamilyLinkKind: UInt8, Hashable, Sendable {
    /// Product, purchase and expiry date are the same.
    case likely = 1
    /// The line item is the same too.
    case strong = 2
    /// It was bought in the declared household.
    case declared = 3
}

/// The purchase of the family that a copy was recognised to belong to.
package struct MatchedPurchase: Hashable, Sendable {
    /// The purchase.
    package let transactionID: String
    /// `likely` or `strong`.
    package let kind: FamilyLinkKind
    /// Its refund; nil while the payment stands.
    package let refund: PurchaseRefund?

    /// A recognised purchase.
    package init(transactionID: String, kind: FamilyLinkKind, refund: PurchaseRefund?) {
        self.transactionID = transactionID
        self.kind = kind
        self.refund = refund
    }

    package static func == (left: MatchedPurchase, right: MatchedPurchase) -> Bool {
        isSame(left.transactionID, right.transactionID) && left.kind == right.kind
            && left.refund == right.refund
    }
}

/// Transactions that are one family's, or that might be one's or another's.
package struct FamilyMatch: Hashable, Sendable {
    /// Why no family is assumed.
    package enum Doubt: Hashable, Sendable {
        /// Each of several purchases fits.
        case severalPurchases
        /// A purchase is shared with five others at most.
        case morePeopleThanShare
        /// One person would have it twice.
        case samePersonTwice
        /// Some copies name a line item, others do not, and more than one purchase event fits.
        case severalLineItems
        /// So many transactions are equal that nobody looks at all of them.
        case tooManyCandidates
    }

    /// The purchase; of a doubtful match all that fit.
    package var purchases: [FamilyCandidate]
    /// The family copies, at least one, in the order of customers.
    package var copies: [FamilyCandidate]
    /// `likely` or `strong`; nil when in doubt.
    package var kind: FamilyLinkKind?
    /// Why nothing is assumed; nil when there is no doubt.
    package var doubt: Doubt?
}

extension FamilyMatch {
    /// How many transactions with one `FamilyKey` are looked at: six families. Where there are
    /// more, none is recognised, so that one instant that everybody shares costs no more than this.
    package static let candidateCountMax = 36
    /// How many others share a purchase.
    package static let copyHolderCountMax = 5

    /// The families among all transactions that share a `FamilyKey`; a purchase alone and a copy
    /// alone are none.
    ///
    /// Line items divide first: who names one is only of a family that names no other. Who names
    /// none may be of any. A function of the set: the order does not matter.
    package static func families(among candidates: [FamilyCandidate]) -> [FamilyMatch] {
        guard candidates.count > 1 else { return [] }
        let sorted = candidates.sorted {
            $0.customer != $1.customer
                ? $0.customer < $1.customer
                : ExactName($0.transactionID) < ExactName($1.transactionID)
        }
        if sorted.count > candidateCountMax {
            let doubtful = FamilyMatch(sorted, doubt: .tooManyCandidates)
            return doubtful.isPossible ? [doubtful] : []
        }
        let plain = sorted.filter { $0.lineItemID == nil }
        let lines = Dictionary(grouping: sorted.filter { $0.lineItemID != nil }) {
            ExactName($0.lineItemID ?? "")
        }
        if lines.count <= 1 && !plain.isEmpty {
            let whole = FamilyMatch(sorted, kind: .likely)
            if whole.doubt == nil || lines.isEmpty { return whole.isPossible ? [whole] : [] }
        }
        return divided(lines, plain)
    }

    /// The families of each line item, and what is left in doubt.
    private static func divided(
        _ lines: [ExactName: [FamilyCandidate]], _ plain: [FamilyCandidate]
    ) -> [FamilyMatch] {
        var found: [FamilyMatch] = []
        var open: [FamilyCandidate] = []
        for (_, line) in lines.sorted(by: { $0.key < $1.key }) {
            let match = FamilyMatch(line, kind: .strong)
            if match.isPossible && (match.doubt == nil || plain.isEmpty) {
                found.append(match)
            } else {
                open += line
            }
        }
        guard !plain.isEmpty else { return found }
        // A copy without a line item may be of a family that was found, too.
        var rest = FamilyMatch(plain + open, doubt: .severalLineItems)
        if plain.contains(where: { !$0.isPurchase }) {
            rest.purchases += found.flatMap(\.purchases)
        }
        if rest.isPossible {
            if rest.purchases.count > 1 { rest.doubt = .severalPurchases }
            found.append(rest)
        }
        return found
    }

    private init(_ candidates: [FamilyCandidate], doubt: Doubt) {
        purchases = candidates.filter(\.isPurchase)
        copies = candidates.filter { !$0.isPurchase }
        self.doubt = doubt
    }

    /// One family of all of `candidates`, or why that is in doubt.
    private init(_ candidates: [FamilyCandidate], kind: FamilyLinkKind) {
        purchases = candidates.filter(\.isPurchase)
        copies = candidates.filter { !$0.isPurchase }
        doubt = Self.doubt(purchases, copies)
        self.kind = doubt == nil ? kind : nil
    }

    /// Whether there is somebody to share and something to be shared.
    private var isPossible: Bool { !purchases.isEmpty && !copies.isEmpty }

    private static func doubt(
        _ purchases: [FamilyCandidate], _ copies: [FamilyCandidate]
    ) -> Doubt? {
        guard purchases.count == 1, let purchase = purchases.first else {
            return .severalPurchases
        }
        let people = Set(copies.map(\.customer))
        if people.contains(purchase.customer) { return .samePersonTwice }
        if people.count > copyHolderCountMax { return .morePeopleThanShare }
        // Who left and came back has a copy that ended and one that did not.
        let active = copies.filter { !$0.isEnded }
        if Set(active.map(\.customer)).count < active.count { return .samePersonTwice }
        return nil
    }
}

extension FamilyMatch {
    /// The purchase behind each copy of `families`, by transactionId; doubtful ones have none.
    package static func links(of families: [FamilyMatch]) -> [ExactName: MatchedPurchase] {
        var links: [ExactName: MatchedPurchase] = [:]
        for family in families {
            guard let kind = family.kind, let purchase = family.purchases.first else { continue }
            let link = MatchedPurchase(
                transactionID: purchase.transactionID, kind: kind, refund: purchase.refund)
            for copy in family.copies { links[copy.transactionID] = link }
        }
        return links
    }
}
