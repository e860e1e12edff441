import Entitlements
import Glibc
import Service
import Storage
import TestSupport
import Testing

@Suite struct CustomerViewTests {
    private func page(
        _ fixture: ServiceFixture, token: String = "", bytes: Int, payloads: Bool = false
    ) throws -> CustomerView {
        var query = CustomerQuery(
            customer: .customer("ann"), scope: fixture.scope, pageToken: token,
            byteCountMax: bytes)
        query.wantsAllPayloads = payloads
        return try fixture.service.customer(query)
    }

    private func makeFixture(_ count: Int) throws -> ServiceFixture {
        let fixture = try ServiceFixture()
        for number in 1...count {
            try fixture.upload(
                "ann",
                try fixture.transaction(
                    "\(number)", original: "1", from: Int64(number) * 100,
                    to: Int64(number) * 100 + 100))
        }
        return fixture
    }

    @Test(arguments: [1, 3_000, 10_000, 1 << 20])
    func `the pages together hold every transaction once, newest first`(bytes: Int) throws {
        let fixture = try makeFixture(20)
        var ids: [String] = []
        var token = ""
        repeat {
            let view = try page(fixture, token: token, bytes: bytes, payloads: true)
            #expect(!view.transactions.isEmpty)
            #expect(view.transactionCount == 20)
            #expect(view.transactions.allSatisfy { !$0.payload.isEmpty })
            #expect(view.entitlements.isEmpty == !token.isEmpty)
            ids += view.transactions.map(\.transaction.transactionID)
            token = view.nextPageToken
        } while !token.isEmpty && ids.count < 100
        #expect(ids == (1...20).reversed().map { "\($0)" })
    }

    @Test func `what an import needs stands beside each transaction`() throws {
        let fixture = try makeFixture(3)
        try fixture.link("ann", .appAccountToken("t"))
        try fixture.link("bob", .originalTransaction("77"))
        try fixture.link("ann", .originalTransaction("77"), transfer: true)
        let renewal = try fixture.renewal("1", signed: 500)
        try fixture.notify(
            "DID_RENEW", signed: 600,
            transaction: try fixture.transaction("2", original: "1", from: 200, to: 300),
            renewal: renewal, status: 1)
        var view = try page(fixture, bytes: 1 << 20, payloads: true)
        #expect(view.transactions.map(\.transaction.transactionID) == ["3", "2", "1"])
        #expect(view.transactions.map(\.renewalPayload) == [renewal, [], []])
        #expect(view.transactions.allSatisfy { $0.isChainLinked })
        var evidence = Evidence()
        evidence.grantNotification = Timestamp(milliseconds: ServiceFixture.date(600))
        evidence.activeStatus = evidence.grantNotification
        #expect(view.transactions.map(\.evidence) == [Evidence(), evidence, Evidence()])
        let moved = try #require(view.links.last)
        #expect(view.links.count == 2 && view.links[0].identity == .appAccountToken("t"))
        #expect(view.links[0].movedAt == 0 && moved.movedAt == 6)
        #expect(moved.identity == .originalTransaction("77"))
        let bob = try fixture.view(.customer("bob"))
        #expect(bob.links.map(\.identity) == [.originalTransaction("77")])
        #expect(bob.links.map(\.movedAt) == [0])
        // One transaction a page: the renewal info still comes once.
        view = try page(fixture, token: "3", bytes: 1, payloads: true)
        #expect(view.transactions.map(\.renewalPayload) == [[]] && view.links.isEmpty)
        view = try page(fixture, bytes: 1 << 20)
        #expect(view.transactions.allSatisfy { $0.renewalPayload.isEmpty })
    }

    @Test func `names that do not fit a quarter of a page are left out`() throws {
        let fixture = try ServiceFixture()
        for number in 1...200 {
            try fixture.upload("ann", try fixture.transaction("\(number)", from: 1))
        }
        let view = try page(fixture, bytes: 8_000)
        #expect(!view.identities.isEmpty && view.identities.count < 80)
        let whole = try fixture.view(.customer("ann"))
        #expect(whole.identities.count == 200)
        #expect(whole.identities.starts(with: view.identities))
    }

    @Test func `a token that is none is refused`() throws {
        let fixture = try makeFixture(2)
        do {
            _ = try page(fixture, token: "99", bytes: 1)
            Issue.record("a stranger's token is taken")
        } catch let refusal as Refusal {
            #expect(refusal.reason == .invalidField)
        }
    }

    @Test func `nobody is not found`() throws {
        let fixture = try ServiceFixture()
        do {
            _ = try fixture.view(.customer("ann"))
            Issue.record("nobody is known")
        } catch let refusal as Refusal {
            #expect(refusal.reason == .unknownCustomer)
        }
    }

    @Test func `a view tells names, household, notifications in order, and what was said`() throws {
        let fixture = try ServiceFixture()
        try fixture.notify(
            "SUBSCRIBED", subtype: "INITIAL_BUY", uuid: "u1",
            transaction: try fixture.transaction(
                "1", to: 9_000, changes: ["appAccountToken": "T", "appTransactionId": "A"]))
        try fixture.link("ann", .originalTransaction("1"), household: "h")
        try fixture.notify(
            "REFUND", uuid: "u2",
            transaction: try fixture.transaction(
                "1", to: 9_000, revoked: 4_000,
                changes: ["appAccountToken": "T", "appTransactionId": "A"]))
        let view = try fixture.view(.customer("ann"))
        #expect(view.customerID == "ann" && view.householdID == "h")
        #expect(view.notifications.map(\.notificationUUID) == ["u1", "u2"])
        #expect(view.notifications.map(\.type) == ["SUBSCRIBED", "REFUND"])
        #expect(view.notifications[0].subtype == "INITIAL_BUY")
        #expect(view.notifications.map(\.disposition) == [.applied, .applied])
        #expect(view.notifications.map(\.transactionID) == ["1", "1"])
        let names = [
            "app_account_token:t", "app_transaction_id:A", "original_transaction_id:1",
        ]
        #expect(view.identities == names)
        #expect(view.audit.map(\.action).contains("LINKED"))
        #expect(view.audit.map(\.action).contains("HOUSEHOLD_JOINED"))
        #expect(view.revision == fixture.service.revision)
        let payload = try #require(view.transactions.first?.payload)
        #expect(
            payload.split(separator: UInt8(ascii: ".")).count == 3,
            "the JWS as Apple signed it is kept")
    }

    @Test func `each product is told with its cause`() throws {
        let fixture = try ServiceFixture()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        try fixture.upload(
            "ann", try fixture.transaction("1", product: "a", to: 9_000),
            try fixture.transaction("2", product: "b", shared: true, revoked: 3_000))
        let statuses = try fixture.view(.customer("ann")).entitlements
        #expect(statuses.map(\.productID) == ["a", "b"])
        #expect(statuses[0].validUntil == ServiceFixture.date(9_000))
        #expect(statuses[0].revokedAt == 0 && !statuses[0].isPaymentReversed)
        #expect(statuses[1].reason == .familyRefunded)
        #expect(statuses[1].revokedAt == ServiceFixture.date(3_000))
        #expect(statuses[1].isPaymentReversed && !statuses[1].isCauseCertain)
    }

    /// Found as a fault: a view read while a batch was on its way from the store to the readers
    /// could show a notification without what it brought.
    @Test func `a view is of one revision, also while a batch is being written`() async throws {
        let store = PausingStore()
        let authority = try ServiceFixture.authority.get()
        let service = try EntitlementService(
            store: store,
            configuration: ServiceConfiguration(
                apps: [
                    AppConfiguration(
                        bundleID: "com.example.meadow", appAppleID: 1_600_000_001,
                        environments: [.production])
                ], roots: [authority.trustedRoot], clock: { Timestamp(milliseconds: 1) }))
        let desk = ServiceDesk(service)
        let scope = try #require(
            desk.scopeIndex(Scope(bundleID: "com.example.meadow", environment: .production)))
        let fixture = try ServiceFixture()
        _ = try desk.perform(
            try fixture.notification(
                "ONE_TIME_CHARGE", uuid: "u1", transaction: try fixture.transaction("1"))
        ).get()
        let refund = try service.prepare(
            try fixture.notification(
                "REFUND", uuid: "u2", transaction: try fixture.transaction("1", revoked: 2_000)))
        let (isWritten, isSeen) = (Flag(), Flag())
        store.onCommit {
            isWritten.set()
            wait(for: isSeen, turns: 200)
        }
        store.onScan { keyspace in
            guard keyspace == .history else { return }
            store.onScan(nil)
            Task.detached { _ = service.commit([refund]) }
            wait(for: isWritten, turns: 2_000)
        }
        let view = try service.customer(
            CustomerQuery(customer: .originalTransaction("1"), scope: scope))
        isSeen.set()
        let isRefunded = view.transactions.first?.transaction.revocationDate != nil
        #expect(isRefunded == (view.notifications.count == 2))
        #expect(view.revision == UInt64(view.notifications.count))
    }
}

/// Sleeps a millisecond at a time until the flag is set, or gives up.
private func wait(for flag: Flag, turns: Int) {
    for _ in 0..<turns where !flag.isSet { usleep(1_000) }
}
