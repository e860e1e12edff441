import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct PlacementTests {
    private func carrying(
        _ fixture: ServiceFixture, _ id: String, original: String? = nil, product: String = "p",
        from: Int64 = 1_000, token: String? = nil, account: String? = nil, signed: Int64? = nil
    ) throws -> [UInt8] {
        try fixture.transaction(
            id, original: original, product: product, from: from, signed: signed,
            changes: [
                "appAccountToken": token.map { .string($0) },
                "appTransactionId": account.map { .string($0) },
            ])
    }

    @Test func `facts of a person never named are found under Apple's names`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("", try carrying(fixture, "2", original: "1", token: "T", account: "A"))
        let names: [CustomerReference] = [
            .originalTransaction("1"), .appAccountToken("t"), .appTransaction("A"),
        ]
        for name in names {
            let verdict = try fixture.desk.check(name, "p", in: fixture.scope)
            #expect(verdict.reason == .active, "\(name)")
            #expect(try fixture.view(name).customerID == "A")
        }
        #expect(
            try fixture.desk.check(.originalTransaction("2"), "p", in: fixture.scope).reason
                == .unknownCustomer)
        #expect(try fixture.reason("A") == .unknownCustomer)
    }

    @Test func `several unnamed people turn out to be one, and lose nothing`() throws {
        let fixture = try ServiceFixture()
        try fixture.notify("ONE_TIME_CHARGE", transaction: try carrying(fixture, "1", product: "a"))
        try fixture.notify("ONE_TIME_CHARGE", transaction: try carrying(fixture, "2", product: "b"))
        try fixture.notify(
            "ONE_TIME_CHARGE", transaction: try carrying(fixture, "3", product: "c", token: "t"))
        #expect(fixture.service.reader.serverInfo().customerCount == 3)
        try fixture.notify(
            "PRICE_INCREASE",
            transaction: try carrying(
                fixture, "1", product: "a", token: "t", account: "A", signed: 2_000))
        #expect(fixture.service.reader.serverInfo().customerCount == 2)
        try fixture.notify(
            "PRICE_INCREASE",
            transaction: try carrying(fixture, "2", product: "b", account: "A", signed: 2_000))
        #expect(fixture.service.reader.serverInfo().customerCount == 1)
        let changes = try fixture.link("ann", .originalTransaction("3")).changes
        #expect(changes.filter { $0.customerID == "ann" }.map(\.productID) == ["a", "b", "c"])
        let view = try fixture.view(.customer("ann"))
        #expect(view.notifications.count == 5)
        #expect(view.transactionCount == 3)
        #expect(fixture.service.reader.serverInfo().customerCount == 1)
        #expect(fixture.service.reader.serverInfo().transactionCount == 3)
    }

    @Test func `who was linked before the facts gets them when they come`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("ann", .appAccountToken("t"))
        try fixture.link("ann", .appTransaction("A"))
        #expect(try fixture.reason("ann") == .noPurchase)
        try fixture.upload("", try carrying(fixture, "1", product: "a", token: "T"))
        try fixture.upload("", try carrying(fixture, "2", product: "b", account: "A"))
        #expect(try fixture.reason("ann", "a") == .active)
        #expect(try fixture.reason("ann", "b") == .active)
        #expect(fixture.service.reader.serverInfo().customerCount == 1)
    }

    /// Two tokens in one chain, each of a named customer: in every order of facts and of links.
    @Test(arguments: [[0, 1], [1, 0]], [[0, 1], [1, 0]])
    func `where two named customers meet the newest purchase's token decides`(
        facts: [Int], links: [Int]
    ) throws {
        let fixture = try ServiceFixture()
        for link in links {
            try fixture.link(["ana", "bel"][link], .appAccountToken(["ta", "tb"][link]))
        }
        let copies = [
            try carrying(fixture, "1", token: "ta"),
            try carrying(fixture, "2", original: "1", product: "q", from: 2_000, token: "tb"),
        ]
        for fact in facts {
            let reply = try fixture.notify("SUBSCRIBED", transaction: copies[fact])
            #expect(reply.disposition == .applied)
        }
        #expect(try fixture.reason("ana") == .noPurchase)
        #expect(try fixture.reason("ana", "q") == .noPurchase)
        #expect(try fixture.reason("bel") == .active)
        #expect(try fixture.reason("bel", "q") == .active)
        let audits = try ["ana", "bel"].map { try fixture.view(.customer($0)).audit }
        #expect(audits.contains { $0.map(\.action).contains("IDENTITY_CONFLICT") })
        let history = try fixture.view(.originalTransaction("1"))
        #expect(history.customerID == "bel")
        #expect(history.transactionCount == 2)
    }

    /// The second link comes when the facts have made one person of both names: it is a claim to
    /// what another named customer has, and nothing moves without `transfer`.
    @Test func `a link to what another named customer holds moves nothing`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("", try carrying(fixture, "1", token: "ta", account: "A"))
        try fixture.upload("", try carrying(fixture, "2", product: "q", account: "A"))
        try fixture.link("ana", .originalTransaction("1"))
        let revision = fixture.service.revision
        for identity in [
            CustomerReference.originalTransaction("2"), .appTransaction("A"),
            .appAccountToken("ta"), .originalTransaction("1"),
        ] {
            let call = WriteCall.link(
                LinkRequest(customerID: "bel", identity: identity, scope: fixture.scope))
            #expect(fixture.refusal(call) == .identityConflict, "\(identity)")
        }
        #expect(fixture.service.revision == revision)
        #expect(try fixture.reason("bel") == .unknownCustomer)
        #expect(try fixture.reason("ana") == .active)
        #expect(try fixture.reason("ana", "q") == .active)
        #expect(try fixture.view(.originalTransaction("2")).customerID == "ana")
    }

    @Test func `a conflict in a notification is stored, applied to the owner and audited`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("ana", .originalTransaction("1"))
        try fixture.link("bel", .appAccountToken("tb"))
        let reply = try fixture.notify(
            "ONE_TIME_CHARGE", transaction: try carrying(fixture, "1", token: "tb"))
        #expect(reply.disposition == .applied)
        #expect(try fixture.reason("ana") == .active)
        #expect(try fixture.reason("bel") == .noPurchase)
        #expect(
            try fixture.view(.customer("ana")).audit.map(\.action).contains("IDENTITY_CONFLICT"))
        // What comes next under her token is hers.
        try fixture.upload("", try carrying(fixture, "2", product: "q", token: "tb"))
        #expect(try fixture.reason("bel", "q") == .active)
        #expect(try fixture.reason("ana", "q") == .noPurchase)
    }

    @Test func `an unnamed person's chain is moved whole when a newer token names its owner`()
        throws
    {
        let fixture = try ServiceFixture()
        try fixture.link("ana", .appAccountToken("ta"))
        try fixture.upload("", try carrying(fixture, "1"))
        try fixture.upload("", try carrying(fixture, "2", original: "1", from: 2_000, token: "ta"))
        #expect(try fixture.view(.customer("ana")).transactionCount == 2)
    }

    @Test func `names that only look alike are two people`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("\u{E9}", try carrying(fixture, "1"))
        try fixture.upload("e\u{301}", try carrying(fixture, "2"))
        #expect(fixture.service.reader.serverInfo().customerCount == 2)
        #expect(try fixture.view(.customer("\u{E9}")).transactionCount == 1)
        try fixture.link("a\u{0}", .originalTransaction("3"))
        #expect(try fixture.reason("a") == .unknownCustomer)
        #expect(try fixture.reason("a\u{0}") == .noPurchase)
    }

    // MARK: Signed copies

    private func payloadCount(_ fixture: ServiceFixture) throws -> Int {
        var count = 0
        try fixture.store.scan(.payloads, prefix: [], from: nil, reversed: false) { _, _ in
            count += 1
            return true
        }
        return count
    }

    private func payload(_ fixture: ServiceFixture) throws -> [UInt8]? {
        try fixture.view(.originalTransaction("1")).transactions.first?.payload
    }

    @Test func `what a notification brought is stored with it alone, and comes back`() throws {
        let fixture = try ServiceFixture()
        let bought = try fixture.transaction("1", to: 9_000)
        let renewal = try fixture.renewal("1", signed: 1_500)
        try fixture.notify("SUBSCRIBED", uuid: "u1", transaction: bought, renewal: renewal)
        #expect(try payloadCount(fixture) == 1)
        #expect(try payload(fixture) == bought)
        let newer = try fixture.transaction("1", to: 9_500, signed: 2_000)
        try fixture.notify("RENEWAL_EXTENDED", uuid: "u2", signed: 2_500, transaction: newer)
        #expect(try payloadCount(fixture) == 2)
        #expect(try payload(fixture) == newer)
        try fixture.link("ann", .originalTransaction("1"))
        #expect(try payload(fixture) == newer)
    }

    @Test func `the copy that counts is found, whichever way it came`() throws {
        let fixture = try ServiceFixture()
        let first = try fixture.transaction("1", to: 9_000, signed: 1_000)
        try fixture.upload("ann", first, renewals: [try fixture.renewal("1", signed: 1_000)])
        #expect(try payloadCount(fixture) == 2)
        #expect(try payload(fixture) == first)
        // The copies that came by themselves give way to those in the notification.
        let second = try fixture.transaction("1", to: 9_100, signed: 2_000)
        try fixture.notify(
            "RENEWAL_EXTENDED", signed: 2_100, transaction: second,
            renewal: try fixture.renewal("1", signed: 2_000))
        #expect(try payloadCount(fixture) == 1)
        #expect(try payload(fixture) == second)
        // What is older changes nothing.
        try fixture.upload("ann", first)
        #expect(try payload(fixture) == second)
        let third = try fixture.transaction("1", to: 9_200, signed: 3_000)
        try fixture.upload("ann", third)
        #expect(try payload(fixture) == third)
        #expect(try payloadCount(fixture) == 2)
    }

    @Test func `of copies signed in one millisecond one counts, in any order`() throws {
        let copies = ["FRA", "USA"].map { storefront in
            { (fixture: ServiceFixture) in
                try fixture.transaction(
                    "1", to: 9_000, changes: ["storefront": .string(storefront)])
            }
        }
        let infos: [FixtureChanges] = [["autoRenewStatus": 0], ["autoRenewStatus": 1]]
        var payloads: Set<[UInt8]> = []
        var statuses: Set<Int32?> = []
        for order in [[0, 1], [1, 0]] {
            for isNotifiedFirst in [true, false] {
                let fixture = try ServiceFixture()
                for (position, index) in order.enumerated() {
                    let copy = try copies[index](fixture)
                    let info = try fixture.renewal("1", signed: 1_000, changes: infos[index])
                    if (position == 0) == isNotifiedFirst {
                        try fixture.notify("DID_RENEW", transaction: copy, renewal: info)
                    } else {
                        try fixture.upload("", copy, renewals: [info])
                    }
                }
                let bytes = try #require(try payload(fixture))
                // Signatures differ from one signing to the next.
                payloads.insert(Array(bytes.split(separator: UInt8(ascii: "."))[1]))
                let stored = try fixture.store.value(
                    for: Key.of(CustomerKey(scope: ScopeNumber(1), number: 1), "1"), in: .renewals)
                statuses.insert(
                    try RecordCodec.decodeRenewal(try #require(stored)).autoRenewStatus)
            }
        }
        #expect(payloads.count == 1)
        #expect(statuses.count == 1)
    }
}
