import Entitlements
import Storage

/// The customers of a workspace, and which of them were changed since somebody last asked.
///
/// A group of 256 events touches hundreds; whoever looks for those that one event changed must not
/// walk over all, for the cost of an event would grow with its group.
struct CustomerStates: Sendable {
    private var states: [CustomerKey: CustomerState] = [:]
    private var modified: [CustomerKey] = []

    /// Nobody.
    init() {}

    /// All of them.
    var keys: some Collection<CustomerKey> { states.keys }

    /// Whether the customer was loaded or made.
    func contains(_ key: CustomerKey) -> Bool { states[key] != nil }

    /// A customer; writing to it is noted.
    subscript(key: CustomerKey) -> CustomerState? {
        get { states[key] }
        _modify {
            if modified.last != key { modified.append(key) }
            yield &states[key]
        }
    }

    /// Takes in a customer as the store has him.
    mutating func load(_ state: CustomerState) { states[state.key] = state }

    /// Keeps a fact that was read.
    mutating func load(record: [UInt8], of key: CustomerKey) throws(StorageError) {
        try states[key]?.transactions.insert(record: record)
    }

    /// Keeps renewal info that was read.
    mutating func load(_ renewal: RenewalInfo, of key: CustomerKey) {
        states[key]?.renewals[renewal.originalTransactionID] = renewal
    }

    /// Keeps what a long history is after the current event.
    mutating func keep(_ long: LongHistory, of key: CustomerKey) { states[key]?.long = long }

    /// Keeps a fold of the facts as they are.
    mutating func keep(_ fold: Fold, of key: CustomerKey) { states[key]?.fold = fold }

    /// Those that were written to and for which `predicate` holds.
    func modified(where predicate: (CustomerState) -> Bool) -> Set<CustomerKey> {
        var found: Set<CustomerKey> = []
        for key in modified where !found.contains(key) {
            if let state = states[key], predicate(state) { found.insert(key) }
        }
        return found
    }

    /// Whether the current event changed anybody.
    var isTouched: Bool { modified.contains { states[$0]?.isTouched == true } }

    /// Whose facts the current event changed; the marks are taken off.
    mutating func takeTouched() -> Set<CustomerKey> {
        let touched = modified(where: \.isTouched)
        for key in touched { states[key]?.isTouched = false }
        modified.removeAll(keepingCapacity: true)
        return touched
    }
}
