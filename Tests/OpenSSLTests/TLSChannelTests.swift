import OpenSSL
import TestSupport
import Testing

@Suite struct TLSChannelTests {
    private let authority: TLSAuthority
    private let server: TLSContext.Identity

    init() throws {
        authority = try TLSAuthority()
        server = try authority.identity(
            "server", alternativeNames: ["DNS:localhost", "IP:127.0.0.1"])
    }

    private func open(
        clientNames: [String]? = nil, host: String = "localhost", pieceByteCountMax: Int = .max
    ) throws -> TLSPair {
        let serverContext = try TLSContext(
            server: server, clientAuthorities: clientNames == nil ? nil : authority.pem,
            minimumVersion: .tls12)
        let identity = try clientNames.map {
            try authority.identity("backend.example", alternativeNames: $0)
        }
        let clientContext = try TLSContext(client: authority.pem, identity: identity)
        let pair = try TLSPair(client: clientContext, server: serverContext, host: host)
        pair.exchange(pieceByteCountMax: pieceByteCountMax)
        return pair
    }

    @Test(arguments: [1, 7, 100, 5_000, 65_536])
    func `what one side sends the other reads, however it is cut`(pieceByteCountMax: Int) throws {
        let pair = try open(pieceByteCountMax: pieceByteCountMax)
        #expect(pair.client.state == .open && pair.server.state == .open)
        let question = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try pair.client.send(question)
        try pair.server.send([1, 2, 3])
        pair.exchange(pieceByteCountMax: pieceByteCountMax)
        #expect(pair.atServer == question)
        #expect(pair.atClient == [1, 2, 3])
        #expect(pair.client.version == "TLSv1.3")
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `a server is taken by the name or the address in its certificate`(host: String) throws {
        #expect(try open(host: host).client.state == .open)
    }

    @Test(arguments: ["other.example", "127.0.0.2", "localhost.example", "LOCALHOST.", "::1"])
    func `a server of another name is refused`(host: String) throws {
        let pair = try open(host: host)
        #expect(pair.client.state == .failed)
        #expect(pair.client.failure?.description.contains("mismatch") == true)
        #expect(pair.server.state != .open || pair.atServer.isEmpty)
    }

    @Test func `a server of another authority is refused`() throws {
        let stranger = try TLSAuthority("Another authority")
        let serverContext = try TLSContext(
            server: server, clientAuthorities: nil, minimumVersion: .tls12)
        let pair = try TLSPair(
            client: try TLSContext(client: stranger.pem), server: serverContext)
        pair.exchange()
        #expect(pair.client.state == .failed)
    }

    @Test func `the names in a client's certificate are told`() throws {
        let pair = try open(clientNames: [
            "DNS:a.example", "URI:spiffe://example/backend", "email:ops@example.com",
        ])
        #expect(pair.server.state == .open)
        #expect(
            pair.server.peerNames == [
                "dns:a.example", "uri:spiffe://example/backend", "email:ops@example.com",
                "cn:backend.example",
            ])
    }

    @Test func `a client without a certificate is refused where one is asked for`() throws {
        let serverContext = try TLSContext(
            server: server, clientAuthorities: authority.pem, minimumVersion: .tls12)
        let pair = try TLSPair(
            client: try TLSContext(client: authority.pem), server: serverContext)
        pair.exchange()
        #expect(pair.server.state == .failed)
        #expect(pair.atServer.isEmpty)
        #expect(pair.server.peerNames.isEmpty)
    }

    @Test func `certificates of other authorities, and expired ones, are refused`() throws {
        let stranger = try TLSAuthority("Another authority")
        let past = ValidityWindow(
            notBeforeMilliseconds: 1_577_836_800_000, notAfterMilliseconds: 1_600_000_000_000)
        let identities = [
            try stranger.identity("backend.example"),
            try authority.identity("backend.example", validity: past),
        ]
        for identity in identities {
            let serverContext = try TLSContext(
                server: server, clientAuthorities: authority.pem, minimumVersion: .tls12)
            let pair = try TLSPair(
                client: try TLSContext(client: authority.pem, identity: identity),
                server: serverContext)
            pair.exchange()
            #expect(pair.server.state == .failed)
            #expect(pair.server.peerNames.isEmpty)
        }
    }

    @Test func `a peer that ends its side still reads`() throws {
        let pair = try open()
        try pair.client.send([1])
        pair.client.sayGoodbye()
        pair.client.sayGoodbye()
        pair.exchange()
        #expect(pair.server.state == .ended)
        #expect(pair.atServer == [1])
        try pair.server.send([9, 9])
        pair.server.sayGoodbye()
        pair.exchange()
        #expect(pair.atClient == [9, 9])
        #expect(pair.client.state == .ended)
    }

    @Test func `plain text instead of TLS fails, and fails once`() throws {
        let pair = try open()
        let buffers = TLSBuffers()
        let context = try TLSContext(server: server, clientAuthorities: nil, minimumVersion: .tls12)
        let channel = try TLSChannel(accepting: context, buffers: buffers)
        let frame: [UInt8] = [0, 0, 0, 12, 8, 1, 0x52, 8, 10, 3, 10, 1, 97, 18, 1, 112]
        channel.receive(frame) { Issue.record("something was decrypted") }
        #expect(channel.state == .failed)
        let state = channel.state
        channel.receive(frame) { Issue.record("something was decrypted") }
        #expect(channel.state == state)
        // The failure of one connection is not blamed on another one of the thread.
        try pair.client.send([5])
        pair.exchange()
        #expect(pair.atServer == [5])
    }

    @Test func `a bit flipped on the way fails the connection`() throws {
        let pair = try open()
        try pair.client.send(Array(repeating: UInt8(7), count: 100))
        var bytes = TLSPair.pieces(of: pair.clientBuffers, .max).flatMap(\.self)
        bytes[bytes.count / 2] ^= 1
        pair.server.receive(bytes) { Issue.record("something was decrypted") }
        #expect(pair.server.state == .failed)
        #expect(throws: Never.self) { pair.server.sayGoodbye() }
    }

    @Test func `connections live and die without leaving anything behind`() throws {
        for _ in 0..<50 {
            let pair = try open(clientNames: ["DNS:a.example"])
            try pair.client.send([1])
            pair.exchange()
            #expect(pair.atServer == [1])
        }
    }
}
