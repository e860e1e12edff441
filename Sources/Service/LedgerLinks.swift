import Entitlements
import Storage

// What people say: whom an identity belongs to, who shares a household, what is to move.

extension Ledger {
    /// An iCloud family has six members; every event of one of them looks at all, so what is far
    /// beyond is a mistake.
    private static var householdMemberCountMax: Int { 1_000 }

    mutating func apply(
        _ link: Event.Link, at clock: Timestamp
    ) throws(LedgerFailure) -> WriteReply {
        let scope = try number(of: link.scope)
        let owner = try named(link.customerID, in: scope)
        if let owner, try isKnown(link, of: owner) {
            return .link(changes: [], revision: workspace.revision)
        }
        let said = link.identity.map { [$0] } ?? []
        let isTransfer = try isMoved(link.isTransfer, onConflict: link.transfersOnConflict) {
            (ledger) throws(LedgerFailure) in
            let claimants = try ledger.workspace.claimants(of: said, in: scope)
            try ledger.requireFree(claimants, owner: owner, "this identity")
        }
        var involved = try workspace.related(to: said, in: scope)
        if let owner { involved.insert(owner) }
        let joined =
            try link.household.map { (name) throws(LedgerFailure) in
                try workspace.members(of: name, in: scope)
            } ?? []
        guard joined.count < Self.householdMemberCountMax else {
            throw .refused(
                Refusal(
                    .invalidField,
                    "a household has at most \(Self.householdMemberCountMax) members"))
        }
        for number in joined { involved.insert(CustomerKey(scope: scope, number: number)) }
        let changes = try change(involved, at: clock) { (ledger) throws(LedgerFailure) in
            let customer = owner ?? ledger.workspace.makeCustomer(name: link.customerID, in: scope)
            for identity in said {
                try ledger.assign(identity, to: customer, isTransfer: isTransfer, at: clock)
            }
            try ledger.workspace.settle(said, in: scope, at: clock)
            if let household = link.household {
                try ledger.join(household, customer, at: clock)
            }
            ledger.workspace.noteHistory(customer)
        }
        return .link(changes: changes, revision: workspace.revision)
    }

    /// Whether nothing would change: said twice is said once.
    private mutating func isKnown(
        _ link: Event.Link, of owner: CustomerKey
    ) throws(LedgerFailure) -> Bool {
        let state = try workspace.customer(owner)
        if let household = link.household, !isSame(household, state.record.household) {
            return false
        }
        guard let identity = link.identity else { return true }
        let record = try workspace.identity(identity, in: owner.scope)
        if record.moved != 0 || link.isTransfer { return record.moved == owner.number }
        return record.said == owner.number
    }

    /// Says that `identity` is the customer's; with `isTransfer` what it names moves to him: the
    /// chain, all of the Apple Account, all that carries the token.
    ///
    /// The facts follow when the workspace settles.
    mutating func assign(
        _ identity: Identity, to customer: CustomerKey, isTransfer: Bool, at clock: Timestamp
    ) throws(LedgerFailure) {
        let record = try workspace.identity(identity, in: customer.scope)
        let wasSaid = (record.moved == 0 ? record.said : record.moved) == customer.number
        let previous = try workspace.claimants(of: [identity], in: customer.scope)
        if isTransfer {
            try workspace.move(identity, to: customer)
        } else if !wasSaid {
            try workspace.say(identity, isOf: customer)
        }
        guard !wasSaid else { return }
        workspace.audit(
            isTransfer ? "TRANSFERRED" : "LINKED", of: customer, detail: identity.description,
            at: clock)
        guard isTransfer else { return }
        for key in workspace.named(previous) where key != customer {
            workspace.audit("TRANSFERRED", of: key, detail: identity.description, at: clock)
        }
    }

    private mutating func join(
        _ household: String, _ customer: CustomerKey, at clock: Timestamp
    ) throws(LedgerFailure) {
        let previous = workspace.customers[customer]?.record.household ?? ""
        guard !isSame(household, previous) else { return }
        if !previous.isEmpty {
            try workspace.leave(previous, customer)
            workspace.audit("HOUSEHOLD_LEFT", of: customer, detail: previous, at: clock)
        }
        if !household.isEmpty {
            var members = try workspace.members(of: household, in: customer.scope)
            members.insert(customer.number)
            workspace.households[customer.scope, default: [:]][household] = members
            let key = Key.member(customer.number, of: household, in: customer.scope)
            workspace.appended.put([], for: key, in: .households)
            workspace.audit("HOUSEHOLD_JOINED", of: customer, detail: household, at: clock)
        }
        workspace.customers[customer]?.record.household = household
        workspace.customers[customer]?.markChanged()
    }
}

extension Workspace {
    /// Takes a customer out of the members of a household; his record still names it.
    mutating func leave(_ household: String, _ customer: CustomerKey) throws(LedgerFailure) {
        var members = try members(of: household, in: customer.scope)
        members.remove(customer.number)
        households[customer.scope, default: [:]][household] = members
        let key = Key.member(customer.number, of: household, in: customer.scope)
        appended.delete(key, in: .households)
    }
}

extension Identity {
    /// As people read it: the kind and the name.
    package var description: String {
        switch kind {
        case .customer: "customer_id:\(value)"
        case .appAccountToken: "app_account_token:\(value)"
        case .appTransaction: "app_transaction_id:\(value)"
        case .originalTransaction: "original_transaction_id:\(value)"
        case .transaction: "transaction_id:\(value)"
        }
    }
}
