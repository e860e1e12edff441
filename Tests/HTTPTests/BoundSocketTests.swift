import HTTP
import Testing

@Suite struct BoundSocketTests {
    private func listener(
        _ host: String, port: UInt16 = 0, identity: HTTPServerIdentity? = nil
    ) throws -> HTTPListener {
        try HTTPListener(options: .init(host: host, port: port, identity: identity)) { _ in
            HTTPResponse(status: 200)
        }
    }

    @Test func `a free port is found and told`() throws {
        let listener = try listener("127.0.0.1")
        #expect(listener.port > 0)
        #expect(listener.address == "127.0.0.1:\(listener.port)")
    }

    @Test func `an address in use is named with the reason`() throws {
        let first = try listener("127.0.0.1")
        let error = #expect(throws: HTTPListenerError.self) {
            _ = try listener("127.0.0.1", port: first.port)
        }
        #expect(error?.description.contains("\(first.port): Address already in use") == true)
    }

    @Test(arguments: ["localhost", "", "127.0.0.1 ", "[::1]", "1.2.3", "::1\0"])
    func `what is no literal address is refused`(host: String) {
        #expect(throws: HTTPListenerError.notLiteral(host: host)) { _ = try listener(host) }
    }

    @Test func `IPv6 is served where the machine has it`() throws {
        guard let listener = try? listener("::1") else { return }
        #expect(listener.address == "[::1]:\(listener.port)")
        let client = try HTTPClient(options: .init(userAgent: "test/1"))
        let response = try client.send(HTTPRequest(target: "http://\(listener.address)/"))
        #expect(response.status == 200)
    }

    @Test func `a key of another certificate is refused at the start`() throws {
        let one = try TestIdentity()
        let other = try TestIdentity()
        let mixed = HTTPServerIdentity(
            certificateChain: one.server.certificateChain, privateKey: other.server.privateKey)
        for identity in [mixed, HTTPServerIdentity(certificateChain: [], privateKey: [])] {
            #expect(throws: HTTPListenerError.self) {
                _ = try listener("127.0.0.1", identity: identity)
            }
        }
    }
}
