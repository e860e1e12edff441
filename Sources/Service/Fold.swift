import Entitlements
import SnapshotTable
import Storage

/// What follows from a customer's facts at one moment of the ledger.
///
/// It gives what `CustomerHistory` gives, which is its oracle, from records that nobody decodes:
/// plain grants, and where the names behind them stand.
struct Fold: Sendable {
    /// A product and where its grants stand in `grants`, newest first.
    struct Product: Sendable {
        /// Its name, in the arena of `facts`.
        var name: TextRange
        var range: Range<Int>
    }

    /// The facts that it follows from.
    let facts: FactSet
    let household: HouseholdPurchases
    /// In the order of names.
    private(set) var products: [Product] = []
    private(set) var grants: [PlacedGrant] = []
    /// For each grant its row in `facts`.
    private(set) var rows: [Int32] = []
    private(set) var newestSignedDate: Timestamp?
    /// The transactions that have ended before their time, by id.
    private(set) var endings: [ExactName: EndedAccess] = [:]

    /// What follows from no facts.
    init() { self.init(FactSet(), renewals: [:]) }

    /// What follows from these.
    init(
        _ facts: FactSet, renewals: [ExactName: RenewalInfo],
        household: HouseholdPurchases = .none
    ) {
        self.facts = facts
        self.household = household
        newestSignedDate = newest(of: renewals)
        let context = FoldContext(facts, renewals: renewals)
        arrange()
        for (position, row) in rows.enumerated() {
            let fact = facts.rows[Int(row)]
            grants[position].grant = fact.plain.grant(
                terms: context.terms(of: Int(row)),
                successor: fact.plain.isUpgraded ? context.successor(of: fact, in: facts) : nil)
            noteOthers(of: fact, at: position)
        }
        for product in products { setEnds(product.range) }
    }

    /// The instant that "now" means to this customer: never before what Apple has signed.
    func now(_ clock: Timestamp) -> Timestamp {
        max(clock, newestSignedDate ?? .distantPast)
    }

    /// What CheckAccess reads of it.
    var snapshot: [UInt8] {
        SnapshotBuilder.build(
            newestSignedDate: (newestSignedDate ?? .distantPast).milliseconds,
            products: products.map { PlacedProduct(name: $0.name, grants: $0.range) },
            grants: grants, arena: facts.arena)
    }
}

// MARK: - Folding

extension Fold {
    private func newest(of renewals: [ExactName: RenewalInfo]) -> Timestamp? {
        var date = household.newestSignedDate
        for row in facts.rows { date = max(date, row.plain.newestDate) }
        for renewal in renewals.values { date = max(date, renewal.signedDate.milliseconds) }
        // An instant that no payload can name stands for none.
        return date == .min ? nil : Timestamp(milliseconds: date)
    }

    /// Puts the rows into the order of their grants: by product, newest purchase first.
    private mutating func arrange() {
        let facts = facts
        let bytes = facts.arena.span
        var names = NameTable()
        var members: [[Int32]] = []
        for (index, row) in facts.rows.enumerated() {
            let number = names.number(of: row.product, in: bytes)
            if number == members.count { members.append([]) }
            members[number].append(Int32(index))
        }
        let order = members.indices.sorted {
            Service.order(
                bytes, facts.rows[Int(members[$0][0])].product,
                facts.rows[Int(members[$1][0])].product) < 0
        }
        rows.reserveCapacity(facts.count)
        for number in order {
            let first = rows.count
            // Ids grow with time, so this is a list that is nearly sorted, the other way round.
            rows += members[number].reversed().sorted {
                isNewerPurchase(facts.rows[Int($0)], than: facts.rows[Int($1)], in: bytes)
            }
            products.append(
                Product(
                    name: facts.rows[Int(members[number][0])].product, range: first..<rows.count))
        }
        grants = rows.map { row in
            let fact = facts.rows[Int(row)]
            return PlacedGrant(
                grant: Grant(type: .unknown, ownership: .other, start: 0), transactionID: fact.id,
                originalTransactionID: fact.chain)
        }
    }

    /// What others' facts say of a shared copy, and how it has ended.
    private mutating func noteOthers(of fact: StoredFact, at position: Int) {
        if fact.isMatched {
            let refund = facts.fact(at: Int(rows[position])).matched?.refund?.signedDate
            newestSignedDate = [newestSignedDate, refund].compactMap(\.self).max()
        }
        // Without either no family's refund can suspend it: no record is decoded for nothing.
        if fact.isShared && (fact.isMatched || !household.isEmpty) {
            let decoded = facts.fact(at: Int(rows[position]))
            let cut = cut(of: decoded)
            grants[position].grant.apply(cut, to: decoded.transaction)
        }
        let grant = grants[position].grant
        guard grant.suspendedFrom != .max || grant.revocationReason != .unspecified else { return }
        let record = record(at: position)
        endings[record.transactionID] = EndedAccess(
            record, of: facts.fact(at: Int(rows[position])).transaction)
    }

    /// For each grant of a product the latest end of all later ones; see `GrantArray.endsOfRest`.
    private mutating func setEnds(_ range: Range<Int>) {
        var latest = Int64.min
        for position in range.reversed() {
            grants[position].endOfRest = latest
            let grant = grants[position].grant
            latest = max(
                latest, grant.type == .nonRenewing ? .max : max(grant.end, grant.graceEnd))
        }
    }

    private func cut(of fact: TransactionFact) -> RefundCut {
        var purchases: [HouseholdPurchase] = []
        if let period = fact.transaction.period {
            purchases = household.overlapping(fact.transaction.productID, period)
        }
        return CustomerHistory(householdPurchases: purchases).familyCut(of: fact)
    }
}

extension Grant {
    /// Adds what a refund in its family does to a shared copy.
    mutating func apply(_ cut: RefundCut, to transaction: Transaction) {
        suspendedFrom = cut.all?.milliseconds ?? .max
        suspendedFromWhenProratedKept = cut.full?.milliseconds ?? .max
        if cut.isMatched { flags.insert(.matchedCut) }
        if cut.isBuyerRefunded && revocationReason != .unspecified {
            revocationReason = Revocation(of: transaction, isBuyerRefunded: true).reason
        }
    }
}

// MARK: - Looking at it

extension Fold {
    /// The grants of a product, in the order that `GrantList` asks for.
    func grants(of product: Product) -> PlacedGrants {
        PlacedGrants(grants: grants[product.range])
    }

    /// The product of this name; nil when the customer has no transaction of it.
    func product(_ name: String) -> Product? {
        products.first { isSame(facts.text($0.name), name) }
    }

    /// A grant with the names that people want to see and the facts that caused it.
    func record(at position: Int) -> GrantRecord {
        let fact = facts.fact(at: Int(rows[position]))
        let transaction = fact.transaction
        let cut = fact.transaction.ownership == .familyShared ? cut(of: fact) : RefundCut()
        let override = fact.evidence.override(of: transaction)
        var record = GrantRecord(
            grant: grants[position].grant, transactionID: transaction.transactionID,
            originalTransactionID: transaction.originalTransactionID, revocation: nil,
            isOverridden: override != nil, family: cut.link)
        if transaction.revocationDate != nil || override != nil {
            record.revocation = Revocation(
                of: transaction, isBuyerRefunded: cut.isBuyerRefunded)
        }
        return record
    }

    /// Where each row of the facts stands among the grants.
    var placesOfRows: [Int] {
        var places = [Int](repeating: 0, count: rows.count)
        for (place, row) in rows.enumerated() { places[Int(row)] = place }
        return places
    }

    /// The grant of a transaction with its names and causes; nil without one.
    func record(ofTransaction id: String) -> GrantRecord? {
        guard let row = facts.position(of: id) else { return nil }
        return rows.firstIndex(of: Int32(row)).map { record(at: $0) }
    }

    /// All grants of a product with their names and causes.
    func records(of product: Product) -> [GrantRecord] { product.range.map { record(at: $0) } }

    /// The same of every product.
    var grantsByProduct: [ExactName: [GrantRecord]] {
        var records: [ExactName: [GrantRecord]] = [:]
        for product in products { records[facts.text(product.name)] = self.records(of: product) }
        return records
    }
}

/// Grants of one product within a fold.
struct PlacedGrants: GrantList {
    let grants: ArraySlice<PlacedGrant>

    var count: Int { grants.count }
    func grant(at index: Int) -> Grant { grants[grants.startIndex + index].grant }
    func endOfRest(after index: Int) -> Int64 { grants[grants.startIndex + index].endOfRest }
}
