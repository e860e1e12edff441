import Entitlements
import Storage

/// Writes one line of the bill: who was served on a refunded purchase, how much, and for how long
/// after the refund.
///
/// A family copy is on one bill only: that of its `CopySource`. Later periods of its chain that no
/// purchase covers go with it: nobody paid for them.
///
/// What is served on the UTC day of the refund is use; from the day after it on it is leaked. Where
/// the catalog keeps a prorated refund, what is left was paid for, and nothing is leaked.
struct RefundDesk<Store: EntitlementReader & Sendable> {
    var workspace: Workspace<Store>
    let catalog: Catalog
    let now: Timestamp
    private var householdPurchases: [ExactName: [Transaction]] = [:]

    init(workspace: Workspace<Store>, catalog: Catalog, now: Timestamp) {
        self.workspace = workspace
        self.catalog = catalog
        self.now = now
    }

    /// The line of an ended transaction; nil where it stands on the line of a purchase.
    mutating func view(
        of position: RefundPosition, _ record: RefundRecord
    ) throws(LedgerFailure) -> RefundView? {
        let holder = try workspace.customer(position.customer)
        guard let fact = holder.transactions[position.transactionID],
            let ending = record.endings[.revoked]
        else { return nil }
        let transaction = fact.transaction
        let isPurchase = transaction.ownership == .purchased
        var view = RefundView(
            transaction: transaction, customerID: holder.displayName,
            refundedAt: ending.instant.milliseconds, learnedAt: ending.learnedAt.milliseconds,
            percentage: RefundMoney.percentage(of: transaction), refundedMilliunits: 0,
            people: [], isPurchaseUnknown: !isPurchase)
        let own = ServedCopy(holder: holder.key, transaction: transaction)
        var bill = PersonalBill(
            boundaryDay: try boundaryDay(own, refundedAt: ending.instant), now: now,
            unitCostMicros: catalog.products[transaction.productID]?.unitCostMicros ?? 0)
        view.people = [try person(served: [own], beyond: [], .none, &bill)]
        guard isPurchase else {
            let purchases = try purchases(ofHousehold: holder)
            let source = CopySource(of: fact, among: purchases)
            if source?.isRefunded == true { return nil }
            view.transaction.price = nil
            view.transaction.currency = nil
            return view
        }
        view.refundedMilliunits = RefundMoney.refunded(
            price: transaction.price, percentage: view.percentage)
        view.people += try others(on: transaction, of: holder, &bill)
        return view
    }

    /// Those who were served on a purchase without paying for it, in the order of their names.
    private mutating func others(
        on purchase: Transaction, of buyer: CustomerState, _ bill: inout PersonalBill
    ) throws(LedgerFailure) -> [PersonUse] {
        var copies = FamilyCopies(of: purchase.productID)
        for key in try candidates(for: purchase, of: buyer) {
            let member = try workspace.customer(key)
            copies.add(member, sharing: try purchases(ofHousehold: member))
        }
        var others: [PersonUse] = []
        for group in copies.groups(from: purchase.transactionID) {
            others.append(
                try person(served: group.served, beyond: group.beyond, group.confidence, &bill))
        }
        return others.sorted {
            (ExactName($0.customerID), ExactName($0.transactionID))
                < (ExactName($1.customerID), ExactName($1.transactionID))
        }
    }

    /// Who may have been served on a purchase: the buyer's household, and whose copies were
    /// recognised to be of it.
    private mutating func candidates(
        for purchase: Transaction, of buyer: CustomerState
    ) throws(LedgerFailure) -> Set<CustomerKey> {
        let scope = buyer.key.scope
        var keys = try workspace.housemates(of: buyer.key)
        guard let family = FamilyKey(purchase) else { return keys }
        for match in try workspace.families(in: ScopedFamily(scope: scope, family: family))
        where match.kind != nil {
            for copy in match.copies {
                keys.insert(CustomerKey(scope: scope, number: copy.customer))
            }
        }
        return keys
    }

    /// What the declared household of a member bought, he included; nothing without one.
    private mutating func purchases(
        ofHousehold member: CustomerState
    ) throws(LedgerFailure) -> [Transaction] {
        let household = member.record.household
        guard !household.isEmpty else { return [] }
        if let known = householdPurchases[household] { return known }
        var purchases: [Transaction] = []
        for key in try workspace.housemates(of: member.key) {
            purchases += try workspace.customer(key).transactions.values.map(\.transaction)
                .filter { $0.ownership == .purchased }
        }
        householdPurchases[household] = purchases
        return purchases
    }

    /// The last day whose use is no leak.
    private mutating func boundaryDay(
        _ copy: ServedCopy, refundedAt instant: Timestamp
    ) throws(LedgerFailure) -> UInt32 {
        let policy = catalog.policy(for: copy.transaction.productID)
        let grant = try grant(of: copy)?.grant
        let isKept = grant.map { $0.revocationInstant(under: policy) == .max } == true
        return isKept ? .max : UTCDay.containing(instant.milliseconds)
    }

    private mutating func grant(of copy: ServedCopy) throws(LedgerFailure) -> GrantRecord? {
        try workspace.fold(copy.holder).record(ofTransaction: copy.transaction.transactionID)
    }

    private mutating func person(
        served: [ServedCopy], beyond: [ServedCopy], _ confidence: FamilyConfidence,
        _ bill: inout PersonalBill
    ) throws(LedgerFailure) -> PersonUse {
        bill.clear()
        for copy in served {
            bill.add(
                try use(of: copy.transaction.transactionID), period: copy.transaction.period,
                end: try end(of: copy), isCovered: true)
        }
        for copy in beyond {
            bill.add(
                try use(of: copy.transaction.transactionID), period: copy.transaction.period,
                end: try end(of: copy), isCovered: false)
        }
        let first = served[0]
        return bill.personUse(
            of: first.transaction, customerID: try workspace.customer(first.holder).displayName,
            confidence)
    }

    /// What was granted on a transaction, day by day.
    private func use(
        of transactionID: String
    ) throws(LedgerFailure) -> [(day: UInt32, use: UsageRecord)] {
        guard let scope = workspace.customers.keys.first?.scope else { return [] }
        var records: [(day: UInt32, value: [UInt8])] = []
        return try reading { () throws(StorageError) in
            let prefix = Key.usage(Array(transactionID.utf8), in: scope)
            try workspace.store.scan(.usage, prefix: prefix, from: nil, reversed: false) {
                records.append((Key.day(ofUsage: $0), $1))
                return true
            }
            return try records.map { (record) throws(StorageError) in
                (record.day, try RecordCodec.decodeUsage(record.value))
            }
        }
    }

    /// When this server ended, or will end, the access that a transaction gives; nil: never.
    ///
    /// A cut counts from when the server learnt of it, the end of the period from when it came;
    /// what had ended when it first arrived was never served.
    private mutating func end(of copy: ServedCopy) throws(LedgerFailure) -> Timestamp? {
        guard let found = try grant(of: copy) else { return nil }
        let policy = catalog.policy(for: copy.transaction.productID)
        let grant = found.grant
        guard grant.interval(under: policy).stop > .min else {
            return Timestamp(milliseconds: grant.start)
        }
        var end = min(grant.upgradedFrom, grant.finalEnd(under: policy))
        let cuts: [(cause: EndingCause, instant: Int64)] = [
            (.revoked, grant.revocationInstant(under: policy)),
            (grant.suspensionCause, grant.suspensionInstant(under: policy)),
        ]
        for cut in cuts where cut.instant < end {
            let servedUntil = try servedUntil(cut.cause, of: copy) ?? cut.instant
            end = min(end, max(servedUntil, cut.instant))
        }
        return end == .max ? nil : Timestamp(milliseconds: end)
    }

    private mutating func servedUntil(
        _ cause: EndingCause, of copy: ServedCopy
    ) throws(LedgerFailure) -> Int64? {
        let id = copy.transaction.transactionID
        guard let ended = try workspace.fold(copy.holder).endings[id] else { return nil }
        let position = RefundPosition(
            instant: ended.instant, customer: copy.holder, transactionID: id)
        let ending = try workspace.refund(at: Key.refund(position))?.endings[cause]
        return ending?.isServedUntilLearned == true ? ending?.learnedAt.milliseconds : nil
    }
}
