import Entitlements
import Storage

/// Tells who shares with whom, and who still has access on a refunded purchase.
struct FamilyDesk<Store: EntitlementReader & Sendable> {
    var workspace: Workspace<Store>
    let catalog: Catalog
    let clock: Timestamp
    /// The grants of those who were asked about, by transactionId.
    private var grants: [CustomerKey: [ExactName: GrantRecord]] = [:]
    /// Whether something was left out for its size.
    private var isCut = false

    /// Six people are an iCloud family; the app may know more of one home.
    private static var peopleCountMax: Int { 6 }
    /// How long the copies of members may be in an answer, and those of matched families: together
    /// they fit a frame of 1 MiB.
    private static var partByteCountMax: Int { 400 << 10 }

    init(workspace: Workspace<Store>, catalog: Catalog, clock: Timestamp) {
        self.workspace = workspace
        self.catalog = catalog
        self.clock = clock
    }
}

// MARK: - Families

extension FamilyDesk {
    mutating func view(
        _ query: FamilyQuery, in scope: ScopeNumber, revision: UInt64
    ) throws(LedgerFailure) -> FamilyView {
        var household = query.householdID
        var people: [CustomerKey] = []
        if let reference = query.customer {
            let record = try workspace.identity(Identity(reference), in: scope)
            guard record.primary != 0 else {
                throw .refused(Refusal(.unknownCustomer, "nothing is known under this name"))
            }
            let key = CustomerKey(scope: scope, number: record.primary)
            let state = try workspace.customer(key)
            household = state.record.household
            people = [state.key]
        } else if household.isEmpty {
            throw .refused(Refusal(.invalidField, "neither a customer nor a household is named"))
        }
        var view = FamilyView(
            householdID: household, members: [], matched: [], warnings: [], revision: revision)
        if !household.isEmpty {
            people = try workspace.members(of: household, in: scope).sorted()
                .map { CustomerKey(scope: scope, number: $0) }
            guard !people.isEmpty else {
                throw .refused(Refusal(.unknownCustomer, "nobody is in this household"))
            }
            view.members = try members(people)
            if people.count > Self.peopleCountMax { view.warnings.append("MORE_THAN_SIX_PEOPLE") }
        }
        view.matched = try matched(people)
        if isCut { view.warnings.append("OLDER_COPIES_LEFT_OUT") }
        return view
    }

    private mutating func members(
        _ people: [CustomerKey]
    ) throws(LedgerFailure) -> [FamilyMemberView] {
        let byteCountMax = Self.partByteCountMax / people.count
        var members: [FamilyMemberView] = []
        for key in people {
            let state = try workspace.customer(key)
            var member = FamilyMemberView(customerID: state.displayName, copies: [])
            var byteCount = 0
            for fact in shareable(state) {
                let copy = try copyView(of: fact, in: state)
                byteCount += copy.byteCount
                if byteCount > byteCountMax && !member.copies.isEmpty {
                    isCut = true
                    break
                }
                member.copies.append(copy)
            }
            members.append(member)
        }
        return members
    }

    /// The purchases and family copies of shareable products, newest first.
    private func shareable(_ state: CustomerState) -> [TransactionFact] {
        state.transactions.values.filter { FamilyKey($0.transaction) != nil }
            .sorted { $0.transaction.isNewerPurchase(than: $1.transaction) }
    }

    /// The recognised families of these people, doubtful ones too, newest purchase first.
    private mutating func matched(
        _ people: [CustomerKey]
    ) throws(LedgerFailure) -> [MatchedFamilyView] {
        var groups: [ScopedFamily: Timestamp] = [:]
        for key in people {
            for fact in shareable(try workspace.customer(key)) {
                guard let family = FamilyKey(fact.transaction) else { continue }
                groups[ScopedFamily(scope: key.scope, family: family)] = family.purchaseDate
            }
        }
        let numbers = Set(people.map(\.number))
        var views: [MatchedFamilyView] = []
        var byteCount = 0
        for group in groups.keys.sorted(by: Self.isNewer) {
            for match in try workspace.families(in: group) {
                let isTheirs = (match.purchases + match.copies).contains {
                    numbers.contains($0.customer)
                }
                guard isTheirs else { continue }
                let view = try matchedView(of: match, in: group)
                byteCount += view.copies.reduce(200) { $0 + $1.byteCount }
                if byteCount > Self.partByteCountMax && !views.isEmpty {
                    isCut = true
                    return views
                }
                views.append(view)
            }
        }
        return views
    }

    private static func isNewer(_ left: ScopedFamily, _ right: ScopedFamily) -> Bool {
        if left.family.purchaseDate != right.family.purchaseDate {
            return left.family.purchaseDate > right.family.purchaseDate
        }
        if left.family.productID != right.family.productID {
            return left.family.productID < right.family.productID
        }
        return (left.family.expiresDate ?? .distantFuture)
            > (right.family.expiresDate ?? .distantFuture)
    }

    private mutating func matchedView(
        of match: FamilyMatch, in group: ScopedFamily
    ) throws(LedgerFailure) -> MatchedFamilyView {
        var view = MatchedFamilyView(
            productID: group.family.productID.text,
            purchaseDate: group.family.purchaseDate.milliseconds,
            expiresDate: group.family.expiresDate?.milliseconds ?? 0,
            confidence: FamilyConfidence(match.kind), copies: [], note: match.note)
        for candidate in match.purchases + match.copies {
            let state = try workspace.customer(
                CustomerKey(scope: group.scope, number: candidate.customer))
            guard let fact = state.transactions[candidate.transactionID] else { continue }
            view.copies.append(try copyView(of: fact, in: state))
        }
        return view
    }

    /// One transaction, with what it alone gives now.
    private mutating func copyView(
        of fact: TransactionFact, in state: CustomerState
    ) throws(LedgerFailure) -> FamilyCopyView {
        let transaction = fact.transaction
        var view = FamilyCopyView(
            customerID: state.displayName, transactionID: transaction.transactionID,
            originalTransactionID: transaction.originalTransactionID,
            productID: transaction.productID, ownership: transaction.ownership,
            reason: .unspecified, revokedAt: 0)
        guard let grant = try record(of: transaction.transactionID, state.key)?.grant else {
            return view
        }
        let policy = catalog.policy(for: transaction.productID)
        let now = try workspace.fold(state.key).now(clock)
        view.reason = grant.reason(at: now.milliseconds, under: policy)
        let end = min(
            grant.revocationInstant(under: policy), grant.suspensionInstant(under: policy))
        view.revokedAt = end == .max ? 0 : end
        return view
    }

    private mutating func record(
        of id: String, _ key: CustomerKey
    ) throws(LedgerFailure) -> GrantRecord? {
        if let known = grants[key] { return known[id] }
        var records: [ExactName: GrantRecord] = [:]
        for record in try workspace.fold(key).grantsByProduct.values.joined() {
            records[record.transactionID] = record
        }
        grants[key] = records
        return records[id]
    }
}

extension Workspace {
    /// The families that are recognised in a group, doubtful ones too.
    func families(in group: ScopedFamily) throws(LedgerFailure) -> [FamilyMatch] {
        let candidates = try reading { () throws(StorageError) in
            try store.candidates(of: group, countMax: FamilyMatch.candidateCountMax + 1)
        }
        return FamilyMatch.families(among: candidates)
    }
}

// MARK: - Access on refunded purchases

extension FamilyDesk {
    /// Those who still have access through a copy of a refunded purchase, by name.
    ///
    /// A copy is told of with one purchase only: the one that would suspend it. A copy that a
    /// standing purchase of the household covers is no finding, nor is one of a prorated refund
    /// that the catalog lets everybody keep.
    mutating func findings(
        on purchase: RefundPosition
    ) throws(LedgerFailure) -> [AccessFinding] {
        let buyer = try workspace.customer(purchase.customer)
        guard let bought = buyer.transactions[purchase.transactionID],
            PurchaseRefund(of: bought.transaction) != nil,
            let family = FamilyKey(bought.transaction)
        else { return [] }
        let policy = catalog.policy(for: bought.transaction.productID)
        var holders = try workspace.housemates(of: buyer.key)
        for match in try workspace.families(
            in: ScopedFamily(scope: buyer.key.scope, family: family))
        where match.kind != nil {
            holders.formUnion(
                match.copies.map { CustomerKey(scope: buyer.key.scope, number: $0.customer) })
        }
        var findings: [AccessFinding] = []
        for key in holders.sorted(by: { $0.number < $1.number }) {
            let state = try workspace.customer(key)
            for fact in shareable(state)
            where isSame(fact.transaction.productID, bought.transaction.productID) {
                let copy = try copyView(of: fact, in: state)
                guard copy.ownership == .familyShared, copy.reason.isGranted,
                    let record = try record(of: copy.transactionID, key),
                    let link = record.family,
                    isSame(link.transactionID, purchase.transactionID),
                    !link.isKept(for: fact.transaction.type, under: policy)
                else { continue }
                findings.append(
                    try finding(
                        copy, fact, record, link, purchase: try copyView(of: bought, in: buyer),
                        of: key))
            }
        }
        return findings
    }

    private mutating func finding(
        _ copy: FamilyCopyView, _ fact: TransactionFact, _ record: GrantRecord,
        _ link: FamilyLink, purchase: FamilyCopyView, of key: CustomerKey
    ) throws(LedgerFailure) -> AccessFinding {
        let policy = catalog.policy(for: copy.productID)
        let end = record.grant.interval(under: policy).stop
        let wasRevoked = fact.evidence.datelessRevoke != nil || fact.evidence.datedCopy != nil
        var why = [
            link.kind.explanation,
            wasRevoked
                ? "its REVOKE was followed by newer evidence of access"
                : "no REVOKE of this copy is stored",
            link.kind.survival(under: policy.familyCut),
        ]
        if try hasOther(than: copy, key) {
            why.append("another transaction of the product grants as well")
        }
        let refreshedAt = try workspace.refreshedAt(key)
        if refreshedAt == nil { why.append("the history was never fetched from Apple") }
        return AccessFinding(
            copy: copy, purchase: purchase, confidence: FamilyConfidence(link.kind),
            grantedUntil: end == .max ? 0 : end, refreshedAt: refreshedAt?.milliseconds ?? 0,
            isRefreshQueued: try workspace.refreshJob(of: key) != nil,
            explanation: why.joined(separator: "; "))
    }

    /// Whether the holder of `copy` would keep the product without it.
    private mutating func hasOther(
        than copy: FamilyCopyView, _ key: CustomerKey
    ) throws(LedgerFailure) -> Bool {
        let fold = try workspace.fold(key)
        let policy = catalog.policy(for: copy.productID)
        let now = fold.now(clock).milliseconds
        return (fold.product(copy.productID).map { fold.records(of: $0) } ?? []).contains {
            !isSame($0.transactionID, copy.transactionID)
                && $0.grant.reason(at: now, under: policy).isGranted
        }
    }
}

// MARK: - Words

extension FamilyLinkKind {
    /// How the purchase was found, for people.
    fileprivate var explanation: String {
        switch self {
        case .declared: "bought in the declared household"
        case .strong: "the refunded purchase has the same product, dates and line item"
        case .likely: "the refunded purchase has the same product and dates"
        }
    }

    /// Why the refund did not suspend the copy, for people.
    fileprivate func survival(under cut: FamilyCut) -> String {
        switch (self, cut) {
        case (_, .off): "family.cut is off, so that nothing suspends it"
        case (.strong, .declared), (.likely, .declared):
            "family.cut is declared, so that recognised families are not suspended"
        default: "what Apple signed after the refund says that it is shared still"
        }
    }
}

extension FamilyMatch {
    /// Why nothing is assumed, for people; empty where there is no doubt.
    fileprivate var note: String {
        switch doubt {
        case nil: ""
        case .severalPurchases:
            "\(purchases.count) purchases are equal, and each could be the one that was shared"
        case .morePeopleThanShare:
            "\(Set(copies.map(\.customer)).count) people have equal copies; a purchase is shared "
                + "with \(Self.copyHolderCountMax) others at most"
        case .samePersonTwice: "one person would have the purchase twice"
        case .severalLineItems:
            "some copies name a purchase event and others do not; which of them belong together "
                + "cannot be told"
        case .tooManyCandidates:
            "more than \(Self.candidateCountMax) transactions are equal; none is taken for a family"
        }
    }
}

extension FamilyCopyView {
    /// About how much it takes in an answer.
    var byteCount: Int {
        80 + customerID.utf8.count + transactionID.utf8.count + originalTransactionID.utf8.count
            + productID.utf8.count
    }
}
