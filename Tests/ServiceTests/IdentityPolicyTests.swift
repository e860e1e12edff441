import AppStore
import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// Who somebody is, in every way that it comes to light; each change leaves a trace.
@Suite struct IdentityPolicyTests {
    private func carrying(
        _ fixture: ServiceFixture, _ id: String, original: String? = nil, product: String = "p",
        token: String? = nil, account: String? = nil, signed: Int64? = nil, shared: Bool = false
    ) throws -> [UInt8] {
        try fixture.transaction(
            id, original: original, product: product, shared: shared, signed: signed,
            changes: [
                "appAccountToken": token.map { .string($0) },
                "appTransactionId": account.map { .string($0) },
            ])
    }

    private func upload(_ name: String, _ copy: [UInt8]) -> WriteCall {
        .transactions(TransactionUpload(customerID: name, signedTransactions: [copy]))
    }

    /// What concerns somebody himself of the revisions that touched him.
    private func ownAudit(_ fixture: ServiceFixture, _ name: String) throws -> [String] {
        try fixture.view(.customer(name)).audit.filter { $0.customer == name }.map(\.action)
    }

    private func transferring() throws -> ServiceFixture {
        try ServiceFixture { $0.identityConflict = .transfer }
    }

    @Test func `one account of two persons: by default the second is refused`() throws {
        let fixture = try ServiceFixture()
        let copy = try carrying(fixture, "1", account: "A")
        try fixture.upload("dan", copy)
        let revision = fixture.service.revision
        #expect(fixture.refusal(upload("eve", copy)) == .identityConflict)
        let link = WriteCall.link(
            LinkRequest(
                customerID: "eve", identity: .originalTransaction("1"), scope: fixture.scope))
        #expect(fixture.refusal(link) == .identityConflict)
        #expect(fixture.service.revision == revision)
        #expect(try fixture.reason("dan") == .active)
        #expect(try fixture.reason("eve") == .unknownCustomer)
    }

    @Test func `one account of two persons: with the policy it moves to the last one`() throws {
        let fixture = try transferring()
        let copy = try carrying(fixture, "1", account: "A")
        try fixture.upload("dan", copy)
        let changes = try fixture.upload("eve", copy).changes
        #expect(
            changes.map { "\($0.customerID) \($0.isGranted)" }.sorted()
                == ["dan false", "eve true"])
        #expect(try fixture.reason("dan") == .noPurchase)
        #expect(try fixture.reason("eve") == .active)
        for name in ["dan", "eve"] {
            #expect(try fixture.audit(name).contains("TRANSFERRED"), "\(name)")
        }
        // Handed in once more by the same one it is no news.
        let revision = fixture.service.revision
        try fixture.upload("eve", copy)
        #expect(fixture.service.revision == revision)
        try fixture.upload("dan", copy)
        #expect(try fixture.reason("dan") == .active)
        #expect(try fixture.reason("eve") == .noPurchase)
    }

    @Test func `with the policy a link moves as well, and what nobody has is only linked`() throws {
        let fixture = try transferring()
        try fixture.link("dan", .originalTransaction("1"))
        try fixture.notify("ONE_TIME_CHARGE", transaction: try carrying(fixture, "1"))
        #expect(try fixture.reason("dan") == .active)
        try fixture.link("eve", .originalTransaction("1"))
        #expect(try fixture.reason("eve") == .active)
        #expect(try fixture.reason("dan") == .noPurchase)
        #expect(try ownAudit(fixture, "eve") == ["TRANSFERRED"])
        try fixture.link("fay", .originalTransaction("2"))
        #expect(try fixture.audit("fay") == ["LINKED"])
    }

    @Test func `the policy does not make a notification move anything`() throws {
        let fixture = try transferring()
        try fixture.upload("dan", try carrying(fixture, "1", account: "A"))
        try fixture.link("eve", .appAccountToken("t"))
        try fixture.notify(
            "PRICE_INCREASE",
            transaction: try carrying(fixture, "1", token: "t", account: "A", signed: 9_000))
        #expect(try fixture.reason("dan", at: 9_500) == .active)
        #expect(try fixture.audit("dan").contains("IDENTITY_CONFLICT"))
        #expect(try fixture.audit("eve").contains("IDENTITY_CONFLICT"))
    }

    @Test func `two accounts of one person are one customer`() throws {
        let fixture = try ServiceFixture()
        try fixture.notify(
            "ONE_TIME_CHARGE",
            transaction: try carrying(fixture, "1", product: "a", account: "A"))
        try fixture.notify(
            "ONE_TIME_CHARGE",
            transaction: try carrying(fixture, "2", product: "b", account: "B"))
        try fixture.link("ann", .appTransaction("A"))
        try fixture.link("ann", .appTransaction("B"))
        #expect(try fixture.reason("ann", "a") == .active)
        #expect(try fixture.reason("ann", "b") == .active)
        #expect(fixture.service.reader.serverInfo().customerCount == 1)
        let audit = try fixture.view(.customer("ann")).audit
        #expect(audit.map(\.action) == ["LINKED", "MERGED", "LINKED", "MERGED"])
        #expect(audit[1].detail == "what was known of A; transactions: 1")
        // A refund in one account leaves the other alone.
        try fixture.notify(
            "REFUND",
            transaction: try fixture.transaction(
                "1", product: "a", revoked: 3_000, changes: ["appTransactionId": "A"]))
        #expect(try fixture.reason("ann", "a") == .refunded)
        #expect(try fixture.reason("ann", "b") == .active)
    }

    /// The app sets the token after the purchase: what was bought before carries none.
    @Test(arguments: [false, true])
    func `a token that was set late says whose the earlier periods are`(isLinkedFirst: Bool) throws
    {
        let fixture = try ServiceFixture()
        if isLinkedFirst { try fixture.link("ann", .appAccountToken("t")) }
        try fixture.notify(
            "SUBSCRIBED", transaction: try carrying(fixture, "1", product: "old"))
        try fixture.notify(
            "DID_RENEW",
            transaction: try carrying(fixture, "2", original: "1", product: "new", token: "T"))
        if !isLinkedFirst { try fixture.link("ann", .appAccountToken("t")) }
        #expect(try fixture.reason("ann", "old") == .active)
        #expect(try fixture.reason("ann", "new") == .active)
        #expect(try fixture.audit("ann").contains("MERGED"))
    }

    @Test func `UUIDs compare without case, customer ids with it`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("ann", .appAccountToken("5b1f0c9e-3b0a-4f5e-9d55-0a3a5e7c1d01"))
        try fixture.notify(
            "ONE_TIME_CHARGE",
            transaction: try carrying(
                fixture, "1", token: "5B1F0C9E-3B0A-4F5E-9D55-0A3A5E7C1D01"))
        #expect(try fixture.reason("ann") == .active)
        #expect(try fixture.reason("Ann") == .unknownCustomer)
    }

    /// F5: no token, so nobody's until somebody says whose.
    @Test func `a member without a token is found by his own upload alone`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("ida", .appAccountToken("t"))
        let copy = try carrying(fixture, "131", account: "J", shared: true)
        try fixture.notify("SUBSCRIBED", transaction: copy)
        #expect(try fixture.reason("ida") == .noPurchase)
        #expect(try fixture.reason("jon") == .unknownCustomer)
        try fixture.upload("jon", copy)
        #expect(try fixture.reason("ida") == .noPurchase)
        #expect(try fixture.reason("jon") == .active)
        #expect(try fixture.audit("jon") == ["LINKED", "MERGED"])
    }

    @Test func `a history brings what belongs to nobody else, and takes nobody's chain`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("dan", try fixture.transaction("1", product: "a"))
        try fixture.upload("eve", try fixture.transaction("2", product: "b"))
        // One Apple Account bought both, and a third thing; nothing signed ties them together.
        let history = try fixture.history(
            fixture.transaction("1", product: "a", signed: 5_000),
            fixture.transaction("2", product: "b", signed: 5_000),
            fixture.transaction("3", product: "c"))
        for _ in 0..<3 { try fixture.rebuild("eve", history) }
        #expect(try fixture.reason("dan", "a") == .active)
        #expect(try fixture.reason("eve", "a") == .noPurchase)
        #expect(try fixture.reason("eve", "b") == .active)
        #expect(try fixture.reason("eve", "c") == .active)
        for name in ["dan", "eve"] {
            let conflicts = try ownAudit(fixture, name).filter { $0 == "IDENTITY_CONFLICT" }
            #expect(conflicts.count == 1, "\(name)")
        }
        // A newer copy of his chain is dan's, whoever was asked about.
        try fixture.rebuild(
            "eve", fixture.history(fixture.transaction("1", product: "a", revoked: 6_000)))
        #expect(try fixture.reason("dan", "a", at: 7_000) == .refunded)
        #expect(try fixture.reason("eve", "a", at: 7_000) == .noPurchase)
    }

    @Test func `a provisional customer's history makes him the one whom it names`() throws {
        let fixture = try ServiceFixture.fetching()
        try fixture.upload("dan", try carrying(fixture, "1", product: "a", account: "A"))
        try fixture.notify(
            "REVOKE", transaction: try carrying(fixture, "2", product: "b", shared: true))
        let plan = try fixture.queuedPlan()
        try fixture.apply(
            fixture.history(
                carrying(fixture, "1", product: "a", account: "A"),
                carrying(fixture, "2", product: "b", account: "A", signed: 9_000, shared: true),
                carrying(fixture, "3", product: "c", account: "A")), by: plan)
        #expect(try fixture.reason("dan", "b", at: 10_000) == .familyLeft)
        #expect(try fixture.reason("dan", "c") == .active)
        #expect(fixture.service.reader.serverInfo().customerCount == 1)
        #expect(try fixture.audit("dan").contains("MERGED"))
    }

    @Test func `every change of a household is audited`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("ann", household: "h")
        try fixture.link("ann", household: "g")
        try fixture.link("ann", leave: true)
        try fixture.link("ann", leave: true)
        #expect(
            try fixture.view(.customer("ann")).audit.map { "\($0.action) \($0.detail)" } == [
                "HOUSEHOLD_JOINED h", "HOUSEHOLD_LEFT h", "HOUSEHOLD_JOINED g", "HOUSEHOLD_LEFT g",
            ])
    }
}
