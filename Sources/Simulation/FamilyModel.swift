internal import Wire

/// What a set of writes says of one family: who owns what, under which names, and in whose
/// household. A second, plain telling of the contract; nothing of the product's own rules is used.
///
/// It knows the simulated worlds only: one Apple Account per person, which every transaction
/// carries; transfers within a family, of people whose accounts are linked.
struct FamilyModel: Sendable {
    /// The newest copy of a transaction with what notifications said of it.
    struct Held: Sendable {
        var copy: TransactionCopy
        var datelessRevoke: Int64?
        var grantNotification: Int64?
        var activeStatus: Int64?
        var datedCopy: Int64?

        /// The newest date in it.
        var newestDate: Int64 {
            [datelessRevoke, grantNotification, activeStatus, datedCopy]
                .reduce(copy.signed) { max($0, $1 ?? .min) }
        }
    }

    /// By number.
    private(set) var held: [Held] = []
    private(set) var renewals: [RenewalCopy] = []
    private var places: [Int: Int] = [:]
    private var linkedAccounts: Set<Int> = []
    private var linkedTokens: Set<Int> = []
    private var linkedChains: [Int: Int] = [:]
    private var uploaders: Set<Int> = []
    private var named: Set<Int> = []
    private var households: [Int: Int] = [:]
    private var movedChains: [Int: Int] = [:]

    /// What `writes` say, in the order in which each lane said it.
    init(_ writes: [SimulatedWrite]) {
        for write in writes { add(write) }
    }

    private mutating func add(_ write: SimulatedWrite) {
        switch write.content {
        case .notification(let fact): add(fact)
        case .upload(let customer, let copies, let renewals):
            for copy in copies { add(copy) }
            for renewal in renewals { add(renewal) }
            if let customer {
                named.insert(customer)
                if copies.contains(where: { $0.person == customer }) { uploaders.insert(customer) }
            }
        case .link(let customer, let identity):
            named.insert(customer)
            switch identity {
            case .account(let person): linkedAccounts.insert(person)
            case .token(let person): linkedTokens.insert(person)
            case .chain(let chain): linkedChains[chain] = customer
            case .customer: break
            }
        case .household(let customer, let household):
            named.insert(customer)
            households[customer] = household
        case .transfer(let chain, _, let target):
            named.insert(target)
            movedChains[chain] = target
        case .rebuild: break
        }
    }

    private mutating func add(_ fact: NotificationFact) {
        add(fact.copy)
        guard let place = places[fact.copy.number] else { return }
        if fact.isGrant { raise(&held[place].grantNotification, fact.signed) }
        if fact.status == 1 || fact.status == 4 { raise(&held[place].activeStatus, fact.signed) }
        if fact.type == "REVOKE", fact.copy.revoked == nil {
            raise(&held[place].datelessRevoke, fact.signed)
        }
        if let renewal = fact.renewal { add(renewal) }
    }

    private mutating func add(_ copy: TransactionCopy) {
        if let place = places[copy.number] {
            let known = held[place].copy
            // Of equal dates the revoked copy counts; no two others are made.
            let isNewer =
                copy.signed != known.signed ? copy.signed > known.signed : copy.revoked != nil
            if isNewer { held[place].copy = copy }
        } else {
            places[copy.number] = held.count
            held.append(Held(copy: copy))
        }
        if copy.revoked != nil, let place = places[copy.number] {
            raise(&held[place].datedCopy, copy.signed)
        }
    }

    private mutating func add(_ renewal: RenewalCopy) {
        if let place = renewals.firstIndex(where: { $0.chain == renewal.chain }) {
            if renewal.signed > renewals[place].signed { renewals[place] = renewal }
        } else {
            renewals.append(renewal)
        }
    }

    private func raise(_ date: inout Int64?, _ other: Int64) { date = max(date ?? .min, other) }
}

// MARK: - Who

extension FamilyModel {
    /// Whom a name means.
    enum Person: Equatable, Sendable {
        /// Nothing is known under it.
        case unknown
        /// The person who goes by this customer id.
        case named(Int)
        /// What is known of an account that nobody has named.
        case account(Int)
        /// The contract leaves it open.
        case unpredicted
    }

    /// Whether what is known of an account is under its customer's own name.
    private func isConnected(_ person: Int) -> Bool {
        if linkedAccounts.contains(person) || uploaders.contains(person) { return true }
        if linkedTokens.contains(person), hasToken(person) { return true }
        return held.contains {
            $0.copy.person == person && linkedChains[$0.copy.chain] == person
        }
    }

    private func hasToken(_ person: Int) -> Bool {
        held.contains { $0.copy.person == person && $0.copy.carriesToken }
    }

    private func hasFacts(_ person: Int) -> Bool {
        held.contains { $0.copy.person == person }
    }

    private func hasMoved(_ person: Int) -> Bool {
        held.contains { $0.copy.person == person && movedChains[$0.copy.chain] != nil }
    }

    func person(_ name: SimulatedName) -> Person {
        switch name {
        case .customer(let person):
            return named.contains(person) ? .named(person) : .unknown
        case .account(let person):
            if linkedAccounts.contains(person) { return .named(person) }
            if hasMoved(person) { return .unpredicted }
            guard hasFacts(person) else { return .unknown }
            return isConnected(person) ? .named(person) : .account(person)
        case .token(let person):
            if linkedTokens.contains(person) { return .named(person) }
            if hasMoved(person) { return .unpredicted }
            guard hasToken(person) else { return .unknown }
            return isConnected(person) ? .named(person) : .account(person)
        case .chain(let chain):
            if let owner = movedChains[chain] { return .named(owner) }
            if let owner = linkedChains[chain] { return .named(owner) }
            guard let fact = held.first(where: { $0.copy.chain == chain }) else { return .unknown }
            let person = fact.copy.person
            return isConnected(person) ? .named(person) : .account(person)
        }
    }

    /// The transactions of a person, oldest first.
    func transactions(of person: Person) -> [Held] {
        switch person {
        case .unknown, .unpredicted: []
        case .account(let account): held.filter { $0.copy.person == account }
        case .named(let customer):
            held.filter { fact in
                if let owner = movedChains[fact.copy.chain] { return owner == customer }
                return fact.copy.person == customer && isConnected(customer)
            }
        }
    }

    /// What the members of a person's household bought, his own purchases included.
    func householdPurchases(of person: Person) -> [TransactionCopy] {
        guard case .named(let customer) = person, let household = households[customer] else {
            return []
        }
        let members = named.sorted().filter { households[$0] == household }
        return members.flatMap { transactions(of: .named($0)) }.map(\.copy)
            .filter { !$0.isShared }
    }

    /// The newest date among all that is known of the family.
    var newestDate: Int64 {
        let dates = held.map(\.newestDate) + renewals.map(\.signed)
        return dates.max() ?? .min
    }
}
