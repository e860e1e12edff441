import HTTP
import Testing

@Suite struct DaemonRelayTests {
    private func listener(_ identity: TestIdentity) throws -> HTTPListener {
        try HTTPListener(options: .init(identity: identity.server)) { request in
            HTTPResponse(status: 200, body: Array(request.target.utf8))
        }
    }

    private func client(_ identity: TestIdentity) throws -> HTTPClient {
        try HTTPClient(options: .init(userAgent: "test/1", extraRoots: identity.root))
    }

    @Test func `who connects anew sees the new certificate, who is connected goes on`() throws {
        let (first, second) = (try TestIdentity(), try TestIdentity())
        let listener = try listener(first)
        defer { listener.stop(graceMilliseconds: 5_000) }
        let request = HTTPRequest(target: "https://\(listener.address)/")
        let old = try client(first)
        #expect(try old.send(request).status == 200)
        try listener.replaceIdentity(second.server)
        #expect(try client(second).send(request).status == 200)
        #expect(throws: HTTPError.self) { try client(first).send(request) }
        #expect(try old.send(request).status == 200)
        #expect(old.openedConnectionCount == 1)
    }

    @Test func `a certificate that cannot be used leaves the old one`() throws {
        let (first, second) = (try TestIdentity(), try TestIdentity())
        let listener = try listener(first)
        defer { listener.stop(graceMilliseconds: 5_000) }
        let mixed = HTTPServerIdentity(
            certificateChain: second.server.certificateChain, privateKey: first.server.privateKey)
        #expect(throws: HTTPListenerError.self) { try listener.replaceIdentity(mixed) }
        let request = HTTPRequest(target: "https://\(listener.address)/")
        #expect(try client(first).send(request).status == 200)
    }

    @Test func `certificates may change again and again, and a stop ends them all`() throws {
        let identities = try (0..<4).map { _ in try TestIdentity() }
        let listener = try listener(identities[0])
        let request = HTTPRequest(target: "https://\(listener.address)/")
        var clients: [HTTPClient] = []
        for round in 1..<12 {
            let identity = identities[round % 4]
            try listener.replaceIdentity(identity.server)
            let client = try client(identity)
            #expect(try client.send(request).status == 200)
            // Some stay connected to a daemon that was relieved long ago.
            if round.isMultiple(of: 3) { clients.append(client) }
        }
        for client in clients {
            #expect(try client.send(request).status == 200)
            #expect(client.openedConnectionCount == 1)
        }
        listener.stop(graceMilliseconds: 5_000)
        #expect(listener.counts.connections == 0)
        #expect(throws: HTTPListenerError.self) {
            try listener.replaceIdentity(identities[0].server)
        }
        #expect(throws: HTTPError.self) { try client(identities[3]).send(request) }
    }

    @Test func `nobody is turned away while certificates change`() throws {
        let identity = try TestIdentity()
        let listener = try listener(identity)
        defer { listener.stop(graceMilliseconds: 5_000) }
        let request = HTTPRequest(target: "https://\(listener.address)/")
        for _ in 0..<20 {
            try listener.replaceIdentity(identity.server)
            // Whichever daemon accepts, the handshake comes to its end.
            #expect(try client(identity).send(request).status == 200)
        }
    }
}
