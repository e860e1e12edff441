import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct LedgerTests {
    @Test func `a notification of a new fact is applied and tells what flipped`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("ann", .originalTransaction("1"))
        let reply = try fixture.notify(
            "ONE_TIME_CHARGE", uuid: "u1", transaction: try fixture.transaction("1"))
        #expect(reply.disposition == .applied)
        #expect(reply.notificationUUID == "u1")
        #expect(reply.type == "ONE_TIME_CHARGE")
        let change = try #require(reply.changes.first)
        #expect(reply.changes.count == 1)
        #expect(change.customerID == "ann" && change.productID == "p")
        #expect(!change.wasGranted && change.isGranted && change.reason == .active)
        #expect(reply.revision == fixture.service.revision)
    }

    @Test func `the same UUID again changes nothing and names the revision that has it`() throws {
        let fixture = try ServiceFixture()
        let first = try fixture.notify(
            "ONE_TIME_CHARGE", uuid: "u1", transaction: try fixture.transaction("1"))
        try fixture.notify("TEST")
        let commits = fixture.store.commitCount
        // Even with other content: duplicates go by the UUID.
        let again = try fixture.notify(
            "REFUND", uuid: "u1", transaction: try fixture.transaction("1", revoked: 2_000))
        #expect(again.disposition == .duplicate)
        #expect(again.changes == [])
        #expect(again.revision == first.revision)
        #expect(fixture.store.commitCount == commits)
        let other = try fixture.notify(
            "REFUND", uuid: "u2", transaction: try fixture.transaction("1", revoked: 2_000))
        #expect(other.disposition == .applied)
    }

    @Test func `what is known or older is stale, and stored all the same`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("ann", .originalTransaction("1"))
        let refund = try fixture.transaction("1", revoked: 2_000)
        try fixture.notify("REFUND", transaction: refund)
        let older = try fixture.transaction("1", signed: 1_000)
        #expect(try fixture.notify("PRICE_INCREASE", transaction: older).disposition == .stale)
        #expect(try fixture.notify("REFUND", transaction: refund).disposition == .stale)
        // Evidence that is older than what is known, too.
        let renewal = try fixture.renewal("1", signed: 900)
        #expect(
            try fixture.notify("EXPIRED", transaction: older, renewal: renewal).disposition
                == .applied)
        #expect(
            try fixture.notify("EXPIRED", transaction: older, renewal: renewal).disposition
                == .stale)
        #expect(try fixture.reason("ann") == .refunded)
        #expect(try fixture.view(.customer("ann")).notifications.count == 5)
    }

    @Test func `a piece of evidence alone is applied, once`() throws {
        let fixture = try ServiceFixture()
        let copy = try fixture.transaction("1", shared: true)
        try fixture.notify("ONE_TIME_CHARGE", signed: 1_000, transaction: copy)
        #expect(
            try fixture.notify("REVOKE", signed: 2_000, transaction: copy).disposition == .applied)
        #expect(
            try fixture.notify("REVOKE", signed: 1_900, transaction: copy).disposition == .stale)
        let status = try fixture.notify("EXPIRED", signed: 3_000, transaction: copy, status: 1)
        #expect(status.disposition == .applied)
    }

    @Test(
        arguments: [
            ("SEAT_POLICY_CHANGED", nil), ("REFUND", "LATER"), ("SEAT_POLICY_CHANGED", "QUARTERLY"),
        ] as [(String, String?)])
    func `an unknown type or subtype is stored and its facts are applied`(
        type: String, subtype: String?
    ) throws {
        let fixture = try ServiceFixture()
        try fixture.link("ann", .originalTransaction("1"))
        try fixture.notify("ONE_TIME_CHARGE", transaction: try fixture.transaction("1"))
        let reply = try fixture.notify(
            type, subtype: subtype, transaction: try fixture.transaction("1", revoked: 2_000))
        #expect(reply.disposition == .storedUnknown)
        #expect(reply.changes.map(\.isGranted) == [false])
        #expect(try fixture.reason("ann") == .refunded)
        // Without a transaction as well.
        #expect(try fixture.notify("LATER").disposition == .storedUnknown)
    }

    @Test func `a notification that carries nobody has no effect`() throws {
        let fixture = try ServiceFixture()
        #expect(try fixture.notify("TEST").disposition == .noEffect)
        #expect(fixture.service.reader.serverInfo().customerCount == 0)
    }

    @Test func `renewal info of another chain than the transaction beside it is refused`() throws {
        let fixture = try ServiceFixture()
        try fixture.notify("SUBSCRIBED", transaction: try fixture.transaction("2", to: 9_000))
        let call = try fixture.notification(
            "DID_RENEW", transaction: try fixture.transaction("1", to: 9_000),
            renewal: try fixture.renewal("2", signed: 1_000))
        #expect(fixture.refusal(call) == .renewalMismatch)
        #expect(fixture.service.reader.serverInfo().transactionCount == 1)
    }

    @Test func `renewal info alone is taken for a stored chain and refused for another`() throws {
        let fixture = try ServiceFixture()
        try fixture.link("ann", .originalTransaction("1"))
        let renewal = try fixture.renewal(
            "1", signed: 1_000, changes: ["isInBillingRetryPeriod": true])
        let call = try fixture.notification("DID_FAIL_TO_RENEW", renewal: renewal)
        // Linked, but nothing of the chain is verified for this app yet.
        #expect(fixture.refusal(call) == .renewalMismatch)
        try fixture.notify("SUBSCRIBED", transaction: try fixture.transaction("1", to: 2_000))
        #expect(try fixture.reason("ann") == .expired)
        #expect(try fixture.notify("DID_FAIL_TO_RENEW", renewal: renewal).disposition == .applied)
        #expect(try fixture.reason("ann") == .billingRetry)
        #expect(try fixture.notify("DID_FAIL_TO_RENEW", renewal: renewal).disposition == .stale)
    }

    @Test func `a dateless REVOKE of a purchase is counted in the audit and changes nothing`()
        throws
    {
        let fixture = try ServiceFixture()
        try fixture.link("ann", .originalTransaction("1"))
        let copy = try fixture.transaction("1")
        try fixture.notify("ONE_TIME_CHARGE", transaction: copy)
        try fixture.notify("REVOKE", signed: 3_000, transaction: copy)
        #expect(try fixture.reason("ann") == .active)
        let audit = try fixture.view(.customer("ann")).audit.map(\.action)
        #expect(audit.contains("DATELESS_REVOKE_IGNORED"))
    }

    @Test func `copies of one date: the revoked one wins in either order`() throws {
        for isRevokedFirst in [true, false] {
            let fixture = try ServiceFixture()
            try fixture.link("ann", .originalTransaction("1"))
            let plain = try fixture.transaction("1", signed: 2_000)
            let revoked = try fixture.transaction("1", revoked: 2_000, signed: 2_000)
            for copy in isRevokedFirst ? [revoked, plain] : [plain, revoked] {
                try fixture.upload("", copy)
            }
            #expect(try fixture.reason("ann") == .refunded)
            // Signed again, with another nonce: nothing new.
            let again = try fixture.transaction("1", revoked: 2_000, signed: 2_000)
            let commits = fixture.store.commitCount
            try fixture.upload("", again)
            #expect(fixture.store.commitCount == commits)
        }
    }
}

@Suite struct UploadTests {
    @Test func `an upload says whose they are`() throws {
        let fixture = try ServiceFixture()
        let changes = try fixture.upload(
            "ann", try fixture.transaction("1"), try fixture.transaction("2", product: "q")
        ).changes
        #expect(changes.map(\.productID) == ["p", "q"])
        #expect(changes.allSatisfy { $0.customerID == "ann" && $0.isGranted })
        #expect(try fixture.view(.customer("ann")).identities.count == 2)
    }

    /// Found as a fault: an upload of what is known already answered with a revision that no reader
    /// would ever see, so that asking with it timed out.
    @Test func `an upload of what is known keeps the revision`() throws {
        let fixture = try ServiceFixture()
        let copy = try fixture.transaction("1")
        let first = try fixture.upload("ann", copy)
        let again = try fixture.upload("ann", copy)
        #expect(first.revision == fixture.service.revision)
        #expect(again.revision == first.revision)
        #expect(try fixture.upload("", copy).revision == first.revision)
        let account = try fixture.apple.appTransaction("A1", created: ServiceFixture.date(1))
        #expect(try fixture.upload("", account: account).revision == first.revision)
        try fixture.notify("TEST")
        #expect(fixture.service.revision == first.revision + 1)
    }

    @Test func `one bad copy refuses the whole upload`() throws {
        let fixture = try ServiceFixture()
        let good = try fixture.transaction("1")
        let stranger = SignedFixtures(authority: try TestCertificateAuthority(name: "Stranger"))
        let bad = try stranger.transaction("2", product: "q", purchased: ServiceFixture.date(0))
        let call = WriteCall.transactions(
            TransactionUpload(customerID: "ann", signedTransactions: [good, bad]))
        #expect(fixture.refusal(call) == .untrustedChain)
        #expect(try fixture.reason("ann") == .unknownCustomer)
        #expect(fixture.service.reader.serverInfo().transactionCount == 0)
    }

    @Test func `one copy of another customer's refuses the whole upload`() throws {
        let fixture = try ServiceFixture()
        let dans = try fixture.transaction("1")
        try fixture.upload("dan", dans)
        let call = WriteCall.transactions(
            TransactionUpload(
                customerID: "eve",
                signedTransactions: [try fixture.transaction("2", product: "q"), dans]))
        let revision = fixture.service.revision
        #expect(fixture.refusal(call) == .identityConflict)
        #expect(fixture.service.revision == revision)
        #expect(try fixture.reason("eve", "q") == .unknownCustomer)
        #expect(try fixture.reason("dan") == .active)
    }

    @Test func `renewal info comes with its transaction, or for a stored chain`() throws {
        let fixture = try ServiceFixture()
        let renewal = try fixture.renewal("1", signed: 1_000)
        let alone = WriteCall.transactions(
            TransactionUpload(customerID: "ann", signedRenewals: [renewal]))
        #expect(fixture.refusal(alone) == .renewalMismatch)
        #expect(try fixture.reason("ann") == .unknownCustomer)
        let other = WriteCall.transactions(
            TransactionUpload(
                customerID: "ann", signedTransactions: [try fixture.transaction("2", to: 9_000)],
                signedRenewals: [renewal]))
        #expect(fixture.refusal(other) == .renewalMismatch)
        #expect(try fixture.reason("ann") == .unknownCustomer)
        try fixture.upload("ann", try fixture.transaction("1", to: 9_000), renewals: [renewal])
        try fixture.upload("ann", renewals: [renewal])
    }

    /// Found as a fault: an AppTransaction without transactions named the account and left what was
    /// stored under it with nobody.
    @Test func `an AppTransaction alone takes over what came under the account`() throws {
        let fixture = try ServiceFixture()
        try fixture.notify(
            "ONE_TIME_CHARGE",
            transaction: try fixture.transaction(
                "1", shared: true, changes: ["appTransactionId": "A1"])
        )
        let account = try fixture.apple.appTransaction("A1", created: ServiceFixture.date(1))
        let changes = try fixture.upload("ann", account: account).changes
        #expect(changes.map(\.isGranted) == [true])
        #expect(try fixture.reason("ann") == .active)
        let eve = WriteCall.transactions(
            TransactionUpload(customerID: "eve", signedAppTransaction: account))
        #expect(fixture.refusal(eve) == .identityConflict)
        #expect(fixture.service.reader.serverInfo().customerCount == 1)
    }

    /// Found as a fault: with `transfer` a transaction that nobody had stayed with nobody.
    @Test(arguments: [true, false])
    func `an upload with transfer takes what is free as well`(isStored: Bool) throws {
        let fixture = try ServiceFixture()
        let copy = try fixture.transaction("1")
        if isStored { try fixture.notify("ONE_TIME_CHARGE", transaction: copy) }
        try fixture.upload("ann", copy, transfer: true)
        #expect(try fixture.reason("ann") == .active)
        #expect(fixture.service.reader.serverInfo().customerCount == 1)
        try fixture.upload("bob", copy, transfer: true)
        #expect(try fixture.reason("ann") == .noPurchase)
        #expect(try fixture.reason("bob") == .active)
    }

    @Test func `an AppTransaction without an account is refused`() throws {
        let fixture = try ServiceFixture()
        let old = try fixture.apple.appTransaction(
            "A1", created: ServiceFixture.date(1), changes: ["appTransactionId": nil])
        let call = WriteCall.transactions(
            TransactionUpload(customerID: "ann", signedAppTransaction: old))
        #expect(fixture.refusal(call) == .missingClaim)
    }
}
