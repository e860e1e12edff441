import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// A small store with something in every keyspace, damaged in every way.
@Suite struct StoreCheckTests {
    private struct Record {
        var keyspace: Keyspace
        var key: [UInt8]
        var value: [UInt8]
    }

    private static let records = Result { try makeRecords() }

    private static func makeRecords() throws -> [Record] {
        let fixture = try ServiceFixture { $0.isAppStoreConfigured = true }
        let token: FixtureChanges = ["appAccountToken": .string("token")]
        try fixture.upload("ann", try fixture.transaction("10", to: 9_000, changes: token))
        try fixture.upload(
            "bob", try fixture.transaction("20", to: 9_000, shared: true),
            renewals: [try fixture.renewal("20", signed: 2_000)])
        try fixture.link("ann", household: "home")
        try fixture.link("bob", household: "home")
        try fixture.link("cyn", .originalTransaction("30"))
        try fixture.notify(
            "SUBSCRIBED", transaction: try fixture.transaction("30", to: 9_000),
            renewal: try fixture.renewal("30", signed: 1_500))
        try fixture.notify(
            "DID_RENEW", signed: 2_000, transaction: try fixture.transaction("40", to: 9_000))
        try fixture.link("dan", .originalTransaction("30"), transfer: true)
        try fixture.notify(
            "REFUND", signed: 5_000,
            transaction: try fixture.transaction("10", to: 9_000, revoked: 5_000, changes: token))
        try fixture.notify(
            "REVOKE", signed: 6_000,
            transaction: try fixture.transaction("20", to: 9_000, shared: true, signed: 6_000))
        try fixture.notify("TEST", signed: 7_000)
        var usage = ChangeSet()
        usage.put(
            RecordCodec.encode(UsageRecord(checks: 3, units: 4)),
            for: Key.usage(Array("10".utf8), on: 20_000, in: ScopeNumber(1)), in: .usage)
        try fixture.store.commit(usage)
        return try records(of: fixture.store)
    }

    private static func records(of store: MemoryStore) throws -> [Record] {
        let base = try store.packed()
        var records: [Record] = []
        for keyspace in Keyspace.allCases {
            try base.scan(keyspace, prefix: [], from: nil, reversed: false) { key, value in
                records.append(Record(keyspace: keyspace, key: key, value: value))
                return true
            }
        }
        return records
    }

    private func findings(_ records: [Record]) throws -> [StoreFinding] {
        let store = MemoryStore()
        var changes = ChangeSet()
        for record in records { changes.put(record.value, for: record.key, in: record.keyspace) }
        try store.commit(changes)
        var findings: [StoreFinding] = []
        let check = try StoreCheck(store, onFinding: { findings.append($0) })
        check.run()
        #expect(check.findingCount == findings.count)
        #expect(check.recordCounts.values.reduce(0, +) == records.count)
        return findings
    }

    @Test func `a sound store has no findings, and every keyspace is in it`() throws {
        let records = try Self.records.get()
        #expect(try findings(records) == [])
        #expect(Set(records.map(\.keyspace)) == Set(Keyspace.allCases))
    }

    /// Records whose loss nothing else can tell.
    private static func isMissed(_ record: Record, among records: [Record]) -> Bool {
        switch record.keyspace {
        case .usage, .refreshes: true
        // The last entry of a revision.
        case .audit:
            !records.contains {
                $0.keyspace == .audit && $0.key.prefix(8) == record.key.prefix(8)
                    && record.key.lexicographicallyPrecedes($0.key)
            }
        // That something else than a notification concerned somebody.
        case .history: record.value.isEmpty
        // Numbers of worlds that nobody has used yet, and marks of the queue.
        case .meta:
            record.key.starts(with: Array("mark".utf8))
                || record.value == RecordCodec.encode(2)
        default: false
        }
    }

    @Test func `every record that is missing is found`() throws {
        let records = try Self.records.get()
        var found: Set<Keyspace> = []
        for (index, record) in records.enumerated() {
            var others = records
            others.remove(at: index)
            if record.keyspace == .meta, record.key.starts(with: Key.payloadHeaders) {
                // Payloads do not unpack without it.
                if (try? findings(others))?.isEmpty != true { continue }
            }
            guard try findings(others).isEmpty else {
                found.insert(record.keyspace)
                continue
            }
            #expect(
                Self.isMissed(record, among: records), "\(record.keyspace) \(record.key)")
        }
        #expect(found.isSuperset(of: Set(Keyspace.allCases).subtracting([.usage, .refreshes])))
    }

    @Test(arguments: Keyspace.allCases)
    func `a stranger in a keyspace is found`(keyspace: Keyspace) throws {
        let records = try Self.records.get()
        let keys: [[UInt8]] = [
            [9], [0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], [0, 1, 0x75, 0x41, 0x41],
        ]
        for key in keys {
            let stranger = Record(keyspace: keyspace, key: key, value: [7, 7])
            let findings = try findings(records + [stranger])
            #expect(findings.contains { $0.keyspace == keyspace && $0.key == key }, "\(key)")
        }
    }

    @Test func `a record under the key of another one is found`() throws {
        let records = try Self.records.get()
        let kinds: [Keyspace] = [.transactions, .renewals, .snapshots, .matches, .refunds]
        for keyspace in kinds {
            guard let index = records.firstIndex(where: { $0.keyspace == keyspace }) else {
                Issue.record("\(keyspace) is empty")
                continue
            }
            var moved = records
            moved[index].key[moved[index].key.count - 1] ^= 3
            #expect(try !findings(moved).isEmpty, "\(keyspace)")
        }
    }

    @Test func `a changed layout is found in every keyspace`() throws {
        let records = try Self.records.get()
        for (index, record) in records.enumerated() where !record.value.isEmpty {
            guard record.keyspace != .meta else { continue }
            var changed = records
            changed[index].value[0] ^= 0x55
            let findings = try findings(changed)
            #expect(!findings.isEmpty, "\(record.keyspace) \(record.key)")
        }
    }

    @Test(arguments: [Keyspace.snapshots, .payloads, .matches, .renewals])
    func `every changed byte of what is signed or follows is found`(keyspace: Keyspace) throws {
        let records = try Self.records.get()
        let step = keyspace == .payloads ? 397 : 5
        for (index, record) in records.enumerated() where record.keyspace == keyspace {
            for offset in stride(from: 0, to: record.value.count, by: step) {
                var changed = records
                changed[index].value[offset] ^= 1
                #expect(try !findings(changed).isEmpty, "\(record.key), byte \(offset)")
            }
        }
    }

    /// No answer and no index rests on a price: only the signed copy tells that it is wrong.
    @Test func `a fact that says something else than its signed copy is found`() throws {
        let records = try Self.records.get()
        var count = 0
        for (index, record) in records.enumerated() where record.keyspace == .transactions {
            var fact = try RecordCodec.decodeTransaction(record.value)
            fact.transaction.price = 12_345
            var changed = records
            changed[index].value = RecordCodec.encode(fact)
            let findings = try findings(changed)
            #expect(findings.contains { $0.keyspace == .transactions && $0.key == record.key })
            count += 1
        }
        #expect(count == 4)
    }

    @Test func `a customer's number that leads nowhere is found where it stands`() throws {
        var records = try Self.records.get()
        var record = IdentityRecord()
        record.primary = 77
        record.holders = [77]
        let key = Key.identity(Identity(.appAccountToken, "stray"), in: ScopeNumber(1))
        records.append(
            Record(keyspace: .identities, key: key, value: RecordCodec.encode(record)))
        let findings = try findings(records)
        #expect(findings.allSatisfy { $0.keyspace == .identities && $0.key == key })
        #expect(findings.contains { $0.expected == "customer 77" })
    }
}
