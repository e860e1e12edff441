import EventLoop
import Testing
import Wire

@testable import EntitledClient

/// Every call: what is sent, and what is made of the answer.
@Suite(.timeLimit(.minutes(1))) struct ClientCallsTests {
    @Test func `a check carries all that the question says`() async throws {
        let question = AccessQuestion(
            customer: .appAccountToken("T"), subject: .entitlement("plus"), atMilliseconds: 5,
            minRevision: 9, scope: Scope(bundleID: "b", environment: .sandbox), units: 3)
        let request = try await FakeServer.sent(answering: Samples.granted()) {
            _ = try await $0.checkAccess(question)
        }
        var expected = Message.CheckAccessRequest(
            customer: .appAccountToken("T"), subject: .entitlement("plus"))
        expected.atMilliseconds = 5
        expected.minRevision = 9
        expected.scope = Message.Scope(bundleID: "b", environment: .sandbox)
        expected.units = 3
        #expect(request.call == .checkAccess(expected))
    }

    @Test func `scope and key of the configuration go with every call that names none`()
        async throws
    {
        var configuration = ClientConfiguration()
        configuration.scope = Scope(bundleID: "b", environment: .sandbox)
        configuration.apiKey = "k"
        let request = try await FakeServer.sent(
            answering: .linkCustomer(Message.WriteResponse()), configuration: configuration
        ) {
            _ = try await $0.linkCustomer(
                CustomerLink(
                    customerID: "u", identity: .originalTransaction("o"), household: .join("h"),
                    transfersOwnership: true))
        }
        var expected = Message.LinkCustomerRequest()
        expected.customerID = "u"
        expected.identity = .originalTransactionID("o")
        expected.householdID = "h"
        expected.transfer = true
        expected.scope = Message.Scope(bundleID: "b", environment: .sandbox)
        #expect(request.call == .linkCustomer(expected))
        #expect(request.apiKey == "k")
    }

    @Test func `a batch comes back in order with one revision`() async throws {
        var response = Message.CheckAccessBatchResponse()
        response.revision = 12
        response.results = ["a", "b"].map { (product: Text) in
            var answer = Message.CheckAccessResponse()
            answer.productID = product
            return answer
        }
        let request = try await FakeServer.sent(answering: .checkAccessBatch(response)) { client in
            let answers = try await client.checkAccessBatch([
                AccessQuestion(customer: .customer("u"), subject: .product("a")),
                AccessQuestion(customer: .appTransaction("x"), subject: .product("b")),
            ])
            #expect(answers.revision == 12)
            #expect(answers.answers.map(\.productID) == ["a", "b"])
        }
        guard case .checkAccessBatch(let checks)? = request.call else {
            Issue.record("no batch")
            return
        }
        #expect(checks.map(\.customer) == [.customerID("u"), .appTransactionID("x")])
    }

    @Test func `a batch with an answer missing is no answer`() async throws {
        let error = Locked<ClientError?>(nil)
        _ = try await FakeServer.sent(
            answering: .checkAccessBatch(Message.CheckAccessBatchResponse())
        ) {
            client in
            let found = await Samples.error { () async throws(ClientError) in
                try await client.checkAccessBatch([
                    AccessQuestion(customer: .customer("u"), subject: .product("a"))
                ])
            }
            error.withLock { $0 = found }
        }
        guard case .protocolViolation? = error.withLock({ $0 }) else {
            Issue.record("taken as an answer")
            return
        }
    }

    @Test func `a notification's bytes are sent as they are`() async throws {
        var response = Message.IngestNotificationResponse()
        response.notificationUUID = "uuid"
        response.notificationType = "REVOKE"
        response.disposition = .applied
        response.revision = 3
        var change = Message.Change()
        change.customerID = "u"
        change.productID = "p"
        change.grantedBefore = true
        change.reason = .familyRefunded
        response.changes = [change]
        let request = try await FakeServer.sent(answering: .ingestNotification(response)) {
            client in
            let result = try await client.ingestNotification([0, 255, 0x7B])
            #expect(result.notificationUUID == "uuid" && result.notificationType == "REVOKE")
            #expect(result.disposition == .applied && result.revision == 3)
            #expect(
                result.changes == [
                    AccessChange(
                        customerID: "u", productID: "p", wasGranted: true, isGranted: false,
                        reason: .familyRefunded)
                ])
        }
        #expect(request.call == .ingestNotification(.init(payload: [0, 255, 0x7B])))
    }

    @Test func `an upload carries every signed thing`() async throws {
        var response = Message.WriteResponse()
        response.revision = 4
        let request = try await FakeServer.sent(answering: .ingestTransactions(response)) {
            client in
            let result = try await client.ingestTransactions(
                TransactionUpload(
                    customerID: "u", signedTransactions: ["t1", "t2"], signedRenewals: ["r"],
                    signedAppTransaction: "a", transfersOwnership: true))
            #expect(result.revision == 4 && result.changes.isEmpty)
        }
        var expected = Message.IngestTransactionsRequest()
        expected.customerID = "u"
        expected.signedTransactions = ["t1", "t2"]
        expected.signedRenewals = ["r"]
        expected.signedAppTransaction = "a"
        expected.transfer = true
        #expect(request.call == .ingestTransactions(expected))
    }

    @Test func `a rebuild says source and dry run, and tells what is so now`() async throws {
        var entitlement = Message.Entitlement()
        entitlement.productID = "p"
        entitlement.names = ["plus"]
        entitlement.reason = .refunded
        entitlement.revokedAtMilliseconds = 8
        entitlement.paymentReversed = true
        var response = Message.RebuildCustomerResponse()
        response.source = .appStore
        response.transactionsRead = 1_000
        response.entitlements = [entitlement]
        let request = try await FakeServer.sent(answering: .rebuildCustomer(response)) { client in
            let result = try await client.rebuildCustomer(
                .customer("u"), source: .storedFacts, isDryRun: true)
            #expect(result.source == .appStore && result.transactionCount == 1_000)
            #expect(result.entitlements.map(\.names) == [["plus"]])
            #expect(result.entitlements.first?.revokedAtMilliseconds == 8)
            #expect(result.entitlements.first?.validUntilMilliseconds == nil)
            #expect(result.entitlements.first?.isPaymentReversed == true)
        }
        var expected = Message.RebuildCustomerRequest()
        expected.customer = .customerID("u")
        expected.source = .storedFacts
        expected.dryRun = true
        #expect(request.call == .rebuildCustomer(expected))
    }

    @Test func `the server's word on itself`() async throws {
        var response = Message.GetServerInfoResponse()
        response.version = "1.2.3"
        response.scopes = [
            Message.Scope(bundleID: "b"), Message.Scope(bundleID: "c", environment: .sandbox),
        ]
        response.customers = 5
        _ = try await FakeServer.sent(answering: .getServerInfo(response)) { client in
            let info = try await client.serverInfo()
            #expect(info.version == "1.2.3" && info.customerCount == 5)
            #expect(
                info.scopes == [
                    Scope(bundleID: "b", environment: .production),
                    Scope(bundleID: "c", environment: .sandbox),
                ])
        }
    }
}
