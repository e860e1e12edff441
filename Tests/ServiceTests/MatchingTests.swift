import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// No line item: what subscriptions in these families have in common is their dates.
let noLineItem: FixtureChanges = ["webOrderLineItemId": nil]

extension ServiceFixture {
    /// A service that cuts recognised families, or does what `cut` says.
    static func cutting(
        _ cut: FamilyCut = .matched, _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws -> ServiceFixture {
        try ServiceFixture(catalog: Catalog(familyCut: cut), change)
    }

    /// The buyer's purchase "1" and copies "2", "3"... of the members, linked to their names.
    func makeFamily(_ members: [String], to end: Int64? = 90_000) throws {
        try link("buyer", .originalTransaction("1"))
        try notify("SUBSCRIBED", transaction: try transaction("1", to: end, changes: noLineItem))
        for (index, member) in members.enumerated() {
            let id = "\(index + 2)"
            try link(member, .originalTransaction(id))
            try notify(
                "SUBSCRIBED",
                transaction: try transaction(id, to: end, shared: true, changes: noLineItem))
        }
    }

    /// The records of the index.
    func storedMatches() throws -> [[UInt8]: [UInt8]] {
        var records: [[UInt8]: [UInt8]] = [:]
        try store.scan(.matches, prefix: [], from: nil, reversed: false) { key, value in
            records[key] = value
            return true
        }
        return records
    }

    /// The records that follow from the stored facts.
    func expectedMatches() throws -> [[UInt8]: [UInt8]] {
        var facts: [(key: [UInt8], value: [UInt8])] = []
        try store.scan(.transactions, prefix: [], from: nil, reversed: false) { key, value in
            facts.append((key, value))
            return true
        }
        var records: [[UInt8]: [UInt8]] = [:]
        for (key, value) in facts {
            let fact = try RecordCodec.decodeTransaction(value)
            let customer = Key.trailingNumber(of: Array(key.prefix(10)))
            guard let family = FamilyKey(fact.transaction),
                let candidate = fact.candidate(of: customer)
            else { continue }
            let scope = ScopeNumber(UInt16(key[0]) << 8 | UInt16(key[1]))
            records[Key.match(candidate, of: family, in: scope)] = RecordCodec.encode(candidate)
        }
        return records
    }

    /// The refund of the buyer's purchase.
    func refund(at revoked: Int64 = 4_000, signed: Int64? = nil) throws -> WriteCall {
        try notification(
            "REFUND", signed: signed ?? revoked,
            transaction: try transaction(
                "1", to: 90_000, revoked: revoked, signed: signed, changes: noLineItem))
    }
}

@Suite struct MatchingTests {
    static let members = ["mary", "tom", "ann", "ben", "joe"]

    @Test func `the refund cuts everybody in its own revision, and a reversal gives it back`()
        throws
    {
        let fixture = try ServiceFixture.cutting()
        try fixture.makeFamily(Self.members)
        let commits = fixture.store.commitCount
        guard case .notification(let reply) = try fixture.desk.perform(fixture.refund()).get()
        else {
            throw UnexpectedReply()
        }
        #expect(fixture.store.commitCount == commits + 1)
        #expect(Set(reply.changes.map(\.customerID)) == Set(Self.members + ["buyer"]))
        for member in Self.members {
            let verdict = try fixture.check(member)
            #expect(verdict.reason == .familySuspended, "\(member)")
            #expect(verdict.revision == reply.revision)
            #expect(try fixture.reason(member, at: 3_999) == .active, "\(member)")
        }
        let status = try #require(try fixture.view(.customer("tom")).entitlements.first)
        #expect(status.isPaymentReversed && !status.isCauseCertain)
        #expect(status.familyConfidence == .likely && status.familyTransactionID == "1")
        #expect(status.revokedAt == ServiceFixture.date(4_000))
        let back = try fixture.notify(
            "REFUND_REVERSED",
            transaction: try fixture.transaction(
                "1", to: 90_000, signed: 6_000, changes: noLineItem))
        #expect(back.changes.count == 6)
        #expect(try fixture.reason("joe") == .active)
        #expect(
            try fixture.view(.customer("tom")).entitlements.first?.familyConfidence
                == FamilyConfidence.none)
    }

    @Test(arguments: [FamilyCut.declared, .off])
    func `unless asked for, nobody is cut`(cut: FamilyCut) throws {
        let fixture = try ServiceFixture.cutting(cut)
        try fixture.makeFamily(Self.members)
        guard case .notification(let reply) = try fixture.desk.perform(fixture.refund()).get()
        else {
            throw UnexpectedReply()
        }
        #expect(reply.changes.map(\.customerID) == ["buyer"])
        #expect(try fixture.reason("mary") == .active)
        // Her access goes on though nobody pays for it: that is said.
        let status = try #require(try fixture.view(.customer("mary")).entitlements.first)
        #expect(status.reason == .active && status.revokedAt == 0)
        #expect(status.familyConfidence == .likely && status.familyTransactionID == "1")
        // The catalog is read when the question comes: what is stored is the same.
        let other = try ServiceFixture(
            store: fixture.store, catalog: Catalog(familyCut: .matched))
        #expect(try other.reason("mary") == .familySuspended)
    }

    @Test func `a doubt that comes later lets everybody in again, in its own commit`() throws {
        let fixture = try ServiceFixture.cutting()
        try fixture.makeFamily(["mary", "tom"])
        _ = try fixture.desk.perform(fixture.refund()).get()
        #expect(try fixture.reason("mary") == .familySuspended)
        let commits = fixture.store.commitCount
        let reply = try fixture.notify(
            "SUBSCRIBED",
            transaction: try fixture.transaction("50", to: 90_000, changes: noLineItem))
        #expect(fixture.store.commitCount == commits + 1)
        #expect(
            Set(reply.changes.filter(\.isGranted).map(\.customerID)).isSuperset(of: ["mary", "tom"])
        )
        #expect(try fixture.reason("tom") == .active)
        // It turns out that the second purchase was something else: its newer copy says so.
        let settled = try fixture.notify(
            "PRICE_INCREASE",
            transaction: try fixture.transaction(
                "50", product: "q", to: 90_000, signed: 7_000, changes: noLineItem))
        #expect(
            Set(settled.changes.filter { !$0.isGranted }.map(\.customerID)).isSuperset(of: [
                "mary", "tom",
            ]))
        #expect(try fixture.reason("tom") == .familySuspended)
    }

    @Test func `who is merged, moved or transferred takes his place with him`() throws {
        let fixture = try ServiceFixture.cutting()
        try fixture.notify(
            "SUBSCRIBED",
            transaction: try fixture.transaction("1", to: 90_000, changes: noLineItem))
        try fixture.notify(
            "SUBSCRIBED",
            transaction: try fixture.transaction("2", to: 90_000, shared: true, changes: noLineItem)
        )
        _ = try fixture.desk.perform(fixture.refund()).get()
        // Named only now: the provisional customer's place becomes hers.
        try fixture.link("mary", .originalTransaction("2"))
        #expect(try fixture.reason("mary") == .familySuspended)
        try fixture.link("zoe", .originalTransaction("2"), transfer: true)
        #expect(try fixture.reason("zoe") == .familySuspended)
        #expect(try fixture.reason("mary") == .noPurchase)
        // Buyer and member are one person after all.
        try fixture.link("zoe", .originalTransaction("1"))
        #expect(try fixture.reason("zoe") == .active)
        #expect(try fixture.storedMatches().count == 2)
        #expect(try fixture.storedMatches() == fixture.expectedMatches())
    }

    @Test func `a group of events sees its own families`() throws {
        let fixture = try ServiceFixture.cutting()
        var calls: [WriteCall] = []
        for id in 1...4 {
            calls.append(
                try fixture.notification(
                    "SUBSCRIBED",
                    transaction: try fixture.transaction(
                        "\(id)", to: 90_000, shared: id != 1, changes: noLineItem)))
        }
        calls.append(try fixture.refund())
        let commits = fixture.store.commitCount
        for result in fixture.desk.performGroup(calls) { _ = try result.get() }
        #expect(fixture.store.commitCount == commits + 1)
        try fixture.link("mary", .originalTransaction("3"))
        #expect(try fixture.reason("mary") == .familySuspended)
    }

    @Test func `what many have in common is nobody's family, in one commit or in many`() throws {
        let crowd = FamilyMatch.candidateCountMax
        for groupCount in [1, 7, 200] {
            let fixture = try ServiceFixture.cutting()
            try fixture.makeFamily(["mary"])
            _ = try fixture.desk.perform(fixture.refund()).get()
            #expect(try fixture.reason("mary") == .familySuspended)
            // Each with a line item of its own, so that the family stays one.
            let calls = try (1...(crowd - 1)).map { index in
                try fixture.notification(
                    "SUBSCRIBED",
                    transaction: try fixture.transaction("\(1_000 + index)", to: 90_000))
            }
            for call in calls.dropLast() { _ = try fixture.desk.perform(call).get() }
            let before = try fixture.reason("mary")
            var rest =
                (calls.suffix(1)
                + (try (0..<groupCount).map { index in
                    try fixture.notification(
                        "SUBSCRIBED",
                        transaction: try fixture.transaction("\(5_000 + index)", to: 90_000))
                }))[...]
            while !rest.isEmpty {
                for result in fixture.desk.performGroup(Array(rest.prefix(groupCount))) {
                    _ = try result.get()
                }
                rest = rest.dropFirst(groupCount)
            }
            #expect(before == .active, "purchases with line items make a copy without one doubtful")
            #expect(try fixture.reason("mary") == .active)
        }
    }

    @Test(arguments: [FamilyCut.declared, .matched, .off])
    func `members are fetched early, once per turn of the payment`(cut: FamilyCut) throws {
        let fixture = try ServiceFixture.cutting(cut) { $0.isAppStoreConfigured = true }
        try fixture.makeFamily(["mary", "tom"])
        // Tom's own REVOKE is there already.
        try fixture.notify(
            "REVOKE",
            transaction: try fixture.transaction(
                "3", to: 90_000, shared: true, revoked: 3_900, changes: noLineItem))
        let view = try fixture.view(.customer("mary"))
        #expect(view.queuedRefresh == nil)
        _ = try fixture.desk.perform(fixture.refund()).get()
        let queued = try fixture.view(.customer("mary")).queuedRefresh
        #expect(queued?.job.trigger == (cut == .off ? nil : .familyRefund))
        // A newer copy of the same refund is no news.
        let revision = queued?.job.revision
        _ = try fixture.desk.perform(fixture.refund(at: 4_000, signed: 4_500)).get()
        #expect(try fixture.view(.customer("mary")).queuedRefresh?.job.revision == revision)
        try fixture.notify(
            "REFUND_REVERSED",
            transaction: try fixture.transaction(
                "1", to: 90_000, signed: 6_000, changes: noLineItem))
        for member in ["mary", "tom"] {
            let job = try fixture.view(.customer(member)).queuedRefresh?.job
            if cut != .off { #expect(job?.trigger == .refundReversed, "\(member)") }
        }
    }

    @Test func `nothing is queued where nobody fetches`() throws {
        let fixture = try ServiceFixture.cutting(.declared)
        try fixture.makeFamily(["mary"])
        _ = try fixture.desk.perform(fixture.refund()).get()
        #expect(try fixture.view(.customer("mary")).queuedRefresh == nil)
    }

    @Test func `a rebuild enters what an earlier release left out, once`() throws {
        let fixture = try ServiceFixture.cutting()
        try fixture.makeFamily(["mary"])
        _ = try fixture.desk.perform(fixture.refund()).get()
        let entered = try fixture.storedMatches()
        // The store of a release without the index: no places, and nobody is recognised.
        var changes = ChangeSet()
        for key in entered.keys { changes.delete(key, in: .matches) }
        var facts: [(key: [UInt8], value: [UInt8])] = []
        try fixture.store.scan(.transactions, prefix: [], from: nil, reversed: false) {
            facts.append(($0, $1))
            return true
        }
        for (key, value) in facts {
            var fact = try RecordCodec.decodeTransaction(value)
            fact.matched = nil
            changes.put(RecordCodec.encode(fact), for: key, in: .transactions)
        }
        try fixture.store.commit(changes)
        func rebuild(_ name: String, isDryRun: Bool = false) throws -> RebuildReply {
            let call = WriteCall.rebuild(
                RebuildRequest(
                    customer: .customer(name), source: .storedFacts, isDryRun: isDryRun,
                    scope: fixture.scope))
            guard case .rebuild(let reply) = try fixture.desk.perform(call).get() else {
                throw UnexpectedReply()
            }
            return reply
        }
        _ = try rebuild("buyer", isDryRun: true)
        #expect(try fixture.storedMatches() == [:])
        _ = try rebuild("mary")
        _ = try rebuild("buyer")
        #expect(try fixture.storedMatches() == entered)
        #expect(try fixture.storedMatches() == fixture.expectedMatches())
        #expect(try fixture.reason("mary") == .familySuspended)
        let commits = fixture.store.commitCount
        for name in ["mary", "buyer"] { _ = try rebuild(name) }
        #expect(fixture.store.commitCount == commits)
    }

    @Test func `a fact costs one record of the index, and one that changes nothing of it none`()
        throws
    {
        let fixture = try ServiceFixture.cutting()
        try fixture.makeFamily(Self.members)
        #expect(try fixture.storedMatches().count == 6)
        // Each counts what a commit of its own writes; members are left alone.
        try fixture.notify(
            "DID_RENEW",
            transaction: try fixture.transaction(
                "12", original: "2", from: 90_000, to: 180_000, shared: true,
                changes: noLineItem))
        let writes = fixture.store.lastCommitCounts
        #expect(writes[.matches] == 1)
        #expect(writes[.transactions] == 1)
        #expect(writes[.snapshots] == 1)
        try fixture.notify(
            "DID_CHANGE_RENEWAL_STATUS", signed: 95_000,
            transaction: try fixture.transaction(
                "12", original: "2", from: 90_000, to: 180_000, shared: true, signed: 95_000,
                changes: noLineItem))
        let again = fixture.store.lastCommitCounts
        #expect(again[.matches, default: 0] == 0)
        #expect(again[.snapshots] == 1)
        // A refund writes its own place, and each member's transaction and snapshot.
        let refund = try fixture.refund()
        _ = try fixture.desk.perform(refund).get()
        let cut = fixture.store.lastCommitCounts
        #expect(cut[.matches] == 1)
        #expect(cut[.transactions] == 6)
        #expect(cut[.snapshots] == 6)
    }
}
