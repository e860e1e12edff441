import AppStore
import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// A store as format 1 had it, under the service of today.
@Suite struct UpgradeTests {
    /// Rewrites the records of today as the release of format 1 would have written them: snapshots
    /// under numbers, matches in the order of products, each notification's record under its
    /// revision, and every signed copy by itself beside the notification that carried it.
    private static func formatOne(of store: MemoryStore) throws -> MemoryStore {
        let scope = ScopeNumber(1)
        let old = MemoryStore()
        var changes = ChangeSet()
        for keyspace in Keyspace.allCases {
            try store.scan(keyspace, prefix: [], from: nil, reversed: false) { key, value in
                changes.put(value, for: key, in: keyspace)
                return true
            }
        }
        changes.delete(Key.namedSnapshots, in: .meta)
        try rewriteSnapshots(of: store, scope, &changes)
        try store.scan(.matches, prefix: [], from: nil, reversed: false) { key, value in
            changes.delete(key, in: .matches)
            let end = 22 + Int(key[20]) << 8 + Int(key[21])
            let earlier = key[..<2] + key[20..<end] + key[4..<20] + key[end...]
            changes.put(value, for: Array(earlier), in: .matches)
            return true
        }
        try store.scan(.history, prefix: [], from: nil, reversed: false) { key, value in
            guard !value.isEmpty else { return true }
            let revision = Key.trailingNumber(of: key)
            changes.put([], for: key, in: .history)
            changes.put(
                value, for: Key.notification(revision: revision, in: scope), in: .notifications)
            return true
        }
        try separateCopies(in: store, scope, &changes)
        try old.commit(changes)
        return old
    }

    private static func rewriteSnapshots(
        of store: MemoryStore, _ scope: ScopeNumber, _ changes: inout ChangeSet
    ) throws {
        var names: [(key: [UInt8], name: String)] = []
        try store.scan(.customers, prefix: [], from: nil, reversed: false) { key, value in
            if key.count == Key.customerByteCount,
                let record = try? RecordCodec.decodeCustomer(value), !record.name.isEmpty
            {
                names.append((key, record.name))
            }
            return true
        }
        for (key, name) in names {
            let named = Key.namedSnapshots(of: scope) + Array(name.utf8)
            guard let snapshot = try store.value(for: named, in: .snapshots) else { continue }
            changes.delete(named, in: .snapshots)
            changes.put(snapshot, for: key, in: .snapshots)
        }
    }

    private static func separateCopies(
        in store: MemoryStore, _ scope: ScopeNumber, _ changes: inout ChangeSet
    ) throws {
        func body(_ revision: UInt64) throws -> StoredNotification? {
            let key = Key.payload(.notification(revision: revision), in: scope)
            return try store.value(for: key, in: .payloads).flatMap { StoredNotification(body: $0) }
        }
        var facts: [([UInt8], [UInt8])] = []
        try store.scan(.transactions, prefix: [], from: nil, reversed: false) { key, value in
            facts.append((key, value))
            return true
        }
        for (key, value) in facts {
            var fact = try RecordCodec.decodeTransaction(value)
            guard fact.payloadRevision != 0 else { continue }
            let copy = try body(fact.payloadRevision)?.transaction ?? []
            let id = fact.transaction.transactionID
            fact.payloadRevision = 0
            changes.put(RecordCodec.encode(fact), for: key, in: .transactions)
            changes.put(copy, for: Key.payload(.transaction(id), in: scope), in: .payloads)
        }
        var renewals: [([UInt8], [UInt8])] = []
        try store.scan(.renewals, prefix: [], from: nil, reversed: false) { key, value in
            renewals.append((key, value))
            return true
        }
        for (key, value) in renewals {
            var renewal = try RecordCodec.decodeRenewal(value)
            guard renewal.payloadRevision != 0 else { continue }
            let copy = try body(renewal.payloadRevision)?.renewal ?? []
            renewal.payloadRevision = 0
            changes.put(RecordCodec.encode(renewal), for: key, in: .renewals)
            changes.put(
                copy, for: Key.payload(.renewal(renewal.originalTransactionID), in: scope),
                in: .payloads)
        }
    }

    private static let people = ["ann", "bob", "cyn", "dan"]

    private func fill(_ fixture: ServiceFixture) throws {
        let account: FixtureChanges = ["appTransactionId": .string("A")]
        try fixture.upload("ann", try fixture.transaction("10", to: 9_000))
        try fixture.upload(
            "bob", try fixture.transaction("20", to: 9_000, shared: true, changes: account),
            renewals: [try fixture.renewal("20", signed: 2_000)])
        try fixture.link("ann", household: "home")
        try fixture.link("bob", household: "home")
        try fixture.link("cyn", .originalTransaction("30"))
        try fixture.notify(
            "SUBSCRIBED", transaction: try fixture.transaction("30", to: 7_000),
            renewal: try fixture.renewal("30", signed: 1_500))
        try fixture.notify(
            "DID_RENEW", signed: 2_000, transaction: try fixture.transaction("40", to: 8_000))
        try fixture.notify(
            "REFUND", signed: 5_000,
            transaction: try fixture.transaction("10", to: 9_000, revoked: 5_000))
        try fixture.notify("TEST", signed: 7_000)
    }

    private func compare(_ left: ServiceFixture, _ right: ServiceFixture) throws {
        for person in Self.people {
            for offset in stride(from: Int64(0), to: 10_000, by: 250) {
                #expect(
                    try left.check(person, at: offset) == right.check(person, at: offset),
                    "\(person) at \(offset)")
            }
            let views = [left, right].map { try? $0.view(.customer(person)) }
            #expect(views[0] == views[1], "\(person)")
        }
    }

    @Test func `a store of format 1 answers as before, and is whole afterwards`() throws {
        let before = try ServiceFixture()
        try fill(before)
        let old = try Self.formatOne(of: before.store)
        let after = try ServiceFixture(store: old)
        try compare(before, after)
        var findings: [StoreFinding] = []
        try StoreCheck(old, onFinding: { findings.append($0) }).run()
        #expect(findings == [])
    }

    @Test func `what comes later is taken in as by a store of today`() throws {
        let before = try ServiceFixture()
        try fill(before)
        let after = try ServiceFixture(store: try Self.formatOne(of: before.store))
        let calls = [
            try before.notification(
                "REFUND", signed: 6_000,
                transaction: before.transaction("30", to: 7_000, revoked: 6_000)),
            .link(
                LinkRequest(
                    customerID: "dan", identity: .originalTransaction("40"), scope: before.scope)),
            try before.notification(
                "REVOKE", signed: 6_500,
                transaction: before.transaction("20", to: 9_000, shared: true, signed: 6_500)),
        ]
        for call in calls {
            #expect(try before.desk.perform(call).get() == after.desk.perform(call).get())
        }
        try compare(before, after)
        var findings: [StoreFinding] = []
        try StoreCheck(after.store, onFinding: { findings.append($0) }).run()
        #expect(findings == [])
    }

    @Test func `a conversion that is cut short goes on at the next start`() throws {
        let before = try ServiceFixture()
        try fill(before)
        let old = try Self.formatOne(of: before.store)
        old.failCommits(next: 1)
        #expect(throws: ServiceStartError.self) { _ = try ServiceFixture(store: old) }
        old.failCommits(next: 0)
        try compare(before, try ServiceFixture(store: old))
    }
}
