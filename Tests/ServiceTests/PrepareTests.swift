import Entitlements
import Service
import TestSupport
import Testing

@Suite struct PrepareTests {
    @Test(arguments: [
        ("", RefusalReason.malformedPayload), ("{}", .malformedPayload), ("{", .malformedPayload),
        ("[]", .malformedPayload), ("a.b", .malformedPayload), ("a.b.c", .malformedPayload),
        ("{\"signedPayload\":7}", .malformedPayload),
        ("{\"signedPayload\":\"\"}", .malformedPayload), ("\u{0}", .malformedPayload),
    ])
    func `a body that holds nothing signed is refused`(body: String, reason: RefusalReason) throws {
        let fixture = try ServiceFixture()
        #expect(fixture.refusal(.notification(payload: Array(body.utf8))) == reason)
        #expect(fixture.service.revision == 0)
        #expect(fixture.service.reader.counters.refusalCounts == [reason: 1])
    }

    @Test func `a bare JWS is as good as the envelope`() throws {
        let fixture = try ServiceFixture()
        let jws = try fixture.apple.notification(
            "TEST", uuid: "u", signed: ServiceFixture.date(1),
            data: fixture.apple.notificationData())
        let reply = try fixture.desk.perform(.notification(payload: jws)).get()
        guard case .notification(let notification) = reply else { throw UnexpectedReply() }
        #expect(notification.disposition == .noEffect)
    }

    @Test func `an upload of two apps or environments is refused whole`() throws {
        let fixture = try ServiceFixture { configuration in
            configuration.apps.append(
                AppConfiguration(
                    bundleID: "com.example.other", appAppleID: 1_600_000_002,
                    environments: [.production]))
        }
        var sandbox = fixture.apple
        sandbox.environment = "Sandbox"
        var other = fixture.apple
        other.bundleID = "com.example.other"
        let own = try fixture.transaction("1")
        let date = ServiceFixture.date(1)
        let strangers = [
            try sandbox.transaction("2", product: "q", purchased: date),
            try other.transaction("2", product: "q", purchased: date),
        ]
        for stranger in strangers {
            let call = WriteCall.transactions(
                TransactionUpload(customerID: "ann", signedTransactions: [own, stranger]))
            #expect(fixture.refusal(call) == .mixedScope)
        }
        let account = try sandbox.appTransaction("A1", created: date)
        let mixed = WriteCall.transactions(
            TransactionUpload(
                customerID: "ann", signedTransactions: [own], signedAppTransaction: account))
        #expect(fixture.refusal(mixed) == .mixedScope)
        let renewal = try sandbox.renewal("1", product: "p", renewal: date, signed: date)
        let renewed = WriteCall.transactions(
            TransactionUpload(
                customerID: "ann", signedTransactions: [own], signedRenewals: [renewal]))
        #expect(fixture.refusal(renewed) == .mixedScope)
        // With several apps, renewal info alone says of none.
        let alone = WriteCall.transactions(
            TransactionUpload(
                customerID: "ann", signedRenewals: [try fixture.renewal("1", signed: 1)]))
        #expect(fixture.refusal(alone) == .renewalMismatch)
        #expect(fixture.service.revision == 0)
    }

    @Test func `an upload of nothing is refused`() throws {
        let fixture = try ServiceFixture()
        let call = WriteCall.transactions(TransactionUpload(customerID: "ann"))
        #expect(fixture.refusal(call) == .invalidField)
    }

    @Test func `a link must say something, of a person, in Apple's names`() throws {
        let fixture = try ServiceFixture()
        func refusal(_ request: LinkRequest) -> RefusalReason? { fixture.refusal(.link(request)) }
        let scope = fixture.scope
        #expect(refusal(LinkRequest(customerID: "ann", scope: scope)) == .invalidField)
        #expect(
            refusal(LinkRequest(customerID: "", identity: .appTransaction("A"), scope: scope))
                == .invalidIdentifier)
        #expect(
            refusal(LinkRequest(customerID: "ann", identity: .customer("bob"), scope: scope))
                == .invalidField)
        #expect(
            refusal(
                LinkRequest(
                    customerID: "ann", scope: scope, householdID: "h", leavesHousehold: true))
                == .invalidField)
        #expect(try fixture.reason("ann") == .unknownCustomer)
    }

    @Test func `a rebuild from the App Store needs credentials`() throws {
        let fixture = try ServiceFixture()
        try fixture.upload("ann", try fixture.transaction("1"))
        let call = WriteCall.rebuild(
            RebuildRequest(customer: .customer("ann"), source: .appStore, scope: fixture.scope))
        #expect(fixture.refusal(call) == .appStoreNotConfigured)
    }

    @Test(arguments: RefusalReason.allCases)
    func `each reason has the status of the table`(reason: RefusalReason) {
        let expected: StatusCode =
            switch reason {
            case .unknownCall: .unimplemented
            case .identityConflict, .appStoreNotConfigured, .appStoreUnauthorized,
                .backupNotConfigured, .backupRunning:
                .failedPrecondition
            case .unknownCustomer, .unknownBackup: .notFound
            case .backupExists: .alreadyExists
            case .backupFailed: .internal
            case .v1Unauthenticated, .keyMissing, .keyUnknown, .keyExpired, .keyRevoked:
                .unauthenticated
            case .roleMissing, .appNotAllowed: .permissionDenied
            case .draining, .storeUnavailable, .appStoreThrottled, .appStoreIncomplete:
                .unavailable
            case .storeDamaged: .dataLoss
            case .overloaded: .resourceExhausted
            case .deadline, .revisionNotReached: .deadlineExceeded
            default: .invalidArgument
            }
        #expect(reason.status == expected)
        #expect(Refusal(reason, "m").status == expected)
    }

    @Test func `an unknown chain is left to others, uncounted, until it was checked`() throws {
        let fixture = try ServiceFixture()
        let call = WriteCall.transactions(
            TransactionUpload(customerID: "ann", signedTransactions: [try fixture.transaction("1")])
        )
        #expect(try fixture.service.prepareWithKnownChains(call) == nil)
        #expect(fixture.service.reader.counters.refusalCounts == [:])
        _ = try fixture.service.prepare(call)
        #expect(try fixture.service.prepareWithKnownChains(call) != nil)
    }

    @Test func `a stranger's chain is never known`() throws {
        let fixture = try ServiceFixture()
        let stranger = SignedFixtures(authority: try TestCertificateAuthority(name: "Stranger"))
        let forged = try stranger.transaction("1", product: "q", purchased: ServiceFixture.date(1))
        let call = WriteCall.transactions(
            TransactionUpload(customerID: "ann", signedTransactions: [forged]))
        for _ in 0..<2 {
            #expect(try fixture.service.prepareWithKnownChains(call) == nil)
            #expect(fixture.refusal(call) == .untrustedChain)
        }
        #expect(fixture.service.reader.counters.refusalCounts == [.untrustedChain: 2])
    }

    @Test func `what is wrong apart from its chain is refused at once, and counted`() throws {
        let fixture = try ServiceFixture()
        #expect {
            _ = try fixture.service.prepareWithKnownChains(.notification(payload: []))
        } throws: { ($0 as? Refusal)?.reason == .malformedPayload }
        #expect(fixture.service.reader.counters.refusalCounts == [.malformedPayload: 1])
    }
}

@Suite struct V1Tests {
    static let secret = "meadow-test-secret"

    private func body(
        password: String? = "\"\(secret)\"", environment: String = "PROD",
        bundleID: String = "com.example.meadow", type: String = "INITIAL_BUY"
    ) -> WriteCall {
        let passwordMember = password.map { "\"password\":\($0)," } ?? ""
        let text = """
            {"notification_type":"\(type)",\(passwordMember)"environment":"\(environment)",\
            "bid":"\(bundleID)","auto_renew_status":"true","unified_receipt":\
            {"environment":"Production","status":0,"latest_receipt_info":[{"transaction_id":"1",\
            "original_transaction_id":"1","product_id":"p","purchase_date_ms":"1767225601000",\
            "expires_date_ms":"1767225699000"}]}}
            """
        return .notification(payload: Array(text.utf8))
    }

    private func makeFixture() throws -> ServiceFixture {
        try ServiceFixture { $0.v1SharedSecret = Array(Self.secret.utf8) }
    }

    @Test(arguments: ["PROD", "Prod", "Production", "production"])
    func `a body with the secret is stored, and changes nothing`(environment: String) throws {
        let fixture = try makeFixture()
        try fixture.link("ann", .originalTransaction("1"))
        for expected in [Disposition.noEffect, .duplicate] {
            let reply = try fixture.desk.perform(body(environment: environment)).get()
            guard case .notification(let notification) = reply else { throw UnexpectedReply() }
            #expect(notification.disposition == expected)
            #expect(notification.changes == [])
        }
        #expect(try fixture.reason("ann") == .noPurchase)
        #expect(fixture.service.reader.serverInfo().transactionCount == 0)
    }

    @Test(
        arguments: [
            "\"wrong\"", nil, "null", "\"m\\u0000adow-test-secret\"", "\"\"", "7",
            "\"meadow-test-secret \"", "\"MEADOW-TEST-SECRET\"",
        ] as [String?])
    func `a body without the secret is refused and leaves nothing`(password: String?) throws {
        let fixture = try makeFixture()
        guard case .failure(let refusal) = fixture.desk.perform(body(password: password)) else {
            Issue.record("it is taken")
            return
        }
        #expect(refusal.reason == .v1Unauthenticated)
        #expect(!refusal.message.contains(Self.secret))
        #expect(fixture.service.revision == 0)
    }

    @Test func `without a configured secret no V1 body is taken`() throws {
        #expect(try ServiceFixture().refusal(body()) == .v1Unauthenticated)
        let empty = try ServiceFixture { $0.v1SharedSecret = [] }
        #expect(empty.refusal(body(password: "\"\"")) == .v1Unauthenticated)
    }

    @Test func `another app's or a strange environment's body is refused`() throws {
        let fixture = try makeFixture()
        #expect(fixture.refusal(body(bundleID: "com.example.other")) == .wrongApp)
        #expect(fixture.refusal(body(environment: "Xcode")) == .wrongEnvironment)
        #expect(fixture.service.revision == 0)
    }
}
