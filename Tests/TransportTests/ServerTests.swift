import Entitlements
import EventLoop
import Service
import Session
import Storage
import TestSupport
import Testing
import Transport
import Wire

/// A whole server on a memory store, in this process.
final class ServerBench {
    let server: Server
    let store = MemoryStore()
    let fixtures: SignedFixtures
    let service: EntitlementService<MemoryStore>
    let ended = BlockingQueue<Void>(capacity: 4)

    /// A server; with `remote` one that asks Apple.
    init(
        remote: RemoteWork? = nil, _ change: (inout ServerOptions) -> Void = { _ in }
    ) throws {
        let authority = try TestCertificateAuthority()
        fixtures = SignedFixtures(authority: authority)
        service = try EntitlementService(
            store: store,
            configuration: ServiceConfiguration(
                apps: [
                    AppConfiguration(
                        bundleID: fixtures.bundleID, appAppleID: fixtures.appAppleID,
                        environments: [.production])
                ],
                roots: [authority.trustedRoot], isAppStoreConfigured: remote != nil,
                clock: { Timestamp(milliseconds: 1_772_323_200_000) }))
        try service.warm()
        var options = ServerOptions(
            addresses: [.ipv4(host: "127.0.0.1", port: 0)],
            identity: ServerIdentity(version: "1", commit: ""))
        change(&options)
        let ended = ended
        server = try Server(options: options, service: service, remote: remote) {
            _ = ended.push(())
        }
    }

    func connect() throws -> TestClient { try TestClient(server.addresses[0]) }

    func end() {
        server.stop()
        server.join()
    }

    static func check(
        _ customer: String, id: UInt64 = 1, minRevision: UInt64 = 0, timeout: UInt32 = 0
    ) -> Request {
        var check = Message.CheckAccessRequest(
            customer: .customerID(Text(customer)), subject: .product("p"))
        check.minRevision = minRevision
        var request = Request(id: id, call: .checkAccess(check))
        request.timeoutMilliseconds = timeout
        return request
    }

    static func link(_ customer: String, id: UInt64 = 1) -> Request {
        var link = Message.LinkCustomerRequest()
        link.customerID = Text(customer)
        link.householdID = Text("home of \(customer)")
        return Request(id: id, call: .linkCustomer(link))
    }
}

@Suite struct ServerTests {
    @Test(arguments: [1, 3])
    func `a write is seen on every connection once it is answered`(loopCount: Int) throws {
        let bench = try ServerBench { $0.loopCount = loopCount }
        defer { bench.end() }
        let writer = try bench.connect()
        let readers = try (0..<8).map { _ in try bench.connect() }
        for round in 0..<50 {
            let name = "customer \(round)"
            let before = try readers[0].ask(ServerBench.check(name))
            guard case .checkAccess(let unknown) = before.result else {
                Issue.record("\(before)")
                return
            }
            #expect(unknown.reason == .unknownCustomer)
            #expect(try writer.ask(ServerBench.link(name)).status == .ok)
            for reader in readers { try reader.send(ServerBench.check(name)) }
            for reader in readers {
                guard case .checkAccess(let answer) = try reader.next()?.result else {
                    Issue.record("no answer")
                    return
                }
                #expect(answer.reason == .noPurchase)
                #expect(answer.revision == UInt64(round + 1))
            }
        }
    }

    @Test func `many requests in one write are each answered once`() throws {
        let bench = try ServerBench()
        defer { bench.end() }
        let client = try bench.connect()
        for id in 1...900 {
            try client.send(
                id.isMultiple(of: 3)
                    ? ServerBench.link("c\(id)", id: UInt64(id))
                    : ServerBench.check("c\(id)", id: UInt64(id)))
        }
        client.endOutput()
        var ids: Set<UInt64> = []
        while let response = try client.next() {
            #expect(response.status == .ok)
            #expect(ids.insert(response.id).inserted)
        }
        #expect(ids == Set(1...900))
    }

    @Test func `what another thread commits is seen on every connection, and wakes who waits`()
        throws
    {
        let bench = try ServerBench { $0.loopCount = 2 }
        let waiting = try bench.connect()
        try waiting.send(ServerBench.check("a", id: 7, minRevision: 1, timeout: 20_000))
        let scope = try #require(bench.service.scopes.first).index
        let event = try bench.service.prepare(
            .link(LinkRequest(customerID: "a", scope: scope, householdID: "h")))
        guard case .link(_, let revision) = try bench.server.door.commit(event) else {
            Issue.record("a link is answered as a link")
            return
        }
        guard case .checkAccess(let answer) = try #require(try waiting.next()).result else {
            Issue.record("no answer")
            return
        }
        #expect(revision == 1 && answer.revision == 1 && answer.reason == .noPurchase)
        let door = bench.server.door
        bench.end()
        let refusal = #expect(throws: Refusal.self) { try door.commit(event) }
        #expect(refusal?.reason == .draining)
    }

    @Test func `half a frame and its end have no effect`() throws {
        let bench = try ServerBench()
        defer { bench.end() }
        let client = try bench.connect()
        client.send([0, 0, 0, 12, 8, 1, 0x52, 8, 0x0A, 3])
        client.endOutput()
        #expect(try client.next() == nil)
    }

    @Test(arguments: [[0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0, 0x10, 0, 1], [0, 0, 0, 0]])
    func `what is no frame is answered with id 0, then the connection ends`(
        bytes: [UInt8]
    ) throws {
        let bench = try ServerBench()
        defer { bench.end() }
        let other = try bench.connect()
        let client = try bench.connect()
        client.send(bytes + [UInt8](repeating: 7, count: 1_024))
        let response = try client.next()
        #expect(response?.id == 0 && response?.status == .invalidArgument)
        #expect(try client.next() == nil)
        #expect(try other.ask(ServerBench.check("a")).status == .ok)
    }

    @Test func `a revision is waited for until it comes`() throws {
        let bench = try ServerBench()
        defer { bench.end() }
        let waiting = try bench.connect()
        let writer = try bench.connect()
        try waiting.send(ServerBench.check("a", id: 7, minRevision: 2, timeout: 20_000))
        #expect(try writer.ask(ServerBench.link("a")).status == .ok)
        #expect(try waiting.ask(ServerBench.check("b", id: 8)).id == 8)
        #expect(try writer.ask(ServerBench.link("b")).status == .ok)
        let response = try #require(try waiting.next())
        guard case .checkAccess(let answer) = response.result else {
            Issue.record("\(response)")
            return
        }
        #expect(response.id == 7 && answer.revision >= 2)
    }

    @Test func `a revision that does not come is refused at the deadline`() throws {
        let bench = try ServerBench()
        defer { bench.end() }
        let client = try bench.connect()
        let start = MonotonicClock.nowMilliseconds
        let response = try client.ask(
            ServerBench.check("a", id: 3, minRevision: 9, timeout: 50))
        #expect(response.id == 3 && response.status == .deadlineExceeded)
        #expect(response.reason == "REVISION_NOT_REACHED")
        #expect(MonotonicClock.nowMilliseconds - start >= 49)
    }

    @Test func `a connection beyond the limit is told so, and its place is free again`() throws {
        let bench = try ServerBench { $0.connectionCountMax = 2 }
        defer { bench.end() }
        var clients = try (0..<2).map { _ in try bench.connect() }
        for client in clients {
            #expect(try client.ask(ServerBench.check("a")).status == .ok)
        }
        do {
            let refused = try bench.connect()
            let response = try #require(try refused.next())
            #expect(response.id == 0 && response.status == .resourceExhausted)
            #expect(response.reason == "OVERLOADED" && response.retryAfterMilliseconds > 0)
            #expect(try refused.next() == nil)
        }
        #expect(bench.server.counts.refusedConnections == 1)
        clients.removeLast()
        for _ in 0..<5_000 where bench.server.counts.connections > 1 { pause() }
        #expect(try bench.connect().ask(ServerBench.check("a")).status == .ok)
    }

    @Test func `connections that go away leave nothing`() throws {
        let bench = try ServerBench()
        defer { bench.end() }
        for round in 0..<100 {
            let client = try bench.connect()
            for id in 1...5 {
                try client.send(ServerBench.link("gone \(round) \(id)", id: UInt64(id)))
            }
        }
        for _ in 0..<5_000 where bench.server.counts.connections > 0 { pause() }
        #expect(bench.server.counts.connections == 0)
        #expect(bench.server.counts.acceptedConnections == 100)
    }

    @Test func `draining refuses what is new, answers what waits, and ends`() throws {
        let bench = try ServerBench()
        let idle = try bench.connect()
        #expect(try idle.ask(ServerBench.check("a")).status == .ok)
        let busy = try bench.connect()
        try busy.send(ServerBench.check("a", id: 5, minRevision: 9, timeout: 600))
        #expect(try busy.ask(ServerBench.check("a", id: 6)).id == 6)
        bench.server.drain(graceMilliseconds: 20_000)
        bench.server.drain(graceMilliseconds: 0)
        var response = try busy.ask(ServerBench.check("a", id: 7))
        for _ in 0..<100 where response.status == .ok {
            response = try busy.ask(ServerBench.check("a", id: 7))
        }
        #expect(response.status == .unavailable && response.reason == "DRAINING")
        #expect(throws: TestClient.ClientFailure.self) { try bench.connect() }
        let last = try #require(try busy.next())
        #expect(last.id == 5 && last.reason == "REVISION_NOT_REACHED")
        #expect(try busy.next() == nil)
        #expect(try idle.next() == nil)
        #expect(bench.ended.pop() != nil)
        bench.server.join()
    }

    @Test func `draining waits for no answer of Apple's, and its client is told`() throws {
        let asked = BlockingQueue<Int64>(capacity: 4)
        let gate = BlockingQueue<Void>(capacity: 1)
        let bench = try ServerBench(
            remote: RemoteWork(
                handler: { _, context throws(Refusal) in
                    _ = asked.push(context.timeoutMilliseconds)
                    _ = gate.pop()
                    throw Refusal(.draining, "cut short", retryAfterMilliseconds: 1_000)
                }, giveUp: { gate.close() }))
        let client = try bench.connect()
        var rebuild = Message.RebuildCustomerRequest()
        rebuild.customer = .customerID("a")
        var request = Request(id: 5, call: .rebuildCustomer(rebuild))
        request.timeoutMilliseconds = 50_000
        try client.send(request)
        let timeout = try #require(asked.pop())
        #expect(timeout > 0 && timeout <= 50_000)
        #expect(try client.ask(ServerBench.check("a", id: 6)).id == 6)
        bench.server.drain(graceMilliseconds: 60_000)
        let response = try #require(try client.next())
        #expect(response.id == 5 && response.status == .unavailable)
        #expect(response.reason == "DRAINING")
        #expect(bench.ended.pop() != nil)
        bench.server.join()
    }

    @Test func `the grace ends what would wait longer`() throws {
        let bench = try ServerBench { $0.loopCount = 2 }
        let client = try bench.connect()
        try client.send(ServerBench.check("a", id: 5, minRevision: 9, timeout: 60_000))
        #expect(try client.ask(ServerBench.check("a", id: 6)).id == 6)
        let start = MonotonicClock.nowMilliseconds
        bench.server.drain(graceMilliseconds: 200)
        #expect(bench.ended.pop() != nil)
        bench.server.join()
        #expect(MonotonicClock.nowMilliseconds - start < 10_000)
        #expect(try client.next() == nil)
    }

    @Test func `a server without connections ends at once`() throws {
        let bench = try ServerBench { $0.loopCount = 3 }
        bench.server.drain(graceMilliseconds: 60_000)
        #expect(bench.ended.pop() != nil)
        bench.server.join()
        #expect(bench.ended.count == 0)
    }

    @Test func `an address in use is an error that leaves nothing running`() throws {
        let bench = try ServerBench()
        defer { bench.end() }
        let address = bench.server.addresses[0]
        let error = #expect(throws: UVError.self) {
            try ServerBench {
                $0.addresses = [.ipv4(host: "127.0.0.1", port: 0), address]
                $0.loopCount = 2
            }
        }
        #expect(error?.isAddressInUse == true)
        #expect(try bench.connect().ask(ServerBench.check("a")).status == .ok)
    }
}

extension ServerTests {
    @Test func `what the loops answered is counted by call and code`() throws {
        let bench = try ServerBench { $0.loopCount = 2 }
        defer { bench.end() }
        for index in 0..<6 {
            let client = try bench.connect()
            _ = try client.ask(ServerBench.check("customer \(index)"))
            _ = try client.ask(ServerBench.link("customer \(index)"))
            _ = try client.ask(Request(id: 3, call: .getServerInfo))
            _ = try client.ask(ServerBench.check("", id: 4))
            _ = try client.ask(Request(id: 5, call: .rebuildCustomer(.init())))
        }
        let scope = try #require(bench.service.scopes.first).index
        let counts = bench.server.callCounts
        #expect(counts[.checkAccess, .ok] == 6 && counts[scope, .unknownCustomer] == 6)
        #expect(counts[.linkCustomer, .ok] == 6 && counts[.getServerInfo, .ok] == 6)
        #expect(counts[.checkAccess, .invalidArgument] == 6)
        #expect(counts[.rebuildCustomer, .invalidArgument] == 6)
        #expect(counts.durations(of: .linkCustomer).bucketCounts.reduce(0, +) == 6)
        #expect(counts.durations(of: .checkAccess).bucketCounts.reduce(0, +) == 12)
        #expect(counts.receivedByteCount > 0 && counts.sentByteCount > 0)
    }

    @Test func `a loop that turns answers, and is asked again`() async throws {
        let bench = try ServerBench { $0.loopCount = 2 }
        defer { bench.end() }
        #expect(bench.server.stalledMilliseconds == 0)
        for _ in 0..<3 {
            bench.server.askLoops()
            for _ in 0..<2_000 where bench.server.stalledMilliseconds > 0 {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(bench.server.stalledMilliseconds == 0)
        }
    }
}
