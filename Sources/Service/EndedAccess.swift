package import Entitlements
package import Storage

/// How a transaction has ended before its time, by the facts alone: what `refunds` keeps of it, but
/// for the instants when this server learnt.
package struct EndedAccess: Hashable, Sendable {
    var productID: String
    var ownership: Ownership
    /// Whether its own evidence says that a payment went back.
    var isPaymentReversed: Bool
    /// From when on, by Apple's dates; at least one.
    var instants: [EndingCause: Timestamp]

    /// The earliest: where it stands in `refunds`.
    package var instant: Timestamp { instants.values.min() ?? .distantFuture }

    /// What `transaction` has ended by; nil while it has not, or is neither a purchase nor shared.
    init?(_ record: GrantRecord, of transaction: Transaction) {
        productID = transaction.productID
        ownership = transaction.ownership
        isPaymentReversed = record.revocation?.isPaymentReversed == true
        instants = [:]
        switch ownership {
        case .purchased:
            guard isPaymentReversed, let date = transaction.revocationDate else { return nil }
            instants[.revoked] = date
        case .familyShared:
            let revoked = min(record.grant.revokedFrom, record.grant.overriddenFrom)
            if revoked != .max { instants[.revoked] = Timestamp(milliseconds: revoked) }
            let suspended = record.grant.suspendedFrom
            if suspended != .max {
                instants[record.grant.suspensionCause] = Timestamp(milliseconds: suspended)
            }
            if instants.isEmpty { return nil }
        case .assigned, .other, .unspecified:
            return nil
        }
    }
}

extension Grant {
    /// Under which cause a suspension stands.
    var suspensionCause: EndingCause { flags.contains(.matchedCut) ? .matched : .suspended }
}

extension TransactionFact {
    /// How it has ended before its time, in the hands of somebody without a declared household; nil
    /// while it has not.
    var ended: EndedAccess? {
        // Most have not, and a fold of one costs a dozen allocations.
        guard transaction.revocationDate != nil || evidence.datelessRevoke != nil || matched != nil
        else { return nil }
        var facts = FactSet()
        facts.put(self)
        return Fold(facts, renewals: [:]).endings[transaction.transactionID]
    }
}

extension CustomerHistory {
    /// The transactions among `grants` that have ended before their time, by id.
    package func endings(of grants: [ExactName: [GrantRecord]]) -> [ExactName: EndedAccess] {
        var endings: [ExactName: EndedAccess] = [:]
        for record in grants.values.joined() {
            let isSuspended = record.grant.suspendedFrom != .max
            guard isSuspended || record.revocation != nil,
                let fact = transactions[record.transactionID]
            else { continue }
            endings[record.transactionID] = EndedAccess(record, of: fact.transaction)
        }
        return endings
    }
}

extension Workspace {
    /// Brings `refunds` to what follows from the facts of `touched`, whose state before the event
    /// is in `before`, and of those whose long histories were taken on by `steps`.
    ///
    /// What had ended already keeps the instant when it was learnt, also when its date has moved or
    /// another customer has it now.
    mutating func noteEndings(
        of touched: Set<CustomerKey>, and steps: [CustomerKey: LongStep], at clock: Timestamp
    ) throws(LedgerFailure) {
        var old: [ExactName: PlacedEnding] = [:]
        var new: [ExactName: PlacedEnding] = [:]
        var served: Set<ExactName> = []
        for (key, step) in steps {
            for (id, ending) in step.endings {
                old[id] = ending.before.map { PlacedEnding(customer: key, ended: $0) } ?? old[id]
                new[id] = ending.after.map { PlacedEnding(customer: key, ended: $0) } ?? new[id]
                if ending.wasServed { served.insert(id) }
            }
        }
        for key in touched {
            for (id, ended) in try foldBefore(key)?.endings ?? [:] {
                old[id] = PlacedEnding(customer: key, ended: ended)
            }
            guard customers[key]?.record.mergedInto == 0 else { continue }
            for (id, ended) in try fold(key).endings {
                new[id] = PlacedEnding(customer: key, ended: ended)
            }
        }
        let changed = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
        guard !changed.isEmpty else { return }
        for id in changed {
            var wasServed = served.contains(id)
            for key in touched where try foldBefore(key)?.facts.contains(id.text) == true {
                wasServed = true
            }
            try replace(old[id], by: new[id], of: id.text, wasServed: wasServed, at: clock)
        }
    }

    private mutating func replace(
        _ old: PlacedEnding?, by new: PlacedEnding?, of id: String, wasServed: Bool,
        at clock: Timestamp
    ) throws(LedgerFailure) {
        let known = try (old ?? new).flatMap { (placed) throws(LedgerFailure) in
            try refund(at: placed.key(of: id))
        }
        if let old { appended.delete(old.key(of: id), in: .refunds) }
        guard let new else { return }
        let record = new.ended.record(knowing: known, wasServed: wasServed, at: clock)
        appended.put(RecordCodec.encode(record), for: new.key(of: id), in: .refunds)
    }

    /// Whether `refunds` has all that `repairEndings` would look for.
    func hasEndings(of fold: Fold, _ key: CustomerKey) throws(LedgerFailure) -> Bool {
        for (id, ended) in fold.endings {
            let placed = PlacedEnding(customer: key, ended: ended)
            if try refund(at: placed.key(of: id.text)) == nil { return false }
        }
        return true
    }

    /// Writes what a release that kept no `refunds` has left out; when it ended the access is not
    /// known any more.
    mutating func repairEndings(
        of key: CustomerKey, _ fold: Fold, at clock: Timestamp
    ) throws(LedgerFailure) {
        for (id, ended) in fold.endings {
            let placed = PlacedEnding(customer: key, ended: ended)
            guard try refund(at: placed.key(of: id.text)) == nil else { continue }
            try replace(nil, by: placed, of: id.text, wasServed: false, at: clock)
        }
    }

    /// What stands in `refunds` under a key, with what this group has changed.
    func refund(at key: [UInt8]) throws(LedgerFailure) -> RefundRecord? {
        if appended.change(for: key, in: .refunds) == .delete { return nil }
        let bytes = try value(for: key, in: .refunds)
        return try reading { () throws(StorageError) in
            try bytes.map { (bytes) throws(StorageError) in try RecordCodec.decodeRefund(bytes) }
        }
    }
}

/// An end with whose it is: together they say where it stands.
private struct PlacedEnding: Hashable {
    var customer: CustomerKey
    var ended: EndedAccess

    func key(of id: String) -> [UInt8] {
        Key.refund(
            RefundPosition(instant: ended.instant, customer: customer, transactionID: id))
    }
}

extension EndedAccess {
    /// The record of it: what `known` has learnt before stays, the rest is learnt now; `wasServed`
    /// says whether the transaction was here before.
    package func record(
        knowing known: RefundRecord?, wasServed: Bool, at clock: Timestamp
    ) -> RefundRecord {
        var record = RefundRecord(
            ownership: ownership, isPaymentReversed: isPaymentReversed, productID: productID,
            endings: [:])
        for (cause, instant) in instants {
            var ending =
                known?.endings[cause]
                ?? Ending(instant: instant, learnedAt: clock, isServedUntilLearned: wasServed)
            ending.instant = instant
            record.endings[cause] = ending
        }
        return record
    }
}
