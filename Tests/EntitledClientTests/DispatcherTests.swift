import EventLoop
import Testing
import Wire

@testable import EntitledClient

/// Lost connections, repeated attempts, servers that send nonsense.
@Suite(.timeLimit(.minutes(1))) struct DispatcherTests {
    private static let upload = TransactionUpload(customerID: "u", signedTransactions: ["a.b.c"])

    private static func error(of client: Client) async -> ClientError? {
        await Samples.error { () async throws(ClientError) in
            try await client.checkAccess(.customer("u"), product: "p")
        }
    }

    @Test func `a read whose connection is lost is sent again over a new one`() async throws {
        let server = try FakeServer { received in
            if received.number < 3 { received.reset() } else { Samples.grant(received) }
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        #expect(try await client.checkAccess(.customer("u"), product: "p").isGranted)
        #expect(server.requestCount == 3)
        #expect(server.connectionCount == 3)
    }

    @Test func `a read is given up after the last attempt`() async throws {
        let server = try FakeServer { $0.close() }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        #expect(await Self.error(of: client) == .connectionLost)
        #expect(server.requestCount == client.configuration.attemptCountMax)
    }

    @Test func `a write whose connection is lost is never sent twice`() async throws {
        let server = try FakeServer { $0.close() }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let errors = [
            await Samples.error { () async throws(ClientError) in
                try await client.ingestTransactions(Self.upload)
            },
            await Samples.error { () async throws(ClientError) in
                try await client.linkCustomer(CustomerLink(customerID: "u", household: .leave))
            },
            await Samples.error { () async throws(ClientError) in
                try await client.rebuildCustomer(.customer("u"))
            },
            await Samples.error { () async throws(ClientError) in
                try await client.ingestNotification([0x7B])
            },
        ]
        #expect(errors.allSatisfy { $0 == .connectionLost })
        #expect(server.requestCount == 4)
    }

    @Test func `a notification is sent again only where the configuration says so`() async throws {
        let payloads = Locked<[[UInt8]]>([])
        let server = try FakeServer { received in
            guard case .ingestNotification(let request) = received.request.call else { return }
            payloads.withLock { $0.append(request.payload) }
            if received.number == 1 { return received.reset() }
            var response = Message.IngestNotificationResponse()
            response.disposition = .duplicate
            received.answer(.ingestNotification(response))
        }
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.resendsNotifications = true
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        #expect(try await client.ingestNotification([1, 2, 3]).disposition == .duplicate)
        #expect(payloads.withLock { $0 } == [[1, 2, 3], [1, 2, 3]])
    }

    @Test func `a read that meets UNAVAILABLE waits as told and is sent again`() async throws {
        let server = try FakeServer { received in
            if received.number == 1 {
                received.refuse(.unavailable, "DRAINING", retryAfter: 120)
            } else {
                Samples.grant(received)
            }
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let start = MonotonicClock.nowMilliseconds
        #expect(try await client.checkAccess(.customer("u"), product: "p").isGranted)
        #expect(MonotonicClock.nowMilliseconds - start >= 119)
        #expect(server.requestCount == 2)
    }

    @Test func `a wait beyond the deadline is not waited`() async throws {
        let server = try FakeServer { received in
            received.refuse(.unavailable, "STORE_UNAVAILABLE", retryAfter: .max)
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let start = MonotonicClock.nowMilliseconds
        guard case .refused(let refusal)? = await Self.error(of: client) else {
            Issue.record("no refusal")
            return
        }
        #expect(refusal.reason == "STORE_UNAVAILABLE")
        #expect(server.requestCount == 1)
        #expect(MonotonicClock.nowMilliseconds - start < 2_000)
    }

    @Test(arguments: [
        (Message.Status.resourceExhausted, "OVERLOADED" as Text),
        (.invalidArgument, "INVALID_FIELD"), (.internalError, ""), (.notFound, "UNKNOWN_CUSTOMER"),
        (.deadlineExceeded, "REVISION_NOT_REACHED"),
    ])
    func `no other refusal is tried again`(status: Message.Status, reason: Text) async throws {
        let server = try FakeServer { $0.refuse(status, reason) }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        guard case .refused(let refusal)? = await Self.error(of: client) else {
            Issue.record("no refusal")
            return
        }
        #expect(refusal.status.rawValue == status.rawValue)
        #expect(server.requestCount == 1)
    }

    @Test func `the server's own word that the time is over is the deadline`() async throws {
        let server = try FakeServer { $0.refuse(.deadlineExceeded, "DEADLINE") }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        #expect(await Self.error(of: client) == .deadlineExceeded)
    }

    @Test func `where nobody listens the call fails soon and says where`() async throws {
        let socket = try ListeningSocket.bind(try SocketAddress("127.0.0.1:0"), count: 1)[0]
        let address = "\(socket.address)"
        socket.close()
        let client = try Client(address: address)
        defer { client.close() }
        let start = MonotonicClock.nowMilliseconds
        guard case .connectionFailed(let message)? = await Self.error(of: client) else {
            Issue.record("no failure to connect")
            return
        }
        #expect(message.contains(address) && message.contains("ECONNREFUSED"))
        #expect(MonotonicClock.nowMilliseconds - start < 3_000)
    }

    @Test func `a server that comes up in the meantime is found`() async throws {
        let socket = try ListeningSocket.bind(try SocketAddress("127.0.0.1:0"), count: 1)[0]
        let address = "\(socket.address)"
        socket.close()
        var configuration = ClientConfiguration()
        configuration.attemptCountMax = 50
        configuration.longestBackoff = .milliseconds(40)
        let client = try Client(address: address, configuration: configuration)
        defer { client.close() }
        let call = Task { try await client.linkCustomer(CustomerLink(customerID: "u")).revision }
        try await Task.sleep(for: .milliseconds(150))
        let server = try FakeServer(at: address) { received in
            var response = Message.WriteResponse()
            response.revision = 5
            received.answer(.linkCustomer(response))
        }
        defer { server.stop() }
        // A write that never left may wait for its server.
        #expect(try await call.value == 5)
        #expect(server.requestCount == 1)
    }

    @Test func `the client goes on after a server that was away`() async throws {
        let first = try FakeServer(script: Samples.grant)
        let address = first.address
        let client = try Client(address: address)
        defer { client.close() }
        #expect(try await client.checkAccess(.customer("u"), product: "p").isGranted)
        first.stop()
        guard case .connectionFailed? = await Self.error(of: client) else {
            Issue.record("a stopped server answered")
            return
        }
        let second = try FakeServer(at: address, script: Samples.grant)
        defer { second.stop() }
        #expect(try await client.checkAccess(.customer("u"), product: "p").isGranted)
    }

    /// Bytes that are no answer; the id of the request is 1.
    private static let nonsense: [(String, [UInt8])] = [
        ("an oversized frame", [0x00, 0x10, 0x00, 0x01]),
        ("a negative length", [0xFF, 0xFF, 0xFF, 0xFF]),
        ("an empty frame", [0, 0, 0, 0]), ("no protobuf", [0, 0, 0, 2, 0x0A, 0x05]),
        ("an answer to nobody", [0, 0, 0, 2, 0x08, 0x63]),
        ("id 0 and OK", [0, 0, 0, 2, 0x08, 0x00]),
        ("OK without a result", [0, 0, 0, 2, 0x08, 0x01]),
    ]

    @Test(arguments: nonsense)
    func `what is no answer ends the call, not the client`(
        sample: (name: String, bytes: [UInt8])
    ) async throws {
        let server = try FakeServer { received in
            if received.number == 1 {
                received.send(bytes: sample.bytes)
            } else {
                Samples.grant(received)
            }
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        guard case .protocolViolation(let message)? = await Self.error(of: client) else {
            Issue.record("taken as an answer: \(sample.name)")
            return
        }
        #expect(!message.isEmpty)
        #expect(server.requestCount == 1)
        #expect(try await client.checkAccess(.customer("u"), product: "p").isGranted)
    }

    @Test func `the answer to another call is no answer`() async throws {
        let server = try FakeServer { $0.answer(.getServerInfo(Message.GetServerInfoResponse())) }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        guard case .protocolViolation? = await Self.error(of: client) else {
            Issue.record("taken as an answer")
            return
        }
    }

    @Test func `an answer that ends in the middle is a lost connection`() async throws {
        let server = try FakeServer { received in
            received.send(bytes: [0, 0, 0, 9, 0x08])
            received.close()
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let error = await Samples.error { () async throws(ClientError) in
            try await client.ingestTransactions(Self.upload)
        }
        #expect(error == .connectionLost)
    }

    @Test func `why the server ends a connection reaches the caller`() async throws {
        let server = try FakeServer { received in
            received.send(
                Response(id: 0, status: .invalidArgument, reason: "FRAME_TOO_LARGE", message: "no"))
            received.close()
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        guard case .refused(let refusal)? = await Self.error(of: client) else {
            Issue.record("no refusal")
            return
        }
        #expect(refusal.reason == "FRAME_TOO_LARGE")
    }

    @Test func `a connection that owes an answer and is silent is replaced`() async throws {
        let server = try FakeServer { received in
            if received.connectionNumber > 1 { Samples.grant(received) }
        }
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.connectionCountMax = 1
        configuration.silenceLimit = .milliseconds(100)
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        #expect(try await client.checkAccess(.customer("u"), product: "p").isGranted)
        #expect(server.connectionCount == 2)
    }

    @Test func `a silent connection that owes nothing is kept`() async throws {
        let server = try FakeServer(script: Samples.grant)
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.connectionCountMax = 1
        configuration.silenceLimit = .milliseconds(40)
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        for _ in 0..<3 {
            #expect(try await client.checkAccess(.customer("u"), product: "p").isGranted)
            try await Task.sleep(for: .milliseconds(90))
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `thousands of calls at once are all answered`() async throws {
        let server = try FakeServer(script: Samples.grant)
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let count = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<3_000 {
                group.addTask {
                    try await client.checkAccess(.customer("u"), product: "p\(index)").productID
                        == "p\(index)"
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count == 3_000)
        #expect(server.connectionCount <= 2)
    }
}
