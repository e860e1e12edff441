import Entitlements
import SnapshotTable
import Storage

extension Ledger {
    /// Runs a change of facts and tells whose answers flipped; see `change(_:at:_:)`.
    mutating func change(
        _ incoming: [IncomingTransaction], _ renewals: [SignedRenewal], in scope: ScopeNumber,
        at clock: Timestamp, touching owner: CustomerKey? = nil, and account: Identity? = nil,
        _ body: (inout Ledger) throws(LedgerFailure) -> Void
    ) throws(LedgerFailure) -> [EntitlementChange] {
        var identities = carriedIdentities(incoming, renewals)
        if let account { identities.append(account) }
        var involved = try workspace.related(to: identities, in: scope)
        if let owner { involved.insert(owner) }
        return try change(involved, at: clock, body)
    }

    /// Runs one revision's changes and tells whose answers flipped.
    ///
    /// Everybody whose facts changed, and everybody in a family with them, gets a new snapshot in
    /// the same batch: a refund cuts the whole family in one visible moment. With
    /// `countsReasons` an answer that stays a no for another reason is told as well.
    mutating func change(
        _ involved: Set<CustomerKey>, at clock: Timestamp, countsReasons: Bool = false,
        _ body: (inout Ledger) throws(LedgerFailure) -> Void
    ) throws(LedgerFailure) -> [EntitlementChange] {
        workspace.before = [:]
        for key in involved { try workspace.rememberBefore(key) }
        workspace.beginRevision()
        try body(&self)
        let relinked = try rematch(at: clock)
        workspace.endRevision()
        workspace.purchases = [:]
        var touched = workspace.takeTouched()
        for key in touched { touched.formUnion(try workspace.housemates(of: key)) }
        for key in workspace.before.keys { touched.formUnion(workspace.formerHousemates(of: key)) }
        touched.formUnion(relinked)
        var changes: [EntitlementChange] = []
        // Whose refunds may be other ones now.
        var ending = touched
        var steps: [CustomerKey: LongStep] = [:]
        for key in touched.sorted(by: { $0.number < $1.number }) {
            workspace.customers[key]?.isDirty = true
            workspace.customers[key]?.record.revision = workspace.revision
            guard workspace.customers[key]?.record.mergedInto == 0 else { continue }
            let catalog = catalogs[key.scope] ?? Catalog()
            if let step = try workspace.takeStep(of: key) {
                ending.remove(key)
                steps[key] = step
                changes += step.flips(
                    of: workspace.customers[key]?.displayName ?? "", catalog: catalog,
                    at: clock, countsReasons: countsReasons)
                continue
            }
            workspace.customers[key]?.fold = nil
            let after = try workspace.fold(key)
            let before = try workspace.foldBefore(key) ?? Fold()
            changes += before.flips(
                to: after, of: workspace.customers[key]?.displayName ?? "", catalog: catalog,
                at: max(before.now(clock), after.now(clock)), countsReasons: countsReasons)
        }
        try workspace.noteEndings(of: ending, and: steps, at: clock)
        return changes
    }
}

/// A customer before the current event.
struct Before: Sendable {
    var outlook: Outlook
    let household: String
    /// The members of his household then, he included.
    let members: Set<CustomerKey>
}

extension Workspace {
    /// Keeps what `key` and his household were before the event changes them.
    mutating func rememberBefore(_ key: CustomerKey) throws(LedgerFailure) {
        guard before[key] == nil else { return }
        let household = try household(of: key)
        let members = try housemates(of: key)
        for member in members.union([key]) where before[member] == nil {
            before[member] = Before(
                outlook: try outlook(member), household: household, members: members)
        }
    }

    private mutating func household(of key: CustomerKey) throws(LedgerFailure) -> String {
        customers[try person(key)]?.record.household ?? ""
    }

    /// Everybody in the household of `key`, himself included; nobody without one.
    mutating func housemates(of key: CustomerKey) throws(LedgerFailure) -> Set<CustomerKey> {
        let household = try household(of: key)
        guard !household.isEmpty else { return [] }
        let members = try members(of: household, in: key.scope)
        for number in members {
            _ = try person(CustomerKey(scope: key.scope, number: number))
        }
        return Set(members.map { CustomerKey(scope: key.scope, number: $0) })
    }

    /// Who shared with `key` before the event, when he has left their household since.
    func formerHousemates(of key: CustomerKey) -> Set<CustomerKey> {
        guard let before = before[key], let state = customers[key],
            !isSame(before.household, state.record.household)
        else { return [] }
        return before.members
    }

    /// Whose facts the event changed; the marks are taken off.
    mutating func takeTouched() -> Set<CustomerKey> {
        customers.takeTouched()
    }
}

// MARK: - Answers of a fold

extension Fold {
    /// The answer about one product; nil: he has no transaction of it.
    func decision(
        for product: Product?, under policy: ProductPolicy, at instant: Timestamp
    ) -> AccessDecision {
        guard let product else { return AccessDecision(reason: .noPurchase) }
        return grants(of: product).fullDecision(at: instant.milliseconds, under: policy)
    }

    /// The products whose answer at `instant` is another one in `after`, in the order of names;
    /// with `countsReasons` also those with only another reason.
    func flips(
        to after: Fold, of customer: @autoclosure () -> String, catalog: Catalog,
        at instant: Timestamp, countsReasons: Bool = false
    ) -> [EntitlementChange] {
        var changes: [EntitlementChange] = []
        for product in pairs(with: after) {
            let policy = catalog.policy(for: product.name)
            let old = decision(for: product.before, under: policy, at: instant)
            let new = after.decision(for: product.after, under: policy, at: instant)
            let isSame = old.reason == new.reason
            guard countsReasons ? !isSame : old.isGranted != new.isGranted else { continue }
            changes.append(
                EntitlementChange(
                    customerID: customer(), productID: product.name, wasGranted: old.isGranted,
                    isGranted: new.isGranted, reason: new.reason))
        }
        return changes
    }

    /// The products of two folds, in the order of names.
    private func pairs(
        with after: Fold
    ) -> [(name: String, before: Product?, after: Product?)] {
        var pairs: [(name: String, before: Product?, after: Product?)] = []
        var (old, new) = (products[...], after.products[...])
        while !old.isEmpty || !new.isEmpty {
            let oldName = old.first.map { ExactName(facts.text($0.name)) }
            let newName = new.first.map { ExactName(after.facts.text($0.name)) }
            let isOld = newName.map { new in oldName.map { $0 <= new } ?? false } ?? true
            let isNew = oldName.map { old in newName.map { $0 <= old } ?? false } ?? true
            pairs.append(
                (
                    name: (isOld ? oldName : newName)?.text ?? "",
                    before: isOld ? old.removeFirst() : nil,
                    after: isNew ? new.removeFirst() : nil
                ))
        }
        return pairs
    }

    /// The answer about every product, with the cause, in the order of product ids.
    func statuses(catalog: Catalog, at instant: Timestamp) -> [EntitlementStatus] {
        products.map { status(of: $0, catalog: catalog, at: instant) }
    }

    private func status(
        of product: Product, catalog: Catalog, at instant: Timestamp
    ) -> EntitlementStatus {
        let name = facts.text(product.name)
        let policy = catalog.policy(for: name)
        let decision = decision(for: product, under: policy, at: instant)
        let record =
            decision.grantIndex >= 0
            ? record(at: product.range.lowerBound + decision.grantIndex) : nil
        var status = EntitlementStatus(
            productID: name, names: catalog.entitlements(of: name), reason: decision.reason,
            ownership: record?.grant.ownership ?? .unspecified, validUntil: decision.validUntil,
            transactionID: record?.transactionID ?? "",
            originalTransactionID: record?.originalTransactionID ?? "",
            revokedAt: 0, isPaymentReversed: false, isCauseCertain: false)
        guard let record else { return status }
        if let family = record.family, decision.reason.concerns(family, record.grant, policy) {
            status.familyConfidence = FamilyConfidence(family.kind)
            status.familyTransactionID = family.transactionID
        }
        guard !decision.isGranted else { return status }
        if decision.reason == .familySuspended {
            status.revokedAt = record.grant.suspensionInstant(under: policy)
            status.isPaymentReversed = true
            status.isCauseCertain = !record.grant.flags.contains(.matchedCut)
        } else if let revocation = record.revocation, revocation.reason == decision.reason {
            status.revokedAt = record.grant.revocationInstant(under: policy)
            status.isPaymentReversed = revocation.isPaymentReversed
            status.isCauseCertain = revocation.isCertain
        }
        return status
    }
}

extension AccessReason {
    /// Whether the refunded purchase behind a copy has to do with it: its access has ended, or it
    /// goes on although nobody pays for it any more.
    fileprivate func concerns(
        _ family: FamilyLink, _ grant: Grant, _ policy: ProductPolicy
    ) -> Bool {
        switch self {
        case .familySuspended, .familyRefunded, .familyLeft: true
        case .active, .gracePeriod: !family.isKept(for: grant.type, under: policy)
        default: false
        }
    }
}

/// The answers of a snapshot as it is stored, to compare with what the facts say.
struct StoredAnswers {
    private var decisions: [ExactName: AccessDecision] = [:]

    /// The answers at `instant`; none where the bytes are damaged or missing.
    init(snapshot: [UInt8], catalog: Catalog, at instant: Timestamp) {
        let view = SnapshotView(snapshot.span)
        guard view.isWellFormed else { return }
        for index in 0..<view.productCount {
            guard let product = text(view.productID(at: index)) else { continue }
            decisions[product] = view.grants(ofProductAt: index)
                .fullDecision(at: instant.milliseconds, under: catalog.policy(for: product))
        }
    }

    /// The products whose answer or reason is another one in `fold`.
    func changes(
        to fold: Fold, of customer: String, catalog: Catalog, at instant: Timestamp
    ) -> [EntitlementChange] {
        let known = Dictionary(
            uniqueKeysWithValues: fold.products.map { (ExactName(fold.facts.text($0.name)), $0) })
        return Set(decisions.keys).union(known.keys).map(\.text).sorted().compactMap { product in
            let old = decisions[product] ?? AccessDecision(reason: .noPurchase)
            let new = fold.decision(
                for: known[product], under: catalog.policy(for: product), at: instant)
            guard old.reason != new.reason else { return nil }
            return EntitlementChange(
                customerID: customer, productID: product, wasGranted: old.isGranted,
                isGranted: new.isGranted, reason: new.reason)
        }
    }
}

/// The text in a span; nil when it is no UTF-8.
func text(_ bytes: Span<UInt8>) -> String? {
    var array: [UInt8] = []
    array.reserveCapacity(bytes.count)
    for index in bytes.indices { array.append(bytes[index]) }
    return String(validating: array, as: UTF8.self)
}
