import AppStore
import Entitlements
import SnapshotTable
import Storage

// Customers with all that follows from their facts, and the facts with what Apple signed.

extension StoreCheck {
    func checkCustomers() {
        each(.customers) { key, value in
            guard let scope = scope(of: key, in: .customers, byteCountMin: Key.customerByteCount)
            else { return }
            let number = Self.number(key[2..<Key.customerByteCount])
            guard key.count == Key.customerByteCount else {
                return checkLink(key, value, of: CustomerKey(scope: scope, number: number))
            }
            let record = decoded(.customers, key) { () throws(StorageError) in
                try RecordCodec.decodeCustomer(value)
            }
            lastCustomer = max(lastCustomer, number)
            guard let record else { return }
            checkRevision(record.revision, .customers, key)
            guard record.mergedInto == 0 else {
                if self.record(of: record.mergedInto, in: scope) == nil {
                    report(
                        .customers, key, expected: "the customer whom he was merged into",
                        found: "no record of customer \(record.mergedInto)")
                }
                return
            }
            customerCount += 1
            if record.isForgotten {
                forgottenCount += 1
                if !record.name.isEmpty {
                    report(
                        .customers, key, expected: "no name, for he was forgotten", found: "one")
                }
            }
            check(record, of: CustomerKey(scope: scope, number: number), key)
        }
    }

    private func check(_ record: CustomerRecord, of customer: CustomerKey, _ key: [UInt8]) {
        if !record.name.isEmpty {
            let identity = Identity(.customer, record.name)
            let found = self.record(of: identity, in: customer.scope)
            if found?.primary != customer.number {
                report(
                    .identities, Key.identity(identity, in: customer.scope),
                    expected: "customer \(customer.number)",
                    found: found.map { "customer \($0.primary)" } ?? "no record")
            }
        }
        if !record.household.isEmpty {
            let member = Key.member(customer.number, of: record.household, in: customer.scope)
            if value(member, in: .households) == nil {
                report(.households, member, expected: "a member", found: "no record")
            }
        }
        checkWhatFollows(from: record, of: customer)
    }

    private func checkLink(_ key: [UInt8], _ value: [UInt8], of customer: CustomerKey) {
        guard let name = text(of: key, from: Key.customerByteCount + 1, in: .customers),
            standing(customer.number, in: customer.scope, .customers, key) != nil
        else { return }
        let kind = key[Key.customerByteCount]
        let isHint = kind == Key.hintKind
        guard let kind = isHint ? .originalTransaction : IdentityKind(rawValue: kind) else {
            return report(
                .customers, key, expected: "a kind of name", found: "kind \(kind)")
        }
        if !value.isEmpty {
            report(.customers, key, expected: "no value", found: "\(value.count) bytes")
        }
        let identity = Identity(kind, name)
        let record = record(of: identity, in: customer.scope)
        let isKnown =
            isHint
            ? record?.holders.contains(customer.number) == true
            : record.map { $0.said != 0 || $0.moved != 0 } ?? false
        if !isKnown {
            report(
                .identities, Key.identity(identity, in: customer.scope),
                expected: "what was said of \(identity.description)",
                found: record == nil ? "no record" : "nothing")
        }
    }

    /// Compares the snapshot, the refunds and the indexes with what a rebuild would make of the
    /// facts.
    private func checkWhatFollows(from record: CustomerRecord, of customer: CustomerKey) {
        // What does not decode is told where each record is read.
        guard let facts = try? StoredFacts(of: customer, with: StoredLinks(), from: raw),
            let household = household(of: record, customer)
        else { return }
        let fold = Fold(facts.transactions, renewals: facts.renewals, household: household)
        let long = LongHistory(fold, limits: limits)
        let key = Key.snapshot(of: customer, named: record.name)
        let found = value(key, in: .snapshots)
        let expected = long?.snapshot ?? fold.snapshot
        if found != expected {
            report(
                .snapshots, key, expected: "\(expected.count) bytes, as of the facts",
                found: found.map { "\($0.count) bytes, others" } ?? "no record")
        }
        if record.isLong != (long != nil) {
            report(
                .customers, Key.customer(customer),
                expected: "a \(long == nil ? "short" : "long") history", found: "the other mark")
        }
        checkEndings(of: fold, customer)
        for fact in facts.transactions.values { checkIndexes(of: fact, customer) }
    }

    /// What follows from a customer's facts; nil where they cannot be read.
    func fold(of customer: CustomerKey) -> Fold? {
        guard let record = record(of: customer.number, in: customer.scope),
            let facts = try? StoredFacts(of: customer, with: StoredLinks(), from: raw),
            let household = household(of: record, customer)
        else { return nil }
        return Fold(facts.transactions, renewals: facts.renewals, household: household)
    }

    private func household(
        of record: CustomerRecord, _ customer: CustomerKey
    ) -> HouseholdPurchases? {
        guard !record.household.isEmpty else { return HouseholdPurchases.none }
        var members: [FactSet] = []
        var isWhole = true
        let prefix = Key.household(record.household, in: customer.scope)
        try? raw.scan(.households, prefix: prefix, from: nil, reversed: false) { key, _ in
            guard key.count == prefix.count + 8 else { return true }
            let member = CustomerKey(scope: customer.scope, number: Key.trailingNumber(of: key))
            let facts = try? StoredFacts(of: member, with: StoredLinks(), from: raw)
            isWhole = isWhole && facts != nil
            if let facts { members.append(facts.transactions) }
            return isWhole
        }
        return isWhole ? HouseholdPurchases(members) : nil
    }

    private func checkEndings(of fold: Fold, _ customer: CustomerKey) {
        for (id, ended) in fold.endings {
            let key = Key.refund(
                RefundPosition(instant: ended.instant, customer: customer, transactionID: id.text))
            guard let bytes = value(key, in: .refunds) else {
                report(.refunds, key, expected: "the end of access", found: "no record")
                continue
            }
            guard let found = try? RecordCodec.decodeRefund(bytes) else { continue }
            let expected = ended.record(knowing: found, wasServed: true, at: .distantPast)
            if found != expected {
                report(.refunds, key, expected: "\(expected)", found: "\(found)")
            }
        }
    }

    private func checkIndexes(of fact: TransactionFact, _ customer: CustomerKey) {
        for identity in fact.transaction.identities {
            let record = record(of: identity, in: customer.scope)
            if record?.holders.contains(customer.number) != true {
                report(
                    .identities, Key.identity(identity, in: customer.scope),
                    expected: "customer \(customer.number) among its holders",
                    found: record.map { "\($0.holders)" } ?? "no record")
            }
        }
        guard let place = MatchPlace(fact, of: customer) else { return }
        let key = Key.match(place.candidate, of: place.group.family, in: place.group.scope)
        let expected = RecordCodec.encode(place.candidate)
        let found = value(key, in: .matches)
        if found != expected {
            report(
                .matches, key, expected: "\(place.candidate)",
                found: found == nil ? "no record" : "another one")
        }
        checkMatched(fact, place, customer)
    }

    private func checkMatched(
        _ fact: TransactionFact, _ place: MatchPlace, _ customer: CustomerKey
    ) {
        let countMax = FamilyMatch.candidateCountMax
        guard
            let candidates = try? raw.candidates(of: place.group, countMax: countMax + 1)
        else { return }
        let links =
            candidates.count > countMax
            ? [:] : FamilyMatch.links(of: FamilyMatch.families(among: candidates))
        let expected = links[ExactName(fact.transaction.transactionID)]
        if fact.matched != expected {
            report(
                .transactions, Key.of(customer, fact.transaction.transactionID),
                expected: expected.map { "\($0)" } ?? "no purchase behind it",
                found: fact.matched.map { "\($0)" } ?? "none")
        }
    }
}

// MARK: - Facts and what was signed

extension StoreCheck {
    func checkTransactions() {
        each(.transactions) { key, value in
            guard let customer = customer(of: key, in: .transactions),
                let id = text(of: key, from: Key.customerByteCount, in: .transactions)
            else { return }
            let fact = decoded(.transactions, key) { () throws(StorageError) in
                try RecordCodec.decodeTransaction(value)
            }
            guard let fact else { return }
            transactionCount += 1
            guard isSame(fact.transaction.transactionID, id) else {
                return report(
                    .transactions, key, expected: "transaction \(id)",
                    found: fact.transaction.transactionID)
            }
            if fact.payloadRevision == PayloadPlace.forgotten,
                fact.transaction.appAccountToken != nil || fact.transaction.appTransactionID != nil
            {
                report(
                    .transactions, key, expected: "nobody's name in what was forgotten",
                    found: "one")
            }
            check(
                fact.payloadRevision, Key.payload(.transaction(id), in: customer.scope), customer,
                (.transactions, key), \.transaction
            ) { $0.transaction == fact.transaction }
        }
    }

    func checkRenewals() {
        each(.renewals) { key, value in
            guard let customer = customer(of: key, in: .renewals),
                let chain = text(of: key, from: Key.customerByteCount, in: .renewals)
            else { return }
            let renewal = decoded(.renewals, key) { () throws(StorageError) in
                try RecordCodec.decodeRenewal(value)
            }
            guard var renewal else { return }
            guard isSame(renewal.originalTransactionID, chain) else {
                return report(
                    .renewals, key, expected: "chain \(chain)",
                    found: renewal.originalTransactionID)
            }
            let revision = renewal.payloadRevision
            renewal.payloadRevision = 0
            check(
                revision, Key.payload(.renewal(chain), in: customer.scope), customer,
                (.renewals, key), \.renewal
            ) { $0.renewal == renewal }
        }
    }

    /// Compares a fact with the signed copy behind it: in the notification of `revision`, or, where
    /// that is 0, under `ownKey`.
    private func check(
        _ revision: UInt64, _ ownKey: [UInt8], _ customer: CustomerKey,
        _ place: (keyspace: Keyspace, key: [UInt8]),
        _ part: (StoredNotification) -> [UInt8]?, _ isEqual: (StoredCopy) -> Bool
    ) {
        // Removed on request, and marked as that; what only has no bytes is damaged.
        guard revision != PayloadPlace.forgotten else { return }
        let payloadKey =
            revision == 0
            ? ownKey : Key.payload(.notification(revision: revision), in: customer.scope)
        guard let stored = value(payloadKey, in: .payloads) else {
            return report(
                .payloads, payloadKey, expected: "the signed copy of a fact", found: "no record")
        }
        let jws = revision == 0 ? stored : StoredNotification(body: stored).flatMap(part) ?? []
        guard let copy = StoredCopy(jws) else {
            return report(
                .payloads, payloadKey, expected: "a copy that its own certificate has signed",
                found: "another one")
        }
        if !isEqual(copy) {
            report(
                place.keyspace, place.key, expected: "what the signed copy says",
                found: "something else")
        }
    }

    func checkPayloads() {
        each(.payloads) { key, _ in
            guard let scope = scope(of: key, in: .payloads, byteCountMin: 4) else { return }
            switch key[2] {
            case UInt8(ascii: "n") where key.count == 11:
                let revision = Key.trailingNumber(of: key)
                checkRevision(revision, .payloads, key)
                // Empty: it was removed when its customer was forgotten; its UUID leads here still.
                guard let body = value(key, in: .payloads), !body.isEmpty else { return }
                guard let uuid = StoredCopy.notificationUUID(ofBody: body) else {
                    return report(
                        .payloads, key, expected: "a notification that its certificate has signed",
                        found: "another text of \(body.count) bytes")
                }
                checkUUID(uuid, leadsTo: revision, scope)
                checkPlace(of: body, revision, scope)
            case UInt8(ascii: "t"), UInt8(ascii: "r"):
                guard let name = text(of: key, from: 3, in: .payloads) else { return }
                checkUse(of: key, name, isTransaction: key[2] == UInt8(ascii: "t"), scope)
            default:
                report(.payloads, key, expected: "n, t or r", found: "kind \(key[2])")
            }
        }
    }

    /// Whether a notification is in the history of whoever it concerns, or in nobody's.
    private func checkPlace(of body: [UInt8], _ revision: UInt64, _ scope: ScopeNumber) {
        let nobodys = Key.notification(revision: revision, in: scope)
        if (try? raw.value(for: nobodys, in: .notifications)).flatMap(\.self) != nil { return }
        let stored = StoredNotification(body: body)
        let transaction = stored?.transaction.flatMap { StoredCopy($0)?.transaction }
        let renewal = stored?.renewal.flatMap { StoredCopy($0)?.renewal }
        var identities = transaction?.identities ?? []
        if let renewal {
            identities.append(Identity(.originalTransaction, renewal.originalTransactionID))
        }
        for identity in identities {
            let record = record(of: identity, in: scope) ?? IdentityRecord()
            for number in record.holders + [record.said, record.moved] where number != 0 {
                var key = CustomerKey(scope: scope, number: number)
                while let merged = self.record(of: key.number, in: scope)?.mergedInto, merged != 0 {
                    key = CustomerKey(scope: scope, number: merged)
                }
                let history = Key.history(key, revision: revision)
                let entry = (try? raw.value(for: history, in: .history)).flatMap(\.self)
                if entry?.isEmpty == false { return }
            }
        }
        report(
            .history, nobodys, expected: "revision \(revision) in a history, or in nobody's",
            found: "no record")
    }

    /// Whether a fact needs a payload that stands by itself.
    private func checkUse(
        of key: [UInt8], _ name: String, isTransaction: Bool, _ scope: ScopeNumber
    ) {
        let identity = Identity(isTransaction ? .transaction : .originalTransaction, name)
        let holders = record(of: identity, in: scope)?.holders ?? []
        let isUsed = holders.contains { number in
            let factKey = Key.of(CustomerKey(scope: scope, number: number), name)
            let keyspace: Keyspace = isTransaction ? .transactions : .renewals
            guard let bytes = (try? raw.value(for: factKey, in: keyspace)) ?? nil else {
                return false
            }
            return isTransaction
                ? (try? RecordCodec.decodeTransaction(bytes))?.payloadRevision == 0
                : (try? RecordCodec.decodeRenewal(bytes))?.payloadRevision == 0
        }
        if !isUsed {
            report(.payloads, key, expected: "a fact that needs it", found: "none")
        }
    }
}
