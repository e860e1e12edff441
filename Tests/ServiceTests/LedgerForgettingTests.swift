import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct LedgerForgettingTests {
    static let names = ServiceFixture.named(token: "token-of-mary", account: "account-of-mary")
    static let texts = ["mary-smith", "token-of-mary", "account-of-mary", "home-of-mary"]

    /// Mary with a purchase of two copies, a link, a household of her own and a renewal info.
    static func makeMary(_ fixture: ServiceFixture) throws {
        try fixture.link("mary-smith", .originalTransaction("10"), household: "home-of-mary")
        try fixture.notify(
            "SUBSCRIBED", transaction: try fixture.transaction("10", to: 9_000, changes: names),
            renewal: try fixture.renewal(
                "10", signed: 1_500, changes: ["appAccountToken": .string("token-of-mary")]))
        try fixture.upload(
            "mary-smith", try fixture.transaction("11", product: "q", changes: names),
            renewals: [try fixture.renewal("11", signed: 2_000)])
    }

    @Test func `his names and the bytes go, what counts stays, and it checks out`() throws {
        let fixture = try ServiceFixture()
        try Self.makeMary(fixture)
        try fixture.upload("bob", try fixture.transaction("20", to: 9_000))
        try fixture.notify(
            "REFUND", signed: 3_000,
            transaction: try fixture.transaction(
                "11", product: "q", revoked: 3_000, changes: Self.names))
        #expect(try fixture.traces(of: Self.texts).count > 5)
        let before = try fixture.view(.customer("mary-smith"))
        let reply = try fixture.forget(.customer("mary-smith"))
        #expect(try fixture.traces(of: Self.texts) == [])
        #expect(try fixture.checkFindings() == [])
        #expect(reply.names == [] && reply.nameCount == 3 && reply.transactionCount == 2)
        #expect(reply.payloadCount == 3 && !reply.isInHousehold && !reply.isErased)
        #expect(reply.auditCount > 0 && reply.revision == fixture.service.revision)
        for reference: CustomerReference in [
            .customer("mary-smith"), .appAccountToken("token-of-mary"),
            .appTransaction("account-of-mary"),
        ] {
            let verdict = try fixture.desk.check(
                reference, "p", at: ServiceFixture.date(5_000), in: fixture.scope)
            #expect(verdict.reason == .unknownCustomer, "\(reference)")
            #expect(fixture.refusal(fixture.forgetCall(reference)) == .unknownCustomer)
        }
        // He paid: the purchase is there.
        #expect(try fixture.reason(chain: "10") == .active)
        #expect(try fixture.reason(chain: "11", "q") == .refunded)
        #expect(try fixture.reason("bob") == .active)
        let after = try fixture.view(.originalTransaction("10"))
        #expect(after.entitlements == before.entitlements)
        #expect(after.notifications == before.notifications)
        #expect(after.identities == ["original_transaction_id:10", "original_transaction_id:11"])
        #expect(after.customerID == "10" && after.householdID == "")
        #expect(after.transactions.count == before.transactions.count)
        for (old, new) in zip(before.transactions, after.transactions) {
            var expected = old.transaction
            expected.appAccountToken = nil
            expected.appTransactionID = nil
            #expect(new.transaction == expected && new.payload.isEmpty && !old.payload.isEmpty)
        }
        let last = try #require(after.audit.last)
        #expect(last.action == "FORGOTTEN" && last.customer == "#\(reply.number)")
    }

    @Test func `a repeat of a notification of his stays a repeat`() throws {
        let fixture = try ServiceFixture()
        let jws = try fixture.transaction("10", to: 9_000, changes: Self.names)
        try fixture.notify("SUBSCRIBED", uuid: "the-uuid", transaction: jws)
        try fixture.forget(.appAccountToken("token-of-mary"))
        let again = try fixture.notify("SUBSCRIBED", uuid: "the-uuid", transaction: jws)
        #expect(again.disposition == .duplicate)
        #expect(try fixture.traces(of: Self.texts) == [])
    }

    @Test func `twice is unknown by name, and the same by the number's purchase`() throws {
        let fixture = try ServiceFixture()
        try Self.makeMary(fixture)
        let first = try fixture.forget(.customer("mary-smith"))
        #expect(fixture.refusal(fixture.forgetCall(.customer("mary-smith"))) == .unknownCustomer)
        let again = try fixture.forget(.originalTransaction("10"))
        #expect(again.number == first.number && again.nameCount == 0 && again.payloadCount == 0)
        #expect(again.transactionCount == 2)
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `a dry run tells what would go, and changes nothing`() throws {
        let fixture = try ServiceFixture()
        try Self.makeMary(fixture)
        let records = try fixture.records()
        let reply = try fixture.forget(.customer("mary-smith"), dryRun: true)
        #expect(
            reply.names == [
                "app_account_token:token-of-mary", "app_transaction_id:account-of-mary",
                "customer_id:mary-smith",
            ])
        #expect(reply.nameCount == 3 && reply.revision == fixture.service.revision)
        #expect(try fixture.records() == records)
        #expect(try fixture.reason("mary-smith") == .active)
        let done = try fixture.forget(.customer("mary-smith"))
        #expect(done.payloadCount == reply.payloadCount && done.auditCount == reply.auditCount)
    }

    @Test func `names of copies that were replaced go too`() throws {
        let fixture = try ServiceFixture()
        for (index, token) in ["token-one", "token-two", "token-six"].enumerated() {
            try fixture.notify(
                "SUBSCRIBED",
                transaction: try fixture.transaction(
                    "10", to: 9_000, signed: 1_000 + Int64(index),
                    changes: ["appAccountToken": .string(token)]))
        }
        try fixture.upload(
            "mary-smith",
            try fixture.transaction(
                "10", to: 9_000, signed: 2_000, changes: ["appAccountToken": .string("token-ten")]))
        let tokens = ["token-one", "token-two", "token-six", "token-ten"]
        #expect(try fixture.forget(.appAccountToken("token-one")).nameCount == 5)
        #expect(try fixture.traces(of: tokens + ["mary-smith"]) == [])
        for token in tokens {
            let call = fixture.forgetCall(.appAccountToken(token))
            #expect(fixture.refusal(call) == .unknownCustomer, "\(token)")
        }
    }

    @Test func `names of customers who were merged into him go too`() throws {
        let fixture = try ServiceFixture()
        for id in ["10", "11"] {
            let names = ServiceFixture.named(token: "token-\(id)-a", account: "account-\(id)")
            try fixture.notify(
                "SUBSCRIBED", transaction: try fixture.transaction(id, to: 9_000, changes: names))
            try fixture.notify(
                "DID_RENEW",
                transaction: try fixture.transaction(
                    id, to: 9_000, signed: 2_000,
                    changes: ServiceFixture.named(
                        token: "token-\(id)-b", account: "account-\(id)")))
        }
        try fixture.link("mary-smith", .originalTransaction("10"))
        try fixture.link("mary-smith", .appAccountToken("token-11-b"))
        try fixture.forget(.customer("mary-smith"))
        #expect(
            try fixture.traces(of: [
                "mary-smith", "token-10-a", "token-10-b", "token-11-a", "token-11-b", "account-10",
                "account-11",
            ]) == [])
        #expect(try fixture.reason(chain: "11") == .active)
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `a name that somebody else's purchases carry stays his`() throws {
        let fixture = try ServiceFixture()
        let shared: FixtureChanges = ["appAccountToken": .string("token-of-both")]
        try fixture.upload("bob", try fixture.transaction("20", to: 9_000, changes: shared))
        try fixture.upload("mary-smith", try fixture.transaction("10", to: 9_000))
        try fixture.link("mary-smith", .originalTransaction("30"))
        try fixture.notify(
            "SUBSCRIBED", transaction: try fixture.transaction("30", to: 9_000, changes: shared))
        try fixture.forget(.customer("mary-smith"))
        let token = CustomerReference.appAccountToken("token-of-both")
        #expect(try fixture.view(token).customerID == "bob")
        #expect(try fixture.reason("bob") == .active)
        #expect(try fixture.view(.customer("bob")).transactions[0].payload.isEmpty == false)
        #expect(try fixture.view(.originalTransaction("30")).customerID == "10")
        #expect(try fixture.traces(of: ["mary-smith"]) == [])
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `what was moved to him goes back to nobody`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("bob", try fixture.transaction("10", to: 9_000))
        try fixture.link("bob", .originalTransaction("10"))
        try fixture.link("bob", .appAccountToken("token-of-mary"))
        try fixture.link("mary-smith", .originalTransaction("10"), transfer: true)
        try fixture.link("mary-smith", .appAccountToken("token-of-mary"), transfer: true)
        try fixture.forget(.customer("mary-smith"))
        try fixture.notify(
            "DID_RENEW", signed: 2_000,
            transaction: try fixture.transaction("10", to: 19_000, signed: 2_000))
        #expect(try fixture.reason("bob") == .noPurchase)
        #expect(try fixture.reason(chain: "10", at: 12_000) == .active)
        let call = fixture.forgetCall(.appAccountToken("token-of-mary"))
        #expect(fixture.refusal(call) == .unknownCustomer)
        #expect(try fixture.traces(of: Self.texts) == [])
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `names that only look the same are others`() throws {
        let fixture = try ServiceFixture()
        let (composed, decomposed) = ("ren\u{E9}-smith", "rene\u{301}-smith")
        try fixture.upload(composed, try fixture.transaction("10", to: 9_000))
        try fixture.upload(decomposed, try fixture.transaction("20", to: 9_000))
        try fixture.forget(.customer(composed))
        #expect(try fixture.reason(composed) == .unknownCustomer)
        #expect(try fixture.reason(decomposed) == .active)
        #expect(try fixture.traces(of: [composed]) == [])
        #expect(try !fixture.traces(of: [decomposed]).isEmpty)
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `a name is free at once, also within one group`() throws {
        let fixture = try ServiceFixture()
        try Self.makeMary(fixture)
        let upload = WriteCall.transactions(
            TransactionUpload(
                customerID: "mary-smith",
                signedTransactions: [try fixture.transaction("90", product: "z", to: 9_000)]))
        let results = fixture.desk.performGroup([
            fixture.forgetCall(.customer("mary-smith")), upload,
        ])
        for result in results { _ = try result.get() }
        #expect(try fixture.reason("mary-smith") == .noPurchase)
        #expect(try fixture.reason("mary-smith", "z") == .active)
        #expect(try fixture.reason(chain: "10") == .active)
        #expect(try fixture.view(.customer("mary-smith")).transactions.count == 1)
        // The other way round nothing is left of him either.
        let again = fixture.desk.performGroup([
            .transactions(
                TransactionUpload(
                    customerID: "mary-smith",
                    signedTransactions: [
                        try fixture.transaction(
                            "91", product: "y", to: 9_000, changes: Self.names)
                    ])), fixture.forgetCall(.customer("mary-smith")),
        ])
        for result in again { _ = try result.get() }
        #expect(try fixture.reason("mary-smith", "z") == .unknownCustomer)
        #expect(try fixture.traces(of: Self.texts) == [])
        #expect(try fixture.checkFindings() == [])
    }

    @Test func `a fetch that waits is dropped`() throws {
        let fixture = try ServiceFixture.fetching()
        try Self.makeMary(fixture)
        try fixture.notify(
            "REVOKE", signed: 3_000,
            transaction: try fixture.transaction("10", to: 9_000, shared: true, signed: 3_000))
        #expect(try fixture.queue().count == 1)
        #expect(try fixture.forget(.customer("mary-smith")).wasQueued)
        #expect(try fixture.queue() == [])
        #expect(try fixture.service.dueRefreshes(at: .distantFuture, countMax: 10).due.isEmpty)
    }

    @Test func `whoever has bought nothing is in no list afterwards`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("mary-smith", .originalTransaction("10"), household: "home-of-mary")
        try fixture.upload("bob", try fixture.transaction("20"))
        try fixture.forget(.customer("mary-smith"))
        let query = PageQuery(scope: fixture.scope)
        guard
            case .customers(let page) = try fixture.service.read(
                .customers(query, changedSince: 0))
        else { throw UnexpectedReply() }
        #expect(page.customers.map(\.customer) == [.customer("bob")])
        #expect(try fixture.traces(of: Self.texts) == [])
        #expect(try fixture.checkFindings() == [])
        // The chain that he was linked to is a stranger's when it comes.
        try fixture.notify("ONE_TIME_CHARGE", transaction: try fixture.transaction("10"))
        #expect(try fixture.reason(chain: "10") == .active)
    }

    @Test func `a household's owner stays its number: access, cut and bill are as they were`()
        throws
    {
        func bill(forgetting isForgotten: Bool) throws -> [[String]] {
            let bill = try BillFixture()
            let fixture = bill.fixture
            try fixture.link("buyer-bob", .originalTransaction("1"), household: "h")
            try fixture.notify(
                "SUBSCRIBED",
                transaction: try fixture.transaction("1", to: 90 * day, changes: Self.names))
            for (index, member) in ["ann", "joe"].enumerated() {
                try fixture.link(member, .originalTransaction("\(index + 2)"), household: "h")
                try fixture.notify(
                    "SUBSCRIBED",
                    transaction: try fixture.transaction(
                        "\(index + 2)", from: 1_001, to: 90 * day, shared: true))
                #expect(try bill.check(member, "p", at: day))
            }
            bill.flush()
            if isForgotten {
                #expect(try fixture.forget(.customer("buyer-bob")).isInHousehold)
                #expect(try fixture.traces(of: ["buyer-bob"] + Self.texts) == [])
            }
            #expect(try fixture.reason("ann", at: day) == .active)
            bill.setClock(2 * day)
            try fixture.notify(
                "REFUND", signed: 2 * day,
                transaction: try fixture.transaction(
                    "1", to: 90 * day, revoked: 2 * day, changes: Self.names))
            #expect(try fixture.reason("ann", at: 3 * day) == .familySuspended)
            #expect(try fixture.reason("joe", at: 3 * day) == .familySuspended)
            #expect(try fixture.reason(chain: "1", at: 3 * day) == .refunded)
            if isForgotten { #expect(try fixture.traces(of: ["buyer-bob"] + Self.texts) == []) }
            #expect(try fixture.checkFindings() == [])
            return try bill.bill().map { refund in
                ["\(refund.refundedMilliunits) \(refund.percentage)"]
                    + refund.people.map { use in
                        let text = use.text.split(separator: ": ", maxSplits: 1)
                        return "\(use.transactionID) \(text.last ?? "")"
                    }.sorted()
            }
        }
        let expected = try bill(forgetting: false)
        #expect(expected.first?.count == 4)
        #expect(try bill(forgetting: true) == expected)
    }

    @Test func `a long history is forgotten as a short one`() throws {
        let fixture = try ServiceFixture {
            $0.longHistoryLimits = LongHistoryLimits(transactionCountMax: 4, headCount: 2)
        }
        for index in 0..<12 {
            try fixture.upload(
                "mary-smith",
                try fixture.transaction(
                    "\(100 + index)", original: "100", from: 1_000 + Int64(index) * 1_000,
                    to: 2_000 + Int64(index) * 1_000, changes: Self.names))
        }
        try fixture.forget(.customer("mary-smith"))
        #expect(try fixture.traces(of: Self.texts) == [])
        #expect(try fixture.reason(chain: "100", at: 12_500) == .active)
        #expect(try fixture.reason(chain: "100", at: 1_500) == .active)
        try fixture.notify(
            "DID_RENEW",
            transaction: try fixture.transaction(
                "200", original: "100", from: 13_000, to: 14_000, changes: Self.names))
        #expect(try fixture.reason(chain: "100", at: 13_500) == .active)
        #expect(try fixture.traces(of: Self.texts) == [])
    }

    @Test func `a store that fails forgets nothing`() throws {
        let fixture = try ServiceFixture()
        try Self.makeMary(fixture)
        let records = try fixture.records()
        fixture.store.failCommits(next: 1)
        #expect(
            fixture.refusal(fixture.forgetCall(.customer("mary-smith"))) == .storeUnavailable)
        #expect(try fixture.records() == records)
        #expect(try fixture.reason("mary-smith") == .active)
        try fixture.forget(.customer("mary-smith"))
        #expect(try fixture.traces(of: Self.texts) == [])
    }
}
