import Entitlements
import Service
import SnapshotTable
import Storage
import TestSupport
import Testing

@Suite struct CommitTests {
    @Test func `the events of a group see each other and share one batch`() throws {
        let fixture = try ServiceFixture()
        let commits = fixture.store.commitCount
        let scope = fixture.scope
        let results = fixture.desk.performGroup([
            try fixture.notification(
                "ONE_TIME_CHARGE", uuid: "u", transaction: try fixture.transaction("1")),
            .link(
                LinkRequest(customerID: "ann", identity: .originalTransaction("1"), scope: scope)),
            try fixture.notification(
                "ONE_TIME_CHARGE", uuid: "u", transaction: try fixture.transaction("1")),
            .transactions(
                TransactionUpload(
                    customerID: "eve", signedTransactions: [try fixture.transaction("1")])),
            .link(LinkRequest(customerID: "ann", scope: scope, householdID: "h")),
            try fixture.notification(
                "REFUND", transaction: try fixture.transaction("1", revoked: 4_000)),
            .rebuild(RebuildRequest(customer: .customer("ann"), scope: scope)),
        ])
        #expect(fixture.store.commitCount == commits + 1)
        let revisions = results.map { result -> UInt64? in
            switch result {
            case .success(.notification(let reply)): reply.revision
            case .success(.link(_, let revision)): revision
            case .success(.transactions(_, let revision)): revision
            case .success(.rebuild(let reply)): reply.revision
            case .success(.imported(let reply)): reply.revision
            case .success(.forgotten(let reply)): reply.revision
            case .success(.noted(let revision)): revision
            case .failure: nil
            }
        }
        // The duplicate names the first; the refused one takes no revision.
        #expect(Array(revisions[..<6]) == [1, 2, 1, nil, 3, 4])
        guard case .failure(let refusal) = results[3] else { throw UnexpectedReply() }
        #expect(refusal.reason == .identityConflict)
        guard case .success(.notification(let duplicate)) = results[2] else {
            throw UnexpectedReply()
        }
        #expect(duplicate.disposition == .duplicate)
        #expect(try fixture.reason("ann") == .refunded)
        #expect(try fixture.reason("eve") == .unknownCustomer)
        #expect(try fixture.view(.customer("ann")).notifications.count == 2)
        #expect(fixture.service.revision == revisions[6])
    }

    @Test func `a group gives what its events give one by one`() throws {
        let calls: (ServiceFixture) throws -> [WriteCall] = { fixture in
            try (1...12).flatMap { number -> [WriteCall] in
                let id = "\(number % 4)"
                return [
                    try fixture.notification(
                        "DID_RENEW", uuid: "u\(number)",
                        transaction: try fixture.transaction(
                            "\(number)", original: id, from: Int64(number) * 100,
                            to: Int64(number) * 100 + 150,
                            changes: ["appTransactionId": .string("A\(number % 3)")])),
                    .link(
                        LinkRequest(
                            customerID: "c\(number % 2)", identity: .originalTransaction(id),
                            scope: fixture.scope)),
                ]
            }
        }
        let together = try ServiceFixture()
        let alone = try ServiceFixture()
        let grouped = together.desk.performGroup(try calls(together))
        let single = try calls(alone).map { alone.desk.perform($0) }
        #expect(grouped == single)
        for name in ["c0", "c1"] {
            for offset in stride(from: Int64(0), to: 2_000, by: 50) {
                #expect(
                    try together.reason(name, at: offset) == alone.reason(name, at: offset))
            }
        }
        #expect(together.service.revision == alone.service.revision)
    }

    @Test func `a store that fails refuses, shows nothing, and works again afterwards`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        let revision = fixture.service.revision
        fixture.store.failCommits(next: 100)
        let refund = try fixture.notification(
            "REFUND", uuid: "u", transaction: try fixture.transaction("1", revoked: 4_000))
        let results = fixture.desk.performGroup([
            refund,
            .link(
                LinkRequest(
                    customerID: "bob", identity: .originalTransaction("2"), scope: fixture.scope)),
        ])
        for result in results {
            guard case .failure(let refusal) = result else { throw UnexpectedReply() }
            #expect(refusal.reason == .storeUnavailable)
            #expect(refusal.retryAfterMilliseconds > 0)
        }
        #expect(fixture.service.revision == revision)
        #expect(try fixture.reason("ann") == .active)
        #expect(try fixture.reason("bob") == .unknownCustomer)
        #expect(try fixture.view(.customer("ann")).notifications.isEmpty)
        fixture.store.failCommits(next: 0)
        // The same bytes again: applied, not taken for a repeat.
        guard case .success(.notification(let reply)) = fixture.desk.perform(refund) else {
            throw UnexpectedReply()
        }
        #expect(reply.disposition == .applied)
        #expect(reply.revision == revision + 1)
        #expect(try fixture.reason("ann") == .refunded)
    }

    @Test func `one damaged record refuses its own event and no neighbour`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        var changes = ChangeSet()
        try fixture.store.scan(.transactions, prefix: [], from: nil, reversed: false) { key, _ in
            changes.put([9, 9, 9], for: key, in: .transactions)
            return true
        }
        try fixture.store.commit(changes)
        let results = fixture.desk.performGroup([
            try fixture.notification("ONE_TIME_CHARGE", transaction: try fixture.transaction("2")),
            try fixture.notification(
                "REFUND", transaction: try fixture.transaction("1", revoked: 2_000)),
            try fixture.notification("ONE_TIME_CHARGE", transaction: try fixture.transaction("3")),
        ])
        guard case .failure(let refusal) = results[1] else { throw UnexpectedReply() }
        #expect(refusal.reason == .storeDamaged)
        #expect(refusal.status == .dataLoss)
        for index in [0, 2] {
            guard case .success = results[index] else { throw UnexpectedReply() }
        }
        #expect(
            try fixture.desk.check(.originalTransaction("3"), "p", in: fixture.scope).isGranted)
        // What was answered before goes on being answered.
        #expect(try fixture.reason("ann") == .active)
    }

    @Test func `an empty group does nothing`() throws {
        let fixture = try ServiceFixture()
        let commits = fixture.store.commitCount
        #expect(fixture.service.commit([]).isEmpty)
        #expect(fixture.store.commitCount == commits)
    }

    /// Read after write, on every thread, while the table is being filled.
    @Test func `what is acknowledged is seen at once, also while the table warms`() async throws {
        let first = try ServiceFixture()
        let count = 60
        let names = (1...count).map { "c\($0)" }
        for (number, name) in names.enumerated() {
            try first.upload(name, try first.transaction("\(number)"))
        }
        let cold = try ServiceFixture(store: first.store, isWarm: false)
        let refunds = try names.indices.map {
            try cold.notification(
                "REFUND", transaction: try cold.transaction("\($0)", revoked: 2_000))
        }
        let isDone = Flag()
        let wrong = Atomic64()
        let acknowledged = Atomic64()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? cold.service.warm() }
            group.addTask {
                for (index, refund) in refunds.enumerated() {
                    _ = cold.desk.perform(refund)
                    _ = acknowledged.next()
                    let reason = try? cold.reason(names[index])
                    if reason != .refunded { _ = wrong.next() }
                    await Task.yield()
                }
                isDone.set()
            }
            group.addTask {
                let desk = ServiceDesk(cold.service)
                while !isDone.isSet {
                    let known = acknowledged.current
                    for index in 0..<Int(known) {
                        let verdict = try? desk.check(
                            .customer(names[index]), "p", at: ServiceFixture.date(5_000),
                            in: cold.scope)
                        if verdict?.reason != .refunded { _ = wrong.next() }
                    }
                    await Task.yield()
                }
            }
        }
        #expect(wrong.current == 0)
        #expect(cold.service.reader.table.isComplete)
        for name in names { #expect(try cold.reason(name) == .refunded) }
    }

    @Test func `a commit says after which event others may go first`() throws {
        let fixture = try ServiceFixture()
        let events = try ["1", "2", "3"].map { id in
            try fixture.service.prepare(
                .transactions(
                    TransactionUpload(
                        customerID: "u" + id, signedTransactions: [try fixture.transaction(id)])))
        }
        var count = 0
        let results = fixture.service.commit(events) {
            count += 1
            // Nothing is visible before all of the group is durable.
            #expect(fixture.service.revision == 0)
        }
        #expect(results.count == 3)
        #expect(count == 3)
        #expect(fixture.service.revision > 0)
    }
}
