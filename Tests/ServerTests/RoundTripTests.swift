import EntitledClient
import FoundationEssentials
import TestSupport
import Testing

/// Every call against a real server.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct RoundTripTests {
    @Test(arguments: ["127.0.0.1:0", "unix"])
    func `a family from purchase to refund`(listen: String) async throws {
        let server = try await TestServer.start(listen: [listen])
        let client = try server.client()
        defer { client.close() }
        let fixtures = server.fixtures
        _ = try await client.linkCustomer(
            CustomerLink(customerID: "buyer", identity: .appTransaction("A1")))
        _ = try await client.linkCustomer(
            CustomerLink(customerID: "member", identity: .appTransaction("A2")))
        let bought = try await client.ingestNotification(
            try fixtures.posted("ONE_TIME_CHARGE", "100", account: "A1"))
        #expect(bought.disposition == .applied && bought.notificationType == "ONE_TIME_CHARGE")
        #expect(bought.changes.map(\.customerID) == ["buyer"])
        #expect(bought.changes.map(\.isGranted) == [true])
        _ = try await client.ingestNotification(
            try fixtures.posted(
                "ONE_TIME_CHARGE", "200", ownership: "FAMILY_SHARED", account: "A2"))
        let refund = try await client.ingestNotification(
            try fixtures.posted("REFUND", "100", account: "A1", revoked: Dates.refunded))
        #expect(refund.changes.map(\.customerID) == ["buyer"])
        let buyer = try await client.checkAccess(.customer("buyer"), product: "meadow.lifetime")
        #expect(!buyer.isGranted && buyer.reason == .refunded && buyer.ownership == .purchased)
        let member = try await client.checkAccess(.customer("member"), product: "meadow.lifetime")
        #expect(member.isGranted && member.ownership == .familyShared)
        #expect(member.transactionID == "200" && member.revision >= refund.revision)
        let before = try await client.checkAccess(
            AccessQuestion(
                customer: .customer("buyer"), subject: .product("meadow.lifetime"),
                atMilliseconds: Dates.refunded - 1))
        #expect(before.isGranted)
        #expect(try await server.stop() == .exit(0))
    }

    @Test func `what was acknowledged on one connection is seen on every other`() async throws {
        let server = try await TestServer.start(listen: ["127.0.0.1:0", "unix"])
        let writer = try server.client()
        let readers = try (0..<4).map { try server.client(at: $0 % 2) }
        defer { ([writer] + readers).forEach { $0.close() } }
        for index in 0..<60 {
            let id = "\(5_000 + index)"
            let isRevoked = index % 2 == 1
            // By a name of Apple's the store is asked, by the customer's own the table in memory.
            _ = try await writer.linkCustomer(
                CustomerLink(customerID: "c" + id, identity: .originalTransaction(id)))
            _ = try await writer.ingestNotification(
                try server.fixtures.posted("ONE_TIME_CHARGE", id))
            if isRevoked {
                _ = try await writer.ingestNotification(
                    try server.fixtures.posted("REFUND", id, revoked: Dates.refunded))
            }
            for reader in readers {
                for customer in [CustomerReference.customer("c" + id), .originalTransaction(id)] {
                    let answer = try await reader.checkAccess(customer, product: "meadow.lifetime")
                    #expect(answer.isGranted == !isRevoked, "\(customer)")
                }
            }
        }
    }

    @Test func `a revision asked for is waited for, and refused when it does not come`()
        async throws
    {
        let server = try await TestServer.start()
        let client = try server.client()
        let other = try server.client()
        defer { [client, other].forEach { $0.close() } }
        let question = AccessQuestion(
            customer: .originalTransaction("1"), subject: .product("meadow.lifetime"),
            minRevision: 1)
        async let waiting = client.checkAccess(question)
        try await Task.sleep(for: .milliseconds(100))
        _ = try await other.ingestNotification(
            try server.fixtures.posted("ONE_TIME_CHARGE", "1"))
        #expect(try await waiting.isGranted)
        var far = question
        far.minRevision = 1_000_000
        let reason = await Refusals.reason { () async throws(ClientError) in
            try await client.checkAccess(far, timeout: .milliseconds(400))
        }
        #expect(reason == "REVISION_NOT_REACHED")
    }

    @Test func `a repeat is a duplicate, and known facts are stale`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        let body = try server.fixtures.posted("ONE_TIME_CHARGE", "1", uuid: "U1")
        let first = try await client.ingestNotification(body)
        let second = try await client.ingestNotification(body)
        let third = try await client.ingestNotification(
            try server.fixtures.posted("ONE_TIME_CHARGE", "1", uuid: "U2"))
        #expect(first.disposition == .applied && second.disposition == .duplicate)
        #expect(third.disposition == .stale)
        #expect(second.changes.isEmpty && third.changes.isEmpty)
    }

    @Test func `a bare JWS is taken like a body`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        let fixtures = server.fixtures
        let jws = try fixtures.notification(
            "ONE_TIME_CHARGE", uuid: "U", signed: Dates.bought + 3_000,
            data: fixtures.notificationData(
                transaction: try fixtures.transaction(
                    "1", product: "p", purchased: Dates.bought)))
        #expect(try await client.ingestNotification(jws).disposition == .applied)
        #expect(try await client.checkAccess(.originalTransaction("1"), product: "p").isGranted)
    }

    @Test func `Production and Sandbox are two worlds`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        var sandbox = server.fixtures
        sandbox.environment = "Sandbox"
        _ = try await client.ingestNotification(try sandbox.posted("ONE_TIME_CHARGE", "1"))
        let scopes: [(Scope?, Bool)] = [
            (nil, false), (Scope(), false), (Scope(environment: .sandbox), true),
            (Scope(bundleID: "com.example.meadow", environment: .sandbox), true),
        ]
        for (scope, isGranted) in scopes {
            let answer = try await client.checkAccess(
                AccessQuestion(
                    customer: .originalTransaction("1"), subject: .product("meadow.lifetime"),
                    scope: scope))
            #expect(answer.isGranted == isGranted)
        }
    }

    @Test func `a batch answers in order with one revision`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        for id in 0..<20 where id % 3 == 0 {
            _ = try await client.ingestNotification(
                try server.fixtures.posted("ONE_TIME_CHARGE", "\(100 + id)"))
        }
        let answers = try await client.checkAccessBatch(
            (0..<1_000).map {
                AccessQuestion(
                    customer: .originalTransaction("\(100 + $0)"),
                    subject: .product("meadow.lifetime"))
            })
        #expect(answers.answers.count == 1_000)
        #expect(
            answers.answers.enumerated().allSatisfy {
                $0.element.isGranted == ($0.offset < 20 && $0.offset % 3 == 0)
            })
        #expect(answers.answers.allSatisfy { $0.revision == answers.revision })
    }

    @Test func `a customer of a thousand transactions comes whole, and is rebuilt`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        let ids = (0..<1_000).map { "\(10_000 + $0)" }
        for start in stride(from: 0, to: ids.count, by: 200) {
            let texts = try ids[start..<start + 200].map {
                try server.fixtures.signedText($0, product: "meadow.item.\($0)")
            }
            _ = try await client.ingestTransactions(
                TransactionUpload(customerID: "heavy", signedTransactions: texts))
        }
        let customer = try await client.customer(.customer("heavy"), withPayloads: true)
        #expect(customer.customerID == "heavy")
        #expect(Set(customer.transactions.map(\.transactionID)) == Set(ids))
        #expect(
            customer.transactions.count == ids.count && customer.entitlements.count == ids.count)
        #expect(
            customer.transactions.allSatisfy { $0.signedPayload.split(separator: ".").count == 3 })
        let rebuilt = try await client.rebuildCustomer(.customer("heavy"))
        #expect(rebuilt.transactionCount == 1_000 && rebuilt.changes.isEmpty)
        #expect(rebuilt.source == .storedFacts)
    }

    @Test func `a household goes with its buyer's refund in one moment`() async throws {
        let server = try await TestServer.start()
        let (client, other) = (try server.client(), try server.client())
        defer { [client, other].forEach { $0.close() } }
        for (name, account, id, ownership) in [
            ("buyer", "A1", "1", "PURCHASED"), ("one", "A2", "2", "FAMILY_SHARED"),
            ("two", "A3", "3", "FAMILY_SHARED"),
        ] {
            _ = try await client.linkCustomer(
                CustomerLink(
                    customerID: name, identity: .appTransaction(account), household: .join("h")))
            _ = try await client.ingestNotification(
                try server.fixtures.posted(
                    "ONE_TIME_CHARGE", id, ownership: ownership, account: account))
        }
        let refund = try await client.ingestNotification(
            try server.fixtures.posted("REFUND", "1", account: "A1", revoked: Dates.refunded))
        #expect(Set(refund.changes.map(\.customerID)) == ["buyer", "one", "two"])
        for name in ["one", "two"] {
            let answer = try await other.checkAccess(.customer(name), product: "meadow.lifetime")
            #expect(!answer.isGranted && answer.reason == .familySuspended)
        }
        let customer = try await other.customer(.customer("one"))
        #expect(customer.householdID == "h")
        #expect(customer.transactions.map(\.isSuspended) == [true])
    }

    /// Copies that differ from the purchase in their dates are of no family that can be
    /// recognised: only the app's word ties them together, and only where the periods overlap.
    @Test func `a refund reaches the household that was declared, and nobody else`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        for (name, account, id, day, household) in [
            ("buyer", "A1", "1", 0, "h"), ("one", "A2", "2", 1, "h"),
            ("neighbour", "A3", "3", 1, "n"), ("stranger", "A4", "4", 0, ""),
        ] as [(String, String, String, Int64, String)] {
            _ = try await client.linkCustomer(
                CustomerLink(
                    customerID: name, identity: .appTransaction(account),
                    household: household.isEmpty ? .unchanged : .join(household)))
            let jws = try server.fixtures.transaction(
                id, product: "meadow.lifetime", purchased: Dates.bought + day * 86_400_000,
                ownership: id == "1" ? "PURCHASED" : "FAMILY_SHARED",
                changes: ["appTransactionId": .string(account)])
            _ = try await client.ingestTransactions(
                TransactionUpload(
                    customerID: name,
                    signedTransactions: [String(decoding: jws, as: UTF8.self)]))
        }
        let refund = try await client.ingestNotification(
            try server.fixtures.posted("REFUND", "1", account: "A1", revoked: Dates.refunded))
        #expect(Set(refund.changes.map(\.customerID)) == ["buyer", "one"])
        for (name, isGranted) in [
            ("buyer", false), ("one", false), ("neighbour", true), ("stranger", true),
        ] {
            let answer = try await client.checkAccess(.customer(name), product: "meadow.lifetime")
            #expect(answer.isGranted == isGranted, "\(name)")
        }
    }
}

extension RoundTripTests {
    @Test func `customers are listed page by page as they were stored`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        var lastRevision: UInt64 = 0
        for index in 0..<5 {
            let upload = TransactionUpload(
                customerID: "u-\(index)",
                signedTransactions: [try server.fixtures.signedText("\(100 + index)")])
            lastRevision = try await client.ingestTransactions(upload).revision
        }
        var names: [CustomerReference?] = []
        var pageCount = 0
        for try await page in client.customerPages(pageSize: 2) {
            names += page.entries.map(\.customer)
            pageCount += 1
        }
        #expect(Set(names) == Set((0..<5).map { CustomerReference.customer("u-\($0)") }))
        #expect(names.count == 5 && pageCount >= 3)
        let changed = try await client.listCustomers(changedSince: lastRevision)
        #expect(changed.entries.map(\.customer) == [.customer("u-4")])
        let state = try await client.reconciliation()
        #expect(!state.isAppStoreAPIConfigured && state.queuedCount == 0)
        await #expect(throws: ClientError.self) { try await client.testNotification() }
    }
}
