import EntitledClient
import FoundationEssentials
import TestSupport
import Testing
import Wire

/// The reason of a refusal that a call ends with.
enum Refusals {
    static func reason(
        _ body: () async throws(ClientError) -> some Sendable
    ) async -> String? {
        do throws(ClientError) {
            _ = try await body()
            return nil
        } catch .refused(let refusal) {
            return refusal.reason
        } catch {
            return "\(error)"
        }
    }
}

/// Every reason of the contract that a client can bring about.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct RefusalTests {
    private static func upload(
        _ client: Client, _ transactions: [[UInt8]], renewals: [[UInt8]] = [],
        customer: String = "",
        transfer: Bool = false
    ) async -> String? {
        await Refusals.reason { () async throws(ClientError) in
            try await client.ingestTransactions(
                TransactionUpload(
                    customerID: customer,
                    signedTransactions: transactions.map { String(decoding: $0, as: UTF8.self) },
                    signedRenewals: renewals.map { String(decoding: $0, as: UTF8.self) },
                    transfersOwnership: transfer))
        }
    }

    @Test func `what cannot be asked is refused by reason`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        func check(
            _ customer: CustomerReference, _ product: String, at instant: Int64? = nil,
            scope: Scope? = nil
        ) async -> String? {
            await Refusals.reason { () async throws(ClientError) in
                try await client.checkAccess(
                    AccessQuestion(
                        customer: customer, subject: .product(product), atMilliseconds: instant,
                        scope: scope))
            }
        }
        let long = String(repeating: "x", count: 129)
        #expect(await check(.customer(""), "p") == "INVALID_IDENTIFIER")
        #expect(await check(.customer(long), "p") == "INVALID_IDENTIFIER")
        #expect(await check(.customer("u"), "") == "INVALID_IDENTIFIER")
        #expect(await check(.customer(String(long.dropLast())), "p") == nil)
        #expect(await check(.customer("u\u{0}v"), "p") == nil)
        #expect(await check(.customer("u"), "p", at: -1) == "INVALID_FIELD")
        #expect(await check(.customer("u"), "p", scope: Scope(bundleID: "x")) == "UNKNOWN_SCOPE")
        let odd = Scope(environment: StoreEnvironment(rawValue: 99))
        #expect(await check(.customer("u"), "p", scope: odd) == "UNKNOWN_SCOPE")
        let negative = Scope(environment: StoreEnvironment(rawValue: -1))
        #expect(await check(.customer("u"), "p", scope: negative) == "UNKNOWN_SCOPE")
        let question = AccessQuestion(customer: .customer("u"), subject: .product("p"))
        let batch = await Refusals.reason { () async throws(ClientError) in
            try await client.checkAccessBatch(Array(repeating: question, count: 1_001))
        }
        #expect(batch == "INVALID_FIELD")
        let nothing = await Refusals.reason { () async throws(ClientError) in
            try await client.linkCustomer(CustomerLink(customerID: "u"))
        }
        #expect(nothing == "INVALID_FIELD")
    }

    @Test func `a customer nobody knows is not found`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        let reasons = [
            await Refusals.reason { () async throws(ClientError) in
                try await client.customer(.customer("nobody"))
            },
            await Refusals.reason { () async throws(ClientError) in
                try await client.rebuildCustomer(.customer("nobody"))
            },
        ]
        #expect(reasons == ["UNKNOWN_CUSTOMER", "UNKNOWN_CUSTOMER"])
        _ = try await client.ingestTransactions(
            TransactionUpload(
                customerID: "u", signedTransactions: [try server.fixtures.signedText("1")]))
        let rebuild = await Refusals.reason { () async throws(ClientError) in
            try await client.rebuildCustomer(.customer("u"), source: .appStore)
        }
        #expect(rebuild == "APP_STORE_NOT_CONFIGURED")
    }

    @Test func `another's genuine purchase is refused unless it is moved`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        let jws = Array(try server.fixtures.signedText("1").utf8)
        #expect(await Self.upload(client, [jws], customer: "first") == nil)
        #expect(await Self.upload(client, [jws], customer: "second") == "IDENTITY_CONFLICT")
        #expect(
            try await client.checkAccess(.customer("second"), product: "meadow.lifetime")
                .isGranted == false)
        #expect(await Self.upload(client, [jws], customer: "second", transfer: true) == nil)
        let first = try await client.checkAccess(.customer("first"), product: "meadow.lifetime")
        let second = try await client.checkAccess(.customer("second"), product: "meadow.lifetime")
        #expect(!first.isGranted && second.isGranted)
    }

    @Test func `what Apple did not sign so is refused by reason and grants nothing`() async throws {
        let defect = try TestCertificateAuthority(defect: .leafMarkerMissing)
        let server = try await TestServer.start(authorities: [defect])
        let client = try server.client()
        defer { client.close() }
        let claims = server.fixtures.transactionClaims(
            "1", product: "p", purchased: Dates.bought)
        let samples = try Self.forgeries(of: claims, server.fixtures.authority, defect: defect)
        for (jws, reason) in samples {
            #expect(await Self.upload(client, [jws], customer: "u") == reason)
        }
        let answer = try await client.checkAccess(.customer("u"), product: "p")
        #expect(!answer.isGranted)
        #expect(try await client.serverInfo().revision == 0)
        let genuine = try server.fixtures.authority.sign(claims)
        #expect(await Self.upload(client, [genuine], customer: "u") == nil)
    }

    /// Signed wrongly in one way each, with the reason that says so.
    private static func forgeries(
        of claims: FixtureJSON, _ authority: TestCertificateAuthority,
        defect: TestCertificateAuthority
    ) throws -> [([UInt8], String)] {
        func header(_ changes: FixtureChanges) throws -> [UInt8] {
            try authority.sign(header: authority.header.changed(changes), payload: claims.utf8)
        }
        guard case .array(let chain)? = authority.header["x5c"] else {
            Issue.record("a header without a chain")
            return []
        }
        let expired = try authority.withLeaf(validFrom: 1_300_000_000_000, to: 1_330_000_000_000)
        var flipped = try authority.sign(claims)
        flipped[flipped.count - 20] = flipped[flipped.count - 20] == 0x41 ? 0x42 : 0x41
        return [
            (Array("no jws".utf8), "MALFORMED_PAYLOAD"),
            (try header(["x5c": nil]), "MALFORMED_PAYLOAD"),
            (try authority.sign(claims.changed(["bundleId": nil])), "MISSING_CLAIM"),
            (try header(["alg": "none"]), "WRONG_ALGORITHM"),
            (try header(["x5c": .array([chain[0]])]), "CHAIN_LENGTH"),
            (try TestCertificateAuthority().sign(claims), "UNTRUSTED_CHAIN"),
            (try defect.sign(claims), "MARKER_OID_MISSING"),
            (try expired.sign(claims), "CERTIFICATE_EXPIRED"), (flipped, "BAD_SIGNATURE"),
            (try authority.sign(claims.changed(["bundleId": "com.other"])), "WRONG_APP"),
            (try authority.sign(claims.changed(["environment": "Xcode"])), "WRONG_ENVIRONMENT"),
        ]
    }

    @Test func `an upload is of one world, and its renewals belong to it`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        var sandbox = server.fixtures
        sandbox.environment = "Sandbox"
        let mixed = [
            try server.fixtures.transaction("1", product: "p", purchased: Dates.bought),
            try sandbox.transaction("2", product: "p", purchased: Dates.bought),
        ]
        #expect(await Self.upload(client, mixed, customer: "u") == "MIXED_SCOPE")
        let stray = try server.fixtures.renewal(
            "999", product: "p", renewal: Dates.far, signed: Dates.bought)
        #expect(
            await Self.upload(client, [mixed[0]], renewals: [stray], customer: "u")
                == "RENEWAL_MISMATCH")
        #expect(try await client.serverInfo().revision == 0)
    }

    @Test func `a version 1 body without the secret is refused`() async throws {
        let directory = try TemporaryDirectory()
        let secret = try directory.write(Array("secret".utf8), to: "secret")
        let server = try await TestServer.start(flags: ["--v1-shared-secret-file", secret])
        let client = try server.client()
        defer { client.close() }
        func body(_ password: String) -> [UInt8] {
            Array(
                """
                {"notification_type":"CANCEL","password":"\(password)","environment":"PROD",
                 "bid":"com.example.meadow","unified_receipt":{"environment":"Production"}}
                """.utf8)
        }
        let refused = await Refusals.reason { () async throws(ClientError) in
            try await client.ingestNotification(body("wrong"))
        }
        #expect(refused == "V1_UNAUTHENTICATED")
        #expect(try await client.ingestNotification(body("secret")).disposition == .noEffect)
    }

    @Test func `forged chains are refused, and what is genuine overtakes them`() async throws {
        let server = try await TestServer.start(flags: ["--workers", "1"])
        let client = try server.client()
        defer { client.close() }
        let forged = try TestCertificateAuthority().sign(
            server.fixtures.transactionClaims("1", product: "p", purchased: Dates.bought))
        func genuine(_ id: String) throws -> [UInt8] {
            try server.fixtures.transaction(id, product: "p", purchased: Dates.bought)
        }
        // Its chain is new to the server too.
        #expect(await Self.upload(client, [try genuine("1")], customer: "u1") == nil)
        func frame(_ id: UInt64, _ signed: [UInt8]) throws -> [UInt8] {
            var upload = Message.IngestTransactionsRequest()
            upload.customerID = "s"
            upload.signedTransactions = [Text(String(decoding: signed, as: UTF8.self))]
            var request = Request(id: id, call: .ingestTransactions(upload))
            request.timeoutMilliseconds = 60_000
            return try RawConnection.frame(request)
        }
        // The genuine one is sent last. Answers leave as they are found, 2.8 ms for each forged
        // one, so their order tells what was looked at first, however busy the machine is.
        let count = 250
        var frames: [UInt8] = []
        for id in 1...UInt64(count) { frames += try frame(id, forged) }
        let last = UInt64(count + 1)
        frames += try frame(last, try genuine("2"))
        let stranger = try RawConnection(to: server.address)
        try await stranger.send(frames)
        let answers = try await stranger.answers(count + 1)
        #expect(Set(answers.map(\.id)).count == count + 1)
        let place = try #require(answers.firstIndex { $0.id == last })
        #expect(answers[place].status == .ok)
        #expect(place < count)
        let refused = answers.filter { $0.id != last }
        #expect(refused.allSatisfy { ["UNTRUSTED_CHAIN", "OVERLOADED"].contains($0.reason) })
        #expect(refused.contains { $0.reason == "UNTRUSTED_CHAIN" })
    }
}
