import AppStore
import Entitlements
import Storage

// What Apple signed of a forgotten customer: his copies, and the notifications in his history.

extension Workspace {
    /// Removes the bytes behind his facts and of his notifications, and the names in the facts;
    /// tells how many payloads went.
    mutating func removePayloads(
        of state: CustomerState, _ history: [UInt64: [UInt8]], _ numbers: Set<UInt64>,
        into ranges: inout RangesOfCustomer
    ) throws(LedgerFailure) -> Int {
        let key = state.key
        var revisions: Set<UInt64> = []
        for (revision, record) in history
        where try isNotification(revision, record, in: key.scope) { revisions.insert(revision) }
        var count = 0
        for var fact in state.transactions.values {
            let payload = Key.payload(
                .transaction(fact.transaction.transactionID), in: key.scope)
            ranges.add(.payloads, payload)
            count += removeOwn(fact.payloadRevision, payload, &revisions)
            fact.payloadRevision = PayloadPlace.forgotten
            fact.transaction = fact.transaction.withoutNames
            customers[key]?.put(fact)
        }
        for var renewal in state.renewals.values {
            let payload = Key.payload(.renewal(renewal.originalTransactionID), in: key.scope)
            ranges.add(.payloads, payload)
            count += removeOwn(renewal.payloadRevision, payload, &revisions)
            renewal.payloadRevision = PayloadPlace.forgotten
            customers[key]?.put(renewal)
        }
        for revision in revisions.sorted() {
            let payload = Key.payload(.notification(revision: revision), in: key.scope)
            ranges.add(.payloads, payload)
            guard let body = try value(for: payload, in: .payloads), !body.isEmpty else { continue }
            try keepOthers(in: body, of: revision, numbers, key.scope)
            appended.put([], for: payload, in: .payloads)
            count += 1
        }
        return count
    }

    /// Removes a payload that stands by itself, or notes the notification in which it lies; how
    /// many were removed.
    private mutating func removeOwn(
        _ place: UInt64, _ key: [UInt8], _ revisions: inout Set<UInt64>
    ) -> Int {
        switch place {
        case PayloadPlace.forgotten: return 0
        case 0:
            appended.delete(key, in: .payloads)
            return 1
        default:
            revisions.insert(place)
            return 0
        }
    }

    /// Whether an entry of a history is a notification.
    private func isNotification(
        _ revision: UInt64, _ record: [UInt8], in scope: ScopeNumber
    ) throws(LedgerFailure) -> Bool {
        guard record.isEmpty else { return true }
        let key = Key.notification(revision: revision, in: scope)
        return try value(for: key, in: .notifications) != nil
    }

    /// Keeps by themselves the signed copies in a notification on which others' facts rest: renewal
    /// info may be of another chain than the transaction beside it.
    private mutating func keepOthers(
        in body: [UInt8], of revision: UInt64, _ numbers: Set<UInt64>, _ scope: ScopeNumber
    ) throws(LedgerFailure) {
        guard let stored = StoredNotification(body: body) else { return }
        if let jws = stored.transaction, let id = stored.transactionID {
            for key in try others(Identity(.transaction, id), numbers, in: scope) {
                guard var fact = try customer(key).transactions[id],
                    fact.payloadRevision == revision
                else { continue }
                try rememberBefore(key)
                fact.payloadRevision = 0
                appended.put(jws, for: Key.payload(.transaction(id), in: scope), in: .payloads)
                customers[key]?.put(fact)
            }
        }
        if let jws = stored.renewal, let chain = stored.renewalChain {
            for key in try others(Identity(.originalTransaction, chain), numbers, in: scope) {
                guard var renewal = try customer(key).renewals[ExactName(chain)],
                    renewal.payloadRevision == revision
                else { continue }
                try rememberBefore(key)
                renewal.payloadRevision = 0
                appended.put(jws, for: Key.payload(.renewal(chain), in: scope), in: .payloads)
                customers[key]?.put(renewal)
            }
        }
    }

    private mutating func others(
        _ identity: Identity, _ numbers: Set<UInt64>, in scope: ScopeNumber
    ) throws(LedgerFailure) -> [CustomerKey] {
        try self.identity(identity, in: scope).holders.filter { !numbers.contains($0) }
            .map { CustomerKey(scope: scope, number: $0) }
    }
}
