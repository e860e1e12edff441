internal import Entitlements
internal import Service
internal import SnapshotTable
internal import Storage
internal import TestSupport

/// Where the records of a stretch of customers go.
///
/// A keyspace is a column family; identities and payloads have several kinds of key, each of which
/// ascends with the customers, so each has a sink of its own.
protocol BulkSink: ~Copyable {
    /// Adds a record; within a `stream` keys ascend.
    mutating func put(_ value: [UInt8], for key: [UInt8], in stream: BulkStream)
        throws(StorageError)
}

/// Records of one keyspace that come in ascending order of their keys.
enum BulkStream: Hashable, Sendable, CaseIterable {
    case names, tokens, accounts, chains, transactionIDs
    case customers, transactions, renewals, snapshots, history, audit, refunds
    case signedTransactions, signedRenewals
    /// Matches ascend only within a product and a period; see `BulkMatches`.
    case matches

    /// Where they belong.
    var keyspace: Keyspace {
        switch self {
        case .names, .tokens, .accounts, .chains, .transactionIDs: .identities
        case .customers: .customers
        case .transactions: .transactions
        case .renewals: .renewals
        case .snapshots: .snapshots
        case .history: .history
        case .audit: .audit
        case .refunds: .refunds
        case .signedTransactions, .signedRenewals: .payloads
        case .matches: .matches
        }
    }
}

/// Writes what a server would have stored, had each customer's transactions come in by one
/// IngestTransactions with his name, in the order of the customers, on a server without
/// credentials for Apple's servers.
///
/// Customer `index` has number and revision `index` + 1. Every record is made by the server's own
/// code, from the decoded fact to the snapshot; only the order of things is known here. A test
/// compares a store so made with one that was ingested, record by record.
struct BulkRecords: Sendable {
    let plan: SeedPlan
    let scope: ScopeNumber
    /// When all of it came in, by the server's clock.
    let clock: Timestamp
    /// Signs the payloads; nil: no payloads are stored, and only what shows them to people, or
    /// compares two copies of one instant, misses them.
    let signer: SeedSigner?

    /// Writes the records of one group, or of the customer with very many transactions.
    ///
    /// - Throws: what the sink throws; `.unavailable` when a payload cannot be signed.
    func write(
        group: Range<Int>, into sink: inout some BulkSink & ~Copyable
    ) throws(StorageError) {
        var people = group.map { index in
            Person(
                index: index, facts: plan.transactions(of: index).map(\.fact),
                renewal: plan.renewal(of: index)?.fact)
        }
        recogniseFamily(&people)
        for person in people { try write(person, into: &sink) }
    }

    /// A customer as the server decodes him.
    private struct Person {
        let index: Int
        var facts: [TransactionFact]
        let renewal: RenewalInfo?
        var number: UInt64 { UInt64(index) + 1 }

        /// What a server has of him, without the names.
        var history: CustomerHistory {
            var history = CustomerHistory()
            history.transactions.reserveCapacity(facts.count)
            for fact in facts { history.transactions[fact.transaction.transactionID] = fact }
            if let renewal { history.renewals[renewal.originalTransactionID] = renewal }
            return history
        }

        /// See `CustomerHistory.longSnapshot`; for the millions of others nothing is gathered.
        var longSnapshot: [UInt8]? {
            facts.count > LongHistoryLimits().transactionCountMax ? history.longSnapshot : nil
        }
    }

    /// Notes the purchase behind each copy, as the server does when the last of a family comes in.
    private func recogniseFamily(_ people: inout [Person]) {
        guard let first = people.first, plan.kind(of: first.index).isFamily else { return }
        for position in first.facts.indices {
            let candidates = people.compactMap { $0.facts[position].candidate(of: $0.number) }
            let links = FamilyMatch.links(of: FamilyMatch.families(among: candidates))
            for person in people.indices {
                let id = people[person].facts[position].transaction.transactionID
                people[person].facts[position].matched = links[id]
            }
        }
    }

    private func write(
        _ person: Person, into sink: inout some BulkSink & ~Copyable
    ) throws(StorageError) {
        let key = CustomerKey(scope: scope, number: person.number)
        let name = plan.name(of: person.index)
        try writeNames(of: person, key, name, into: &sink)
        let longSnapshot = person.longSnapshot
        let record = CustomerRecord(
            name: name, revision: person.number, isLong: longSnapshot != nil)
        try sink.put(RecordCodec.encode(record), for: Key.customer(key), in: .customers)
        let chain = Identity(
            .originalTransaction, person.facts[0].transaction.originalTransactionID)
        try sink.put([], for: Key.link(key, chain), in: .customers)
        let linked = AuditRecord(
            at: clock, action: "LINKED", customer: name, detail: chain.description)
        try sink.put(
            RecordCodec.encode(linked), for: Key.audit(revision: person.number, index: 0),
            in: .audit)
        try sink.put([], for: Key.history(key, revision: person.number), in: .history)
        for fact in person.facts {
            let id = fact.transaction.transactionID
            try sink.put(RecordCodec.encode(fact), for: Key.of(key, id), in: .transactions)
            guard let family = FamilyKey(fact.transaction),
                let candidate = fact.candidate(of: person.number)
            else { continue }
            try sink.put(
                RecordCodec.encode(candidate), for: Key.match(candidate, of: family, in: scope),
                in: .matches)
        }
        if let renewal = person.renewal {
            try sink.put(
                RecordCodec.encode(renewal), for: Key.of(key, renewal.originalTransactionID),
                in: .renewals)
        }
        try writeOutcome(of: person, key, name, longSnapshot, into: &sink)
        if let signer { try writePayloads(of: person.index, signer, into: &sink) }
    }

    /// Whom each name means: he was said to have the chain, and holds what his facts carry.
    private func writeNames(
        of person: Person, _ key: CustomerKey, _ name: String,
        into sink: inout some BulkSink & ~Copyable
    ) throws(StorageError) {
        let number = key.number
        func put(
            _ kind: IdentityKind, _ value: String, _ record: IdentityRecord, _ stream: BulkStream,
            _ sink: inout some BulkSink & ~Copyable
        ) throws(StorageError) {
            try sink.put(
                RecordCodec.encode(record), for: Key.identity(Identity(kind, value), in: scope),
                in: stream)
        }
        let held = IdentityRecord(primary: number, holders: [number])
        let said = IdentityRecord(said: number, primary: number)
        let both = IdentityRecord(said: number, primary: number, holders: [number])
        let transaction = person.facts[0].transaction
        try put(.customer, name, said, .names, &sink)
        try put(.originalTransaction, transaction.originalTransactionID, both, .chains, &sink)
        if let token = transaction.appAccountToken {
            try put(.appAccountToken, token, held, .tokens, &sink)
        }
        if let account = transaction.appTransactionID {
            try put(.appTransaction, account, held, .accounts, &sink)
        }
        for fact in person.facts {
            try put(.transaction, fact.transaction.transactionID, held, .transactionIDs, &sink)
        }
    }

    /// What follows from the facts: the snapshot, and what has ended before its time.
    private func writeOutcome(
        of person: Person, _ key: CustomerKey, _ name: String, _ longSnapshot: [UInt8]?,
        into sink: inout some BulkSink & ~Copyable
    ) throws(StorageError) {
        let history = person.history
        let grants = history.grantsByProduct()
        let snapshot =
            longSnapshot
            ?? SnapshotCodec.encode(grants, newestSignedDate: history.newestSignedDate)
        try sink.put(snapshot, for: Key.snapshot(of: key, named: name), in: .snapshots)
        let endings = history.endings(of: grants).sorted { $0.value.instant < $1.value.instant }
        for (id, ended) in endings {
            let position = RefundPosition(
                instant: ended.instant, customer: key, transactionID: id.text)
            let record = ended.record(knowing: nil, wasServed: false, at: clock)
            try sink.put(RecordCodec.encode(record), for: Key.refund(position), in: .refunds)
        }
    }

    private func writePayloads(
        of index: Int, _ signer: SeedSigner, into sink: inout some BulkSink & ~Copyable
    ) throws(StorageError) {
        for transaction in plan.transactions(of: index) {
            let payload = try Self.signed { () throws(RehearsalAuthorityError) in
                try signer.sign(transaction)
            }
            let key = Key.payload(.transaction(transaction.transactionID), in: scope)
            try sink.put(payload, for: key, in: .signedTransactions)
        }
        if let renewal = plan.renewal(of: index) {
            let payload = try Self.signed { () throws(RehearsalAuthorityError) in
                try signer.sign(renewal)
            }
            let key = Key.payload(.renewal(renewal.originalTransactionID), in: scope)
            try sink.put(payload, for: key, in: .signedRenewals)
        }
    }

    private static func signed(
        _ sign: () throws(RehearsalAuthorityError) -> [UInt8]
    ) throws(StorageError) -> [UInt8] {
        do throws(RehearsalAuthorityError) {
            return try sign()
        } catch {
            throw .unavailable(message: error.description)
        }
    }
}
