/// What stands in the place of a revision where a signed copy lies in no notification.
package enum PayloadPlace {
    /// It was removed, and what the fact named with it, because its customer was forgotten. That
    /// is no loss: a fact without its bytes and without this mark is one.
    package static let forgotten = UInt64.max
}

/// A transaction's newest copy with what notifications said beyond it.
package struct TransactionFact: Hashable, Sendable {
    /// The winning copy, decoded.
    package var transaction: Transaction
    /// What clears or causes overrides and suspensions.
    package var evidence: Evidence
    /// The purchase behind it, when it is a family copy whose family was recognised: what follows
    /// from the facts of everybody, kept here so that nobody else's have to be read.
    package var matched: MatchedPurchase?
    /// The revision of the stored notification in which the signed copy lies; 0: it is stored by
    /// itself; `PayloadPlace.forgotten`: it was removed on request. No answer rests on it.
    package var payloadRevision: UInt64 = 0

    /// A copy with its evidence.
    package init(
        transaction: Transaction, evidence: Evidence = Evidence(),
        matched: MatchedPurchase? = nil
    ) {
        self.transaction = transaction
        self.evidence = evidence
        self.matched = matched
    }
}

/// A purchase in a declared household, as far as it matters to the other members.
package struct HouseholdPurchase: Hashable, Sendable {
    /// The purchase.
    package let transactionID: String
    /// The product bought.
    package let productID: String
    /// The period bought, half-open.
    package let period: Range<Timestamp>
    /// The reversal of the payment; nil when it stands.
    package let refund: PurchaseRefund?
    /// When this was signed.
    package let signedDate: Timestamp

    /// What `transaction` means to the household; nil when it was not bought.
    package init?(_ transaction: Transaction) {
        guard transaction.ownership == .purchased, let period = transaction.period else {
            return nil
        }
        transactionID = transaction.transactionID
        productID = transaction.productID
        self.period = period
        refund = PurchaseRefund(of: transaction)
        signedDate = transaction.signedDate
    }
}

/// All that is known of one customer, and what follows from it.
///
/// Everything derived here is a function of the set of facts: no clock, no order of arrival.
package struct CustomerHistory: Hashable, Sendable {
    /// The newest copy of each transaction, by transactionId.
    package var transactions: [ExactName: TransactionFact]
    /// The newest renewal info of each chain, by originalTransactionId.
    package var renewals: [ExactName: RenewalInfo]
    /// What the members of the customer's household bought, his own purchases included; empty
    /// without a household.
    package var householdPurchases: [HouseholdPurchase]

    /// A history of these facts.
    package init(
        transactions: [ExactName: TransactionFact] = [:], renewals: [ExactName: RenewalInfo] = [:],
        householdPurchases: [HouseholdPurchase] = []
    ) {
        self.transactions = transactions
        self.renewals = renewals
        self.householdPurchases = householdPurchases
    }

    /// The newest signedDate among the facts that the answers rest on.
    ///
    /// "Now" is never before it, so a fact that Apple signed a moment ahead of our clock counts at
    /// once. The purchases of a household count as well, and the refund of a recognised one: they
    /// can suspend this customer's copies.
    package var newestSignedDate: Timestamp? {
        var date: Timestamp?
        for fact in transactions.values {
            date = newest(date, newest(fact.transaction.signedDate, fact.evidence.newestDate))
            date = newest(date, fact.matched?.refund?.signedDate)
        }
        for renewal in renewals.values {
            date = newest(date, renewal.signedDate)
        }
        for purchase in householdPurchases {
            date = newest(date, purchase.signedDate)
        }
        return date
    }
}

/// A grant with the names that a caller wants to see and the facts that caused it.
package struct GrantRecord: Hashable, Sendable {
    /// The instants.
    package var grant: Grant
    /// The transaction behind it.
    package var transactionID: String
    /// Its chain.
    package var originalTransactionID: String
    /// The cause, where a copy's date or an override revokes it.
    package var revocation: Revocation?
    /// Whether an override is in force.
    package var isOverridden: Bool
    /// The refunded purchase behind a family copy, where one is known.
    package var family: FamilyLink?

    /// A grant with all that is known of it.
    package init(
        grant: Grant, transactionID: String, originalTransactionID: String,
        revocation: Revocation?, isOverridden: Bool, family: FamilyLink?
    ) {
        self.grant = grant
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.revocation = revocation
        self.isOverridden = isOverridden
        self.family = family
    }
}

/// The refunded purchase behind a family copy.
package struct FamilyLink: Hashable, Sendable {
    /// The purchase.
    package let transactionID: String
    /// How it was found.
    package let kind: FamilyLinkKind
    /// Whether only a part of a payment went back.
    package let isProrated: Bool

    /// A purchase that was found.
    package init(transactionID: String, kind: FamilyLinkKind, isProrated: Bool) {
        self.transactionID = transactionID
        self.kind = kind
        self.isProrated = isProrated
    }

    /// Whether the catalog lets everybody keep what was refunded in part.
    package func isKept(for type: ProductType, under policy: ProductPolicy) -> Bool {
        isProrated && policy.keepsProratedRefunds && type != .autoRenewable
    }

    package static func == (left: FamilyLink, right: FamilyLink) -> Bool {
        isSame(left.transactionID, right.transactionID) && left.kind == right.kind
            && left.isProrated == right.isProrated
    }
}

extension CustomerHistory {
    /// The grants of every product, in the order that `GrantList` asks for.
    ///
    /// Time: n log n in the number of transactions, plus the household's purchases per shared copy.
    package func grantsByProduct() -> [ExactName: [GrantRecord]] {
        let newest = newestByChain()
        let successors = GroupTimeline(transactions.values.map(\.transaction))
        var byProduct: [ExactName: [TransactionFact]] = [:]
        for fact in transactions.values {
            byProduct[fact.transaction.productID, default: []].append(fact)
        }
        return byProduct.mapValues { facts in
            facts.sorted { $0.transaction.isNewerPurchase(than: $1.transaction) }
                .map { record(of: $0, newest: newest, successors: successors) }
        }
    }

    /// The newest purchase of each chain, by originalTransactionId.
    private func newestByChain() -> [ExactName: Transaction] {
        var newest: [ExactName: Transaction] = [:]
        for fact in transactions.values {
            let transaction = fact.transaction
            if let known = newest[transaction.originalTransactionID],
                !transaction.isNewerPurchase(than: known)
            {
                continue
            }
            newest[transaction.originalTransactionID] = transaction
        }
        return newest
    }

    private func record(
        of fact: TransactionFact, newest: [ExactName: Transaction], successors: GroupTimeline
    ) -> GrantRecord {
        let transaction = fact.transaction
        var grant = Grant(
            type: transaction.type, ownership: transaction.ownership,
            start: (transaction.purchaseDate ?? .distantPast).milliseconds)
        if transaction.purchaseDate == nil { grant.flags.insert(.incomplete) }
        if transaction.type == .autoRenewable {
            if let expires = transaction.expiresDate {
                grant.end = expires.milliseconds
            } else {
                grant.flags.insert(.incomplete)
            }
            let isNewest =
                newest[transaction.originalTransactionID].map {
                    isSame($0.transactionID, transaction.transactionID)
                } == true
            if isNewest { applyRenewal(of: transaction, to: &grant) }
        }
        if transaction.isUpgraded {
            let upgrade = successors.next(after: transaction) ?? .distantPast
            grant.upgradedFrom = upgrade.milliseconds
        }
        let cut = familyCut(of: fact)
        grant.suspendedFrom = cut.all?.milliseconds ?? .max
        grant.suspendedFromWhenProratedKept = cut.full?.milliseconds ?? .max
        if cut.isMatched { grant.flags.insert(.matchedCut) }
        let override = fact.evidence.override(of: transaction)
        var record = GrantRecord(
            grant: grant, transactionID: transaction.transactionID,
            originalTransactionID: transaction.originalTransactionID, revocation: nil,
            isOverridden: override != nil, family: cut.link)
        revoke(&record, transaction: transaction, override: override, cut: cut)
        return record
    }

    /// Grace and billing retry, which only the chain's newest transaction can have.
    private func applyRenewal(of transaction: Transaction, to grant: inout Grant) {
        guard let renewal = renewals[transaction.originalTransactionID] else { return }
        if let graceEnd = renewal.gracePeriodExpiresDate { grant.graceEnd = graceEnd.milliseconds }
        if renewal.isInBillingRetryPeriod { grant.flags.insert(.billingRetry) }
    }

    private func revoke(
        _ record: inout GrantRecord, transaction: Transaction, override: Timestamp?,
        cut: RefundCut
    ) {
        if let date = transaction.revokedFrom { record.grant.revokedFrom = date.milliseconds }
        if let override { record.grant.overriddenFrom = override.milliseconds }
        guard transaction.revocationDate != nil || override != nil else { return }
        let revocation = Revocation(of: transaction, isBuyerRefunded: cut.isBuyerRefunded)
        record.grant.revocationReason = revocation.reason
        record.revocation = revocation
        if transaction.revocationType == "REFUND_PRORATED" { record.grant.flags.insert(.prorated) }
    }
}

/// From when on a refund in its family suspends a shared copy.
package struct RefundCut: Hashable, Sendable {
    /// Whether every overlapping purchase in the household was refunded, and there is one.
    package var isBuyerRefunded = false
    /// From when on, every refund counting.
    package var all: Timestamp?
    /// From when on, when prorated refunds are kept and so count as no refund.
    package var full: Timestamp?
    /// Whether the family was recognised, not declared.
    package var isMatched = false
    /// The purchase that was refunded; of several the one refunded last.
    package var link: FamilyLink?

    /// No refund.
    package init(isBuyerRefunded: Bool = false, isMatched: Bool = false) {
        self.isBuyerRefunded = isBuyerRefunded
        self.isMatched = isMatched
    }
}

extension CustomerHistory {
    /// A shared copy is suspended while every purchase of the product in the household whose period
    /// overlaps its own is refunded, from the latest refund on, unless its own later evidence
    /// lifts that. What the app declares goes before what was recognised.
    package func familyCut(of fact: TransactionFact) -> RefundCut {
        let transaction = fact.transaction
        guard transaction.ownership == .familyShared, let period = transaction.period else {
            return RefundCut()
        }
        let overlapping = householdPurchases.filter {
            isSame($0.productID, transaction.productID) && $0.period.overlaps(period)
        }
        guard !overlapping.isEmpty else { return matchedCut(of: fact) }
        let refunds = overlapping.compactMap(\.refund)
        guard let latest = refunds.map(\.date).max(), refunds.count == overlapping.count else {
            return RefundCut()
        }
        var cut = RefundCut(isBuyerRefunded: true)
        let last = overlapping.filter { $0.refund?.date == latest }.map(\.transactionID)
            .max { isGreaterTransactionID($1, than: $0) }
        let isProrated = refunds.contains(where: \.isProrated)
        cut.link = last.map {
            FamilyLink(transactionID: $0, kind: .declared, isProrated: isProrated)
        }
        guard !fact.evidence.lifts(cut: latest, of: transaction) else { return cut }
        cut.all = latest
        if !isProrated { cut.full = latest }
        return cut
    }

    /// The same for a family that was recognised. That is no proof of a cause: a copy of its own
    /// revocation keeps the cause that its own evidence gives.
    private func matchedCut(of fact: TransactionFact) -> RefundCut {
        guard let matched = fact.matched, let refund = matched.refund else { return RefundCut() }
        var cut = RefundCut(isMatched: true)
        cut.link = FamilyLink(
            transactionID: matched.transactionID, kind: matched.kind, isProrated: refund.isProrated)
        guard !fact.evidence.lifts(cut: refund.date, of: fact.transaction) else { return cut }
        cut.all = refund.date
        if !refund.isProrated { cut.full = refund.date }
        return cut
    }
}

/// The purchase dates of each subscription group and chain, to find what followed an upgrade.
private struct GroupTimeline {
    private var dates: [ExactName: [Timestamp]] = [:]

    init(_ transactions: [Transaction]) {
        guard transactions.contains(where: \.isUpgraded) else { return }
        for transaction in transactions {
            guard let date = transaction.purchaseDate else { continue }
            for key in Self.keys(of: transaction) {
                dates[key, default: []].append(date)
            }
        }
        for key in dates.keys { dates[key]?.sort() }
    }

    /// When the next transaction of the group, or of the chain, was bought.
    func next(after transaction: Transaction) -> Timestamp? {
        guard let date = transaction.purchaseDate else { return nil }
        return Self.keys(of: transaction).compactMap { key in
            dates[key].flatMap { Self.first(in: $0, after: date) }
        }.min()
    }

    private static func keys(of transaction: Transaction) -> [String] {
        let chain = "chain \(transaction.originalTransactionID)"
        return transaction.subscriptionGroupID.map { [chain, "group \($0)"] } ?? [chain]
    }

    /// The first date after `date` in ascending `dates`.
    private static func first(in dates: [Timestamp], after date: Timestamp) -> Timestamp? {
        var (low, high) = (0, dates.count)
        while low < high {
            let middle = (low + high) / 2
            if dates[middle] > date { high = middle } else { low = middle + 1 }
        }
        return low < dates.count ? dates[low] : nil
    }
}
