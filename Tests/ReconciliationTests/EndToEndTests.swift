import AppStoreServerAPI
import Entitlements
import EventLoop
import Service
import Storage
import TestSupport
import Testing

@testable import Reconciliation

/// The service, the reconciler and a stand-in App Store over real TLS.
@Suite struct EndToEndTests {
    // MARK: The queue

    @Test func `a REVOKE is answered at once, and its customer is fetched by itself`() throws {
        let meadow = try Meadow()
        defer { meadow.end() }
        let mia = try meadow.member("mia", "7002", "8203")
        meadow.clock.advance(Meadow.minute)
        try meadow.perform(
            .notification(
                payload: SignedFixtures.body(try meadow.revoke(mia, "8203", uuid: "u-1"))))
        #expect(try !meadow.reason("mia").isGranted)
        #expect(try meadow.queuedCount == 1)
        #expect(meadow.appStore.requests.isEmpty)
        try meadow.start()
        #expect(meadow.queueEmpties())
        #expect(try meadow.view("mia").refreshedAt >= Meadow.start + Meadow.minute)
        #expect(try !meadow.reason("mia").isGranted)
        #expect(meadow.appStore.requests.allSatisfy { $0.status == 200 })
    }

    @Test func `a lost REVOKE is found by the sweep, and only she loses access`() throws {
        let meadow = try Meadow { $0.sweepInterval = Meadow.day }
        defer { meadow.end() }
        let mia = try meadow.member("mia", "7002", "8203")
        try meadow.member("leo", "7003", "8204")
        meadow.clock.advance(Meadow.minute)
        mia.revoke("8203", at: meadow.clock.milliseconds)
        #expect(try meadow.reason("mia") == .active)
        try meadow.start()
        #expect(eventually { (try? meadow.reason("mia").isGranted) == false })
        #expect(meadow.queueEmpties())
        #expect(try meadow.reason("leo") == .active)
        #expect(try meadow.view("leo").refreshedAt > 0)
        func found() -> [String] {
            meadow.notices.withLock { notices in
                notices.flatMap { notice -> [String] in
                    guard case .sweepFoundChange(_, let changes) = notice else { return [] }
                    return changes.map(\.customerID)
                }
            }
        }
        #expect(eventually { found() == ["mia"] })
        // And again when half of the interval is over.
        let count = meadow.appStore.requests.count
        meadow.clock.advance(Meadow.day / 2)
        #expect(
            eventually {
                meadow.clock.advance(Meadow.minute)
                return meadow.appStore.requests.count > count
            })
    }

    @Test func `a key that is revoked loses nothing: it goes on when it is put right`() throws {
        let meadow = try Meadow()
        defer { meadow.end() }
        let mia = try meadow.member("mia", "7002", "8203")
        try meadow.perform(
            .notification(
                payload: SignedFixtures.body(try meadow.revoke(mia, "8203", uuid: "u-1"))))
        let credentials = try Meadow.credentials.get()
        meadow.appStore.revokeKey(credentials.key.keyID)
        try meadow.start()
        #expect(eventually { !meadow.reconciler.counts.unauthorizedScopes.isEmpty })
        #expect(eventually { (try? meadow.view("mia").queuedRefresh?.job.attempts) == 1 })
        let job = try #require(try meadow.view("mia").queuedRefresh).job
        #expect(job.lastReason == "APP_STORE_UNAUTHORIZED" && !job.lastMessage.isEmpty)
        let count = meadow.appStore.requests.count
        meadow.appStore.accept(credentials.key)
        meadow.clock.advance(Meadow.minute)
        meadow.reconciler.resume()
        #expect(meadow.queueEmpties())
        #expect(meadow.appStore.requests.count > count)
        #expect(meadow.reconciler.counts.unauthorizedScopes.isEmpty)
        let told = meadow.notices.withLock { $0 }
        #expect(told.count == 2)
        #expect(told.last == .recovered(meadow.service.scopes[0].scope))
    }

    @Test func `half a history is kept, changes nobody else, and is finished later`() throws {
        let meadow = try Meadow()
        defer { meadow.end() }
        let mia = try meadow.member("mia", "7002", "8203")
        for number in 1...44 { mia.add(meadow.familyCopy("\(9_000 + number)")) }
        meadow.clock.advance(Meadow.minute)
        let revoke = try meadow.revoke(mia, "8203", uuid: "u-1")
        try meadow.perform(.notification(payload: SignedFixtures.body(revoke)))
        meadow.appStore.script(.transactionHistory, [.usual, .usual, .cut])
        try meadow.start()
        #expect(eventually { (try? meadow.view("mia").queuedRefresh?.job.attempts) == 1 })
        #expect(try meadow.view("mia").transactionCount >= 40)
        #expect(try meadow.view("mia").refreshedAt == 0)
        meadow.clock.advance(Meadow.minute)
        #expect(meadow.queueEmpties())
        #expect(try meadow.view("mia").transactionCount == 45)
        #expect(try meadow.view("mia").refreshedAt > 0)
    }

    @Test func `a crash in mid-rebuild forgets neither the job nor what was read`() throws {
        let first = try Meadow()
        let mia = try first.member("mia", "7002", "8203")
        for number in 1...44 { mia.add(first.familyCopy("\(9_000 + number)")) }
        first.clock.advance(Meadow.minute)
        let revoke = try first.revoke(mia, "8203", uuid: "u-1")
        try first.perform(.notification(payload: SignedFixtures.body(revoke)))
        let isAsked = BlockingQueue<Void>(capacity: 1)
        let gate = BlockingQueue<Void>(capacity: 1)
        first.appStore.script(
            .transactionHistory,
            [
                .usual,
                .slow {
                    _ = isAsked.push(())
                    _ = gate.pop()
                },
            ])
        try first.start()
        _ = isAsked.pop()
        first.reconciler.stop()
        gate.close()
        #expect(try first.queuedCount == 1)
        let second = try Meadow(after: first)
        defer { second.end() }
        #expect(try second.queuedCount == 1)
        #expect(try !second.reason("mia").isGranted || second.view("mia").transactionCount > 1)
        try second.start()
        #expect(second.queueEmpties())
        #expect(try second.view("mia").transactionCount == 45)
        #expect(second.notices.withLock(\.isEmpty) && first.notices.withLock(\.isEmpty))
    }

    // MARK: Missed notifications

    @Test func `what was missed while the server was down is found after its start`() throws {
        let first = try Meadow { $0.backfillInterval = 15 * Meadow.minute }
        let mia = try first.member("mia", "7002", "8203")
        let leo = try first.member("leo", "7003", "8204")
        try first.start()
        #expect(
            eventually {
                (try? first.service.mark(.notificationsComplete, of: first.scope)) != nil
            })
        first.reconciler.stop()
        first.clock.advance(3 * Meadow.day)
        let damaged = try first.notification("TEST", mia, "8203", uuid: "u-0")
        first.appStore.sent(damaged.dropLast(2) + Array("AA".utf8), failed: true)
        first.appStore.sent(try first.revoke(mia, "8203", uuid: "u-1"), failed: true)
        // Apple believes that it arrived: another server took it.
        first.appStore.sent(try first.revoke(leo, "8204", uuid: "u-2"), failed: false)
        for number in 0..<40 {
            first.appStore.sent(
                try first.notification("DID_RENEW", leo, "8204", uuid: "v-\(number)"))
        }
        first.clock.advance(Meadow.minute)
        let second = try Meadow(after: first) { $0.backfillInterval = 15 * Meadow.minute }
        defer { second.end() }
        #expect(try second.reason("mia") == .active && second.reason("leo") == .active)
        try second.start()
        #expect(eventually { second.reconciler.counts.recoveredNotifications == 42 })
        #expect(try !second.reason("mia").isGranted && !second.reason("leo").isGranted)
        #expect(
            eventually {
                (try? second.service.mark(.notificationsComplete, of: second.scope))
                    .flatMap(\.self) == second.clock.now
            })
        #expect(second.reconciler.counts.problems >= 1)
        #expect(second.queueEmpties())
    }

    // MARK: Calls

    @Test func `a dry run shows what a rebuild would change, and changes nothing`() throws {
        let meadow = try Meadow()
        defer { meadow.end() }
        let mia = try meadow.member("mia", "7002", "8203")
        meadow.clock.advance(Meadow.minute)
        mia.revoke("8203", at: meadow.clock.milliseconds)
        let commitCount = meadow.store.commitCount
        let revision = meadow.service.revision
        guard case .rebuild(let dry) = try meadow.ask(meadow.rebuild("mia", isDryRun: true)) else {
            Issue.record("a rebuild is answered as one")
            return
        }
        #expect(dry.changes.map(\.isGranted) == [false])
        #expect(try meadow.reason("mia") == .active)
        #expect(meadow.store.commitCount == commitCount && meadow.service.revision == revision)
        guard case .rebuild(let wet) = try meadow.ask(meadow.rebuild("mia")) else {
            Issue.record("a rebuild is answered as one")
            return
        }
        #expect(wet.changes == dry.changes && wet.source == .appStore)
        #expect(try !meadow.reason("mia").isGranted)
    }

    @Test func `a rebuild that is told to wait says for how long, and is made up for`() throws {
        let meadow = try Meadow()
        defer { meadow.end() }
        let mia = try meadow.member("mia", "7002", "8203")
        mia.revoke("8203", at: meadow.clock.milliseconds)
        let instant = meadow.clock.milliseconds + 2_500
        meadow.appStore.script(.transactionHistory, [.throttled(retryAfter: "\(instant)")])
        let refusal = #expect(throws: Refusal.self) {
            try meadow.ask(meadow.rebuild("mia"), timeout: 1_000)
        }
        #expect(refusal?.reason == .appStoreThrottled && refusal?.status == .unavailable)
        #expect(refusal?.retryAfterMilliseconds == 2_500)
        #expect(try meadow.view("mia").queuedRefresh?.job.trigger == .admin)
        meadow.clock.advance(2_500)
        try meadow.start()
        #expect(meadow.queueEmpties())
        #expect(try !meadow.reason("mia").isGranted)
    }

    @Test func `a page with a damaged item stores the good ones and reports the bad`() throws {
        let meadow = try Meadow()
        defer { meadow.end() }
        let mia = try meadow.member("mia", "7002", "8203")
        mia.add(meadow.familyCopy("8300"))
        mia.add(meadow.familyCopy("8301"))
        mia.damage("8300")
        guard case .rebuild(let reply) = try meadow.ask(meadow.rebuild("mia")) else {
            Issue.record("a rebuild is answered as one")
            return
        }
        #expect(reply.problems.map(\.reason) == [.badSignature])
        #expect(try meadow.view("mia").transactionCount == 2)
    }

    @Test func `a backfill closes the gap once, page by page`() throws {
        let meadow = try Meadow()
        defer { meadow.end() }
        let mia = try meadow.member("mia", "7002", "8203")
        for number in 0..<25 {
            meadow.appStore.sent(
                try meadow.notification("DID_RENEW", mia, "8203", uuid: "u-\(number)"))
        }
        func backfill(isDryRun: Bool) throws -> [Int] {
            var counts: [Int] = []
            var token = ""
            repeat {
                let request = BackfillRequest(
                    scope: meadow.scope, from: Timestamp(milliseconds: Meadow.start - 1),
                    to: Timestamp(milliseconds: Meadow.start + 1), pageToken: token,
                    isDryRun: isDryRun)
                guard case .backfill(let reply) = try meadow.ask(.backfill(request)) else {
                    return []
                }
                counts.append(reply.recovered.count)
                token = reply.nextPageToken
            } while !token.isEmpty
            return counts
        }
        #expect(try backfill(isDryRun: true) == [20, 5])
        #expect(try backfill(isDryRun: false) == [20, 5])
        #expect(try backfill(isDryRun: false) == [0, 0])
        let refusal = #expect(throws: Refusal.self) {
            let request = BackfillRequest(
                scope: meadow.scope, from: Timestamp(milliseconds: Meadow.start - 200 * Meadow.day),
                to: Timestamp(milliseconds: Meadow.start))
            return try meadow.ask(.backfill(request))
        }
        #expect(refusal?.reason == .invalidField)
    }

    @Test func `a test notification is followed until it is here`() throws {
        let meadow = try Meadow()
        defer { meadow.end() }
        func status(_ token: String) throws -> TestNotificationReply? {
            let request = TestNotificationRequest(scope: meadow.scope, token: token)
            guard case .testNotification(let reply) = try meadow.ask(.testNotification(request))
            else { return nil }
            return reply
        }
        let token = try #require(try status("")).token
        meadow.clock.advance(10_000)
        #expect(try #require(try status(token)).isReceived == false)
        let request = BackfillRequest(
            scope: meadow.scope, from: Timestamp(milliseconds: Meadow.start),
            to: meadow.clock.now)
        _ = try meadow.ask(.backfill(request))
        meadow.clock.advance(10_000)
        #expect(try #require(try status(token)).isReceived)
    }
}
