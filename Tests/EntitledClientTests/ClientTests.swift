import EventLoop
import Testing
import Wire

@testable import EntitledClient

@Suite(.timeLimit(.minutes(1))) struct ClientTests {
    @Test(arguments: [
        "127.0.0.1:0", "[::1]:0", "unix:/tmp/entitled-client-\(UInt64.random(in: 0 ... .max)).sock",
    ])
    func `a check is answered over every kind of address`(address: String) async throws {
        let server = try FakeServer(at: address, script: Samples.grant)
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let answer = try await client.checkAccess(.customer("u"), product: "p")
        #expect(
            answer
                == AccessAnswer(
                    isGranted: true, reason: .active, ownership: .familyShared,
                    validUntilMilliseconds: 1_800_000_000_000, productID: "p",
                    transactionID: "t1", originalTransactionID: "o1", revision: 7))
    }

    @Test func `answers that come in another order reach their own callers`() async throws {
        let held = Locked<[(FakeServer.Later, Text)]>([])
        let server = try FakeServer { received in
            guard case .checkAccess(let check) = received.request.call,
                case .product(let product) = check.subject
            else { return }
            held.withLock { $0.append((received.later, product)) }
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let products = (0..<50).map { "p\($0)" }
        let answered = try await withThrowingTaskGroup(of: (String, String).self) { group in
            for product in products {
                group.addTask {
                    (
                        product,
                        try await client.checkAccess(.customer("u"), product: product).productID
                    )
                }
            }
            while held.withLock({ $0.count }) < products.count {
                try await Task.sleep(for: .milliseconds(2))
            }
            for (later, product) in held.withLock({ $0 }).reversed() {
                server.answer(later, Samples.granted(product: product))
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answered.count == products.count)
        #expect(answered.allSatisfy { $0.0 == $0.1 })
        #expect(server.connectionCount <= client.configuration.connectionCountMax)
    }

    @Test func `an answer cut into single bytes is one answer`() async throws {
        let server = try FakeServer { received in
            var output = OutputBuffer()
            let response = Response(id: received.request.id, result: Samples.granted())
            try? response.encodeFrame(
                into: &output, in: MessageArena(), frameByteCountMax: 1 << 20)
            for index in 0..<output.count { received.send(bytes: [output.bytes[index]]) }
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        #expect(try await client.checkAccess(.customer("u"), product: "p").isGranted)
    }

    @Test func `an unknown number is kept as it came`() async throws {
        let server = try FakeServer { received in
            var message = Message.CheckAccessResponse()
            message.reason = Message.Reason(rawValue: 99)
            message.ownership = Message.Ownership(rawValue: -3)
            received.answer(.checkAccess(message))
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let answer = try await client.checkAccess(.customer("u"), product: "p")
        #expect(answer.reason == AccessReason(rawValue: 99))
        #expect(answer.reason.name == "99")
        #expect(answer.ownership.rawValue == -3)
        #expect(answer.validUntilMilliseconds == nil)
    }

    @Test func `a refusal comes with status, reason, message and the wait`() async throws {
        let server = try FakeServer { received in
            received.refuse(Message.Status(rawValue: 42), "NEW_REASON", retryAfter: 1_500)
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let error = await Samples.error { () async throws(ClientError) in
            try await client.checkAccess(.customer("u"), product: "p")
        }
        #expect(
            error
                == .refused(
                    Refusal(
                        status: StatusCode(rawValue: 42), reason: "NEW_REASON",
                        message: "as the test wants it", retryAfterMilliseconds: 1_500)))
    }

    @Test func `a call that is not answered ends at its deadline and frees its place`() async throws
    {
        let server = try FakeServer { received in
            if received.request.timeoutMilliseconds > 1_000 { Samples.grant(received) }
        }
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.connectionCountMax = 1
        configuration.inFlightCountMax = 1
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        let question = AccessQuestion(customer: .customer("u"), subject: .product("p"))
        let start = MonotonicClock.nowMilliseconds
        let error = await Samples.error { () async throws(ClientError) in
            try await client.checkAccess(question, timeout: .milliseconds(150))
        }
        let waited = MonotonicClock.nowMilliseconds - start
        #expect(error == .deadlineExceeded)
        #expect(waited >= 149 && waited < 2_000)
        #expect(try await client.checkAccess(question).isGranted)
        #expect(server.connectionCount == 1)
    }

    @Test func `the server hears a timeout a little below the caller's`() async throws {
        let heard = Locked<UInt32>(0)
        let server = try FakeServer { received in
            heard.withLock { $0 = received.request.timeoutMilliseconds }
            Samples.grant(received)
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let question = AccessQuestion(customer: .customer("u"), subject: .product("p"))
        _ = try await client.checkAccess(question, timeout: .milliseconds(900))
        let timeout = heard.withLock { $0 }
        #expect(timeout > 400 && timeout <= 850)
    }

    @Test func `a late answer to a call that was given up disturbs nobody`() async throws {
        let held = Locked<[FakeServer.Later]>([])
        let server = try FakeServer { received in
            if received.number == 1 {
                held.withLock { $0.append(received.later) }
            } else {
                Samples.grant(received)
            }
        }
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.connectionCountMax = 1
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        let question = AccessQuestion(customer: .customer("u"), subject: .product("p"))
        let error = await Samples.error { () async throws(ClientError) in
            try await client.checkAccess(question, timeout: .seconds(1))
        }
        #expect(error == .deadlineExceeded)
        let later = try #require(held.withLock { $0.first })
        server.answer(later, Samples.granted(product: "late"))
        for _ in 0..<5 {
            #expect(try await client.checkAccess(question).productID == "p")
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `cancelling the task ends the call and frees its place`() async throws {
        let server = try FakeServer { received in
            if received.number > 1 { Samples.grant(received) }
        }
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.connectionCountMax = 1
        configuration.inFlightCountMax = 1
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        let task = Task {
            await Samples.error { () async throws(ClientError) in
                try await client.checkAccess(.customer("u"), product: "p")
            }
        }
        while server.requestCount < 1 { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(try await client.checkAccess(.customer("u"), product: "p").isGranted)
    }

    @Test func `a task that is cancelled already sends nothing`() async throws {
        let server = try FakeServer(script: Samples.grant)
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await Samples.error { () async throws(ClientError) in
                try await client.checkAccess(.customer("u"), product: "p")
            }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(server.requestCount == 0)
    }

    @Test func `closing ends the calls under way, and later ones`() async throws {
        let server = try FakeServer { _ in }
        defer { server.stop() }
        let client = try Client(address: server.address)
        let calls = (0..<20).map { _ in
            Task {
                await Samples.error { () async throws(ClientError) in
                    try await client.checkAccess(.customer("u"), product: "p")
                }
            }
        }
        while server.requestCount < 20 { try await Task.sleep(for: .milliseconds(2)) }
        client.close()
        for call in calls { #expect(await call.value == .closed) }
        let error = await Samples.error { () async throws(ClientError) in
            try await client.serverInfo()
        }
        #expect(error == .closed)
        client.close()
    }

    @Test func `a client that is dropped ends its thread and its connections`() async throws {
        let server = try FakeServer(script: Samples.grant)
        defer { server.stop() }
        for _ in 0..<20 {
            let client = try Client(address: server.address)
            _ = try await client.checkAccess(.customer("u"), product: "p")
        }
        #expect(server.connectionCount == 20)
    }

    @Test(arguments: ["", "localhost", "example.com:1", "127.0.0.1:65536", "unix:"])
    func `what is no address is refused at once`(text: String) {
        #expect {
            _ = try Client(address: text)
        } throws: { error in
            guard case .invalidAddress(let message)? = error as? ClientError else { return false }
            return !message.isEmpty
        }
    }

    @Test func `a request beyond the frame's limit is never sent`() async throws {
        let server = try FakeServer(script: Samples.grant)
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        let error = await Samples.error { () async throws(ClientError) in
            try await client.ingestNotification(Array(repeating: 0x61, count: 1 << 20))
        }
        guard case .requestTooLarge(let byteCount, let limit)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(byteCount > limit && limit == 1 << 20)
        #expect(server.requestCount == 0)
        #expect(try await client.checkAccess(.customer("u"), product: "p").isGranted)
    }

    @Test func `further calls wait while the places in flight are taken`() async throws {
        let held = Locked<[FakeServer.Later]>([])
        let server = try FakeServer { received in
            held.withLock { $0.append(received.later) }
        }
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.connectionCountMax = 1
        configuration.inFlightCountMax = 4
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        let calls = (0..<10).map { _ in
            Task { try await client.checkAccess(.customer("u"), product: "p").isGranted }
        }
        while server.requestCount < 4 { try await Task.sleep(for: .milliseconds(2)) }
        try await Task.sleep(for: .milliseconds(50))
        #expect(server.requestCount == 4)
        var answeredCount = 0
        while answeredCount < 10 {
            let next = held.withLock { held in
                let next = held
                held = []
                return next
            }
            for later in next { server.answer(later, Samples.granted()) }
            answeredCount += next.count
            try await Task.sleep(for: .milliseconds(2))
        }
        for call in calls { #expect(try await call.value) }
    }
}
