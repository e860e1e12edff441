import AppStore
import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// V1 bodies where somebody fetches from Apple: a hint, and never more.
@Suite struct HintsTests {
    private func body(
        _ type: String = "INITIAL_BUY", top: FixtureJSON? = nil, items: [FixtureJSON] = [],
        pending: [FixtureJSON] = [], environment: String = "PROD", password: FixtureJSON? = nil,
        bundleID: String = "com.example.meadow"
    ) -> WriteCall {
        var receipt: FixtureJSON = ["environment": "Production", "status": 0]
        receipt["latest_receipt_info"] = .array(items)
        receipt["pending_renewal_info"] = .array(pending)
        var body: FixtureJSON = [
            "notification_type": .string(type), "password": password ?? .string(V1Tests.secret),
            "environment": .string(environment), "bid": .string(bundleID),
            "auto_renew_status": "true", "unified_receipt": receipt,
        ]
        body["original_transaction_id"] = top
        return .notification(payload: Array(body.text.utf8))
    }

    private func item(
        _ id: String, original: String? = nil, product: String = "p", more: FixtureChanges = [:]
    ) -> FixtureJSON {
        let item: FixtureJSON = [
            "transaction_id": .string(id), "original_transaction_id": .string(original ?? id),
            "product_id": .string(product), "quantity": "1",
        ]
        return item.changed(more)
    }

    @discardableResult
    private func deliver(
        _ call: WriteCall, to fixture: ServiceFixture
    ) throws -> NotificationReply {
        guard case .notification(let reply) = try fixture.desk.perform(call).get() else {
            throw UnexpectedReply()
        }
        return reply
    }

    /// V1-1: every shape of its fields; granted once Apple has said so, signed.
    @Test(arguments: ["PROD", "Prod", "Production"], [false, true])
    func `V1-1: numbers, strings and three names for one environment`(
        environment: String, isNumeric: Bool
    ) throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.link("ben", .originalTransaction("1000000900000001"))
        let id: FixtureJSON =
            isNumeric ? .integer(1_000_000_900_000_001) : .string("1000000900000001")
        let call = body(
            items: [
                item(
                    "1000000900000001",
                    more: [
                        "transaction_id": id, "original_transaction_id": id,
                        "quantity": isNumeric ? 1 : "1",
                        "is_trial_period": isNumeric ? false : "false",
                        "purchase_date_ms": .integer(ServiceFixture.date(1_000)),
                        "expires_date_ms": .string("\(ServiceFixture.date(9_000))"),
                    ])
            ],
            pending: [["auto_renew_status": "1", "original_transaction_id": id]],
            environment: environment)
        let reply = try deliver(call, to: fixture)
        #expect(reply.disposition == .applied)
        #expect(reply.changes == [])
        #expect(try fixture.reason("ben") == .noPurchase)
        #expect(try fixture.queue() == ["ben V1_HINT"])
        #expect(try deliver(call, to: fixture).disposition == .duplicate)
        let plan = try fixture.queuedPlan()
        #expect(plan.scope.environment == .production)
        #expect(
            plan.targets == [RefreshTarget(id: "1000000900000001", chains: ["1000000900000001"])])
        try fixture.apply(
            fixture.history(fixture.transaction("1000000900000001", to: 9_000)), by: plan)
        #expect(try fixture.reason("ben") == .active)
        #expect(try fixture.reason("ben", at: 9_000) == .expired)
        #expect(try fixture.queue() == [])
        #expect(try fixture.view(.customer("ben")).notifications.map(\.type) == ["INITIAL_BUY"])
    }

    /// V1-3: a cancellation because of an upgrade.
    @Test func `V1-3: what Apple says of an upgrade counts, not the body`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.link("dov", .originalTransaction("20"))
        try deliver(
            body(
                "CANCEL",
                items: [
                    item(
                        "20",
                        more: [
                            "cancellation_date_ms": .integer(ServiceFixture.date(3_000)),
                            "is_upgraded": "true",
                        ]), item("21", original: "20", product: "pro"),
                ]), to: fixture)
        try fixture.apply(
            fixture.history(
                fixture.transaction("20", to: 90_000, changes: ["isUpgraded": true]),
                fixture.transaction("21", original: "20", product: "pro", from: 3_000, to: 93_000)),
            by: try fixture.queuedPlan())
        #expect(try fixture.reason("dov") == .upgraded)
        #expect(try fixture.reason("dov", "pro") == .active)
    }

    /// V1-5: at most a hundred, and absence proves nothing.
    @Test func `V1-5: a hundred of a hundred and thirty-seven take nothing away`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload(
            "fox", try fixture.transaction("40", product: "life"),
            try fixture.transaction("41", to: 2_000))
        let stored = try (42...176).map {
            try fixture.transaction("\($0)", original: "41", from: 2_000, to: 3_000)
        }
        let upload = TransactionUpload(customerID: "fox", signedTransactions: stored)
        _ = try fixture.desk.perform(.transactions(upload)).get()
        try deliver(
            body("DID_RENEW", items: (78...177).map { item("\($0)", original: "41") }),
            to: fixture)
        #expect(try fixture.queue() == ["fox V1_HINT"])
        // Apple's history may be short as well.
        try fixture.apply(
            fixture.history(
                fixture.transaction("177", original: "41", from: 4_000, to: 90_000)),
            by: try fixture.queuedPlan())
        #expect(try fixture.view(.customer("fox")).transactionCount == 138)
        #expect(try fixture.reason("fox", "life") == .active)
        #expect(try fixture.reason("fox") == .active)
    }

    /// V1-6: no secret, no state.
    @Test func `V1-6: a wrong password or app queues nobody`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.link("mal", .originalTransaction("1"))
        let revision = fixture.service.revision
        for password in ["wrong", "m\u{0}adow-test-secret", ""] as [FixtureJSON] + [.null] {
            #expect(
                fixture.refusal(body(items: [item("1")], password: password))
                    == .v1Unauthenticated)
        }
        #expect(
            fixture.refusal(body(items: [item("1")], bundleID: "com.example.other")) == .wrongApp)
        #expect(try fixture.queue() == [])
        #expect(fixture.service.revision == revision)
    }

    @Test func `a body that names nobody has no effect`() throws {
        let fixture = try ServiceFixture.fetching()
        #expect(try deliver(body(), to: fixture).disposition == .noEffect)
        #expect(try fixture.queue() == [])
    }

    @Test func `a chain in the top level, in the receipt or pending leads to its holder`() throws {
        let bodies = [
            body(top: 7), body(top: "7"), body(items: [item("9", original: "7")]),
            body(pending: [["original_transaction_id": "7"]]),
            // Not documented, and no reason to stop: only the transaction is named.
            body(items: [["transaction_id": "8"]]),
        ]
        for (index, call) in bodies.enumerated() {
            let fixture = try ServiceFixture.fetching()
            try fixture.upload("ann", try fixture.transaction("8", original: "7"))
            #expect(try deliver(call, to: fixture).disposition == .applied)
            #expect(try fixture.queue() == ["ann V1_HINT"], "\(index)")
        }
    }

    @Test func `everybody who has one of the chains is asked about`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("ann", try fixture.transaction("1"))
        try fixture.upload("bob", try fixture.transaction("2"))
        try deliver(body(items: [item("1"), item("2"), item("3")]), to: fixture)
        #expect(try fixture.queue() == ["ann V1_HINT", "bob V1_HINT"])
    }

    /// The first word of a purchase: nobody knows the chain yet.
    @Test func `a stranger's chain is asked for, and grants nothing until Apple has answered`()
        throws
    {
        let fixture = try ServiceFixture.fetching()
        let reply = try deliver(body(items: [item("5"), item("6")]), to: fixture)
        #expect(reply.disposition == .applied)
        #expect(try fixture.queue() == ["5 V1_HINT", "6 V1_HINT"])
        for chain in ["5", "6"] {
            let verdict = try fixture.desk.check(
                .originalTransaction(chain), "p", in: fixture.scope)
            #expect(verdict.reason == .noPurchase)
        }
        let reopened = try ServiceFixture.fetching(store: fixture.store)
        let due = try reopened.service.dueRefreshes(at: .distantFuture, countMax: 10).due
        let plan = try #require(try reopened.service.refreshPlan(for: due[0].key))
        #expect(plan.targets == [RefreshTarget(id: "5", chains: ["5"])])
        #expect(plan.wantsStatuses)
        // One answer holds the chains of the whole account; then they are one person.
        let account: FixtureChanges = ["appTransactionId": "A"]
        try reopened.apply(
            reopened.history(
                reopened.transaction("5", changes: account),
                reopened.transaction("6", product: "q", changes: account)), by: plan)
        #expect(try reopened.queue() == ["A V1_HINT"])
        #expect(reopened.service.reader.serverInfo().customerCount == 1)
        try reopened.apply(try reopened.history(), by: try reopened.queuedPlan())
        #expect(try reopened.queue() == [])
        try reopened.link("ann", .originalTransaction("6"))
        #expect(try reopened.reason("ann") == .active)
        #expect(try reopened.reason("ann", "q") == .active)
    }

    @Test(arguments: [false, true])
    func `a link before or after the body finds the same person`(isFirst: Bool) throws {
        let fixture = try ServiceFixture.fetching()
        if isFirst { try fixture.link("ann", .originalTransaction("5")) }
        try deliver(body(items: [item("5")]), to: fixture)
        if !isFirst { try fixture.link("ann", .originalTransaction("5")) }
        #expect(try fixture.queue() == ["ann V1_HINT"])
        #expect(try fixture.reason("ann") == .noPurchase)
        #expect(fixture.service.reader.serverInfo().customerCount == 1)
        try fixture.apply(
            fixture.history(fixture.transaction("5")), by: try fixture.queuedPlan())
        #expect(try fixture.reason("ann") == .active)
        #expect(try fixture.view(.customer("ann")).identities == ["original_transaction_id:5"])
        let reopened = try ServiceFixture.fetching(store: fixture.store)
        #expect(try reopened.reason("ann") == .active)
    }

    @Test func `that two chains stood in one body makes them no one person's`() throws {
        let fixture = try ServiceFixture.fetching()
        try deliver(body(items: [item("5"), item("6")]), to: fixture)
        try fixture.link("ann", .originalTransaction("5"))
        try fixture.notify("ONE_TIME_CHARGE", transaction: try fixture.transaction("6"))
        #expect(try fixture.reason("ann") == .noPurchase)
        try fixture.link("bob", .originalTransaction("6"))
        #expect(try fixture.reason("bob") == .active)
    }

    /// Renewal info names no app: an unsigned body must not vouch for its chain.
    @Test func `a chain that only a body named lends renewal info no credit`() throws {
        let fixture = try ServiceFixture.fetching()
        try deliver(body(items: [item("5")]), to: fixture)
        let renewal = try fixture.renewal("5", signed: 2_000)
        let call = WriteCall.transactions(
            TransactionUpload(customerID: "ann", signedRenewals: [renewal]))
        #expect(fixture.refusal(call) == .renewalMismatch)
        try fixture.notify("SUBSCRIBED", transaction: try fixture.transaction("5", to: 9_000))
        _ = try fixture.desk.perform(call).get()
    }

    @Test func `a body of thousands of chains is cut to what a receipt can hold`() throws {
        let fixture = try ServiceFixture.fetching()
        try deliver(body(items: (1...3_000).map { item("\($0)") }), to: fixture)
        #expect(try fixture.queue().count == 16)
        try fixture.upload("ann", try fixture.transaction("200", product: "a"))
        try fixture.upload("bob", try fixture.transaction("201", product: "b"))
        try deliver(
            body("DID_RENEW", items: (100...3_000).map { item("\($0)") }), to: fixture)
        #expect(try fixture.queue().filter { $0.contains("ann") || $0.contains("bob") }.count == 2)
    }
}
