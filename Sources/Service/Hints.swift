import Entitlements
import Storage

// What unsigned bodies name. They are believed by nobody: a chain that only such a body has named
// is a customer without facts, of whom Apple is asked, and each chain is one of its own: that two
// of them stood in one body joins nothing.

extension Workspace {
    /// Whether a fact of the chain is stored in this scope, not just a word of an unsigned body.
    mutating func isStored(
        chain: String, in scope: ScopeNumber
    ) throws(LedgerFailure) -> Bool {
        let record = try identity(Identity(.originalTransaction, chain), in: scope)
        for number in record.holders {
            let key = try person(CustomerKey(scope: scope, number: number))
            if customers[key]?.hinted.contains(chain) == false { return true }
        }
        return false
    }

    /// A provisional customer for a chain that nobody knows; whoever is linked to it finds him.
    mutating func makeHinted(
        _ chain: String, in scope: ScopeNumber
    ) throws(LedgerFailure) -> CustomerKey {
        let key = makeCustomer(name: "", in: scope)
        customers[key]?.hinted = [ExactName(chain)]
        customers[key]?.dirtyHints = [ExactName(chain)]
        let identity = Identity(.originalTransaction, chain)
        var record = try self.identity(identity, in: scope)
        record.holders = [key.number]
        record.primary = key.number
        setIdentity(identity, in: scope, record)
        return key
    }

    /// Gives the chains that were only named to the customer into whom `state` is merged.
    mutating func mergeHints(
        of state: CustomerState, into target: CustomerKey
    ) throws(LedgerFailure) {
        for chain in state.hinted.sorted() {
            let identity = Identity(.originalTransaction, chain.text)
            var record = try self.identity(identity, in: target.scope)
            record.holders.removeAll { $0 == state.key.number }
            if record.primary == state.key.number { record.primary = target.number }
            if record.holders.isEmpty {
                record.holders = [target.number]
                customers[target]?.hinted.insert(chain)
                customers[target]?.dirtyHints.insert(chain)
                customers[target]?.markChanged()
            }
            setIdentity(identity, in: target.scope, record)
        }
    }
}
