import EntitledClient
import EventLoop
import Testing
import Wire

@Suite(.timeLimit(.minutes(1))) struct CustomerPagesTests {
    private static func page(
        _ ids: [Text], next: Text = "", total: UInt32, isFirst: Bool = false
    ) -> Response.Result {
        var page = Message.GetCustomerResponse()
        page.customerID = "u"
        page.transactions = ids.map { id in
            var record = Message.TransactionRecord()
            record.transactionID = id
            record.rawOwnership = "FAMILY_SHARED"
            return record
        }
        if isFirst {
            var notification = Message.NotificationRecord()
            notification.notificationUUID = "n"
            page.notifications = [notification]
            page.identities = ["customer:u"]
            page.householdID = "h"
            var entry = Message.AuditEntry()
            entry.action = "LINKED"
            page.audit = [entry]
            page.entitlements = [Message.Entitlement()]
        }
        page.nextPageToken = next
        page.transactionsTotal = total
        page.revision = 9
        return .getCustomer(page)
    }

    private static func token(_ received: FakeServer.Received) -> Text {
        guard case .getCustomer(let request)? = received.request.call else { return "?" }
        return request.pageToken
    }

    private static func customer(from server: FakeServer) async throws -> Customer {
        let client = try Client(address: server.address)
        defer { client.close() }
        return try await client.customer(.customer("u"))
    }

    @Test func `the pages of a customer are put together in order`() async throws {
        let server = try FakeServer { received in
            switch Self.token(received) {
            case "": received.answer(Self.page(["1", "2"], next: "2", total: 5, isFirst: true))
            case "2": received.answer(Self.page(["3", "4"], next: "4", total: 5))
            default: received.answer(Self.page(["5"], total: 5))
            }
        }
        defer { server.stop() }
        let customer = try await Self.customer(from: server)
        #expect(customer.transactions.map(\.transactionID) == ["1", "2", "3", "4", "5"])
        #expect(customer.transactions.allSatisfy { $0.rawOwnership == "FAMILY_SHARED" })
        #expect(customer.notifications.count == 1 && customer.entitlements.count == 1)
        #expect(customer.identities == ["customer:u"] && customer.revision == 9)
        #expect(customer.householdID == "h" && customer.audit.map(\.action) == ["LINKED"])
        #expect(server.requestCount == 3)
    }

    @Test func `pages come one by one, with all that an export needs`() async throws {
        let server = try FakeServer { received in
            var page = Message.GetCustomerResponse()
            var record = Message.TransactionRecord()
            record.signedRenewal = "r"
            record.chainLinked = true
            (record.datelessRevokeMilliseconds, record.grantNotificationMilliseconds) = (1, 2)
            (record.activeStatusMilliseconds, record.datedCopyMilliseconds) = (3, 0)
            page.transactions = [record]
            var link = Message.CustomerLink()
            link.identity = .appAccountToken("t")
            link.movedAtRevision = 7
            if Self.token(received).isEmpty {
                page.links = [link, Message.CustomerLink()]
                page.nextPageToken = "x"
            }
            received.answer(.getCustomer(page))
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        var pages: [Customer] = []
        for try await page in client.customerPages(of: .customer("u"), withPayloads: true) {
            pages.append(page)
        }
        #expect(pages.map(\.transactions.count) == [1, 1] && server.requestCount == 2)
        let link = LinkedIdentity(identity: .appAccountToken("t"), movedAtRevision: 7)
        #expect(pages.map(\.links) == [[link], []])
        let record = try #require(pages.first?.transactions.first)
        var evidence = TransactionEvidence()
        evidence.datelessRevokeMilliseconds = 1
        evidence.grantNotificationMilliseconds = 2
        evidence.activeStatusMilliseconds = 3
        #expect(record.evidence == evidence)
        #expect(record.signedRenewal == "r" && record.isChainLinked)
    }

    @Test func `all payloads are asked for only when somebody wants them`() async throws {
        let asked = Locked<[Bool]>([])
        let server = try FakeServer { received in
            guard case .getCustomer(let request)? = received.request.call else { return }
            asked.withLock { $0.append(request.allPayloads) }
            received.answer(Self.page([], total: 0, isFirst: true))
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        _ = try await client.customer(.customer("u"))
        _ = try await client.customer(.customer("u"), withPayloads: true)
        #expect(asked.withLock { $0 } == [false, true])
    }

    @Test func `a customer who grows between two pages is read again`() async throws {
        let server = try FakeServer { received in
            let isLater = received.number > 2
            switch Self.token(received) {
            case "":
                received.answer(
                    Self.page(isLater ? ["0", "1"] : ["1"], next: "1", total: isLater ? 3 : 2))
            default: received.answer(Self.page(["2"], total: 3))
            }
        }
        defer { server.stop() }
        let customer = try await Self.customer(from: server)
        #expect(customer.transactions.map(\.transactionID) == ["0", "1", "2"])
        #expect(server.requestCount == 4)
    }

    @Test func `pages that lead in a circle are no answer`() async throws {
        let server = try FakeServer { received in
            received.answer(Self.page(["1"], next: "1", total: 2))
        }
        defer { server.stop() }
        await #expect(throws: ClientError.self) { try await Self.customer(from: server) }
        #expect(server.requestCount == 2)
    }

    @Test func `pages that never come to their total are no answer`() async throws {
        let server = try FakeServer { $0.answer(Self.page(["1"], total: 2)) }
        defer { server.stop() }
        await #expect(throws: ClientError.self) { try await Self.customer(from: server) }
        #expect(server.requestCount == 4)
    }
}
