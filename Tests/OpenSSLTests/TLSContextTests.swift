import Glibc
import OpenSSL
import TestSupport
import Testing

@Suite struct TLSContextTests {
    private let authority: TLSAuthority
    private let identity: TLSContext.Identity

    init() throws {
        authority = try TLSAuthority()
        identity = try authority.identity("server", alternativeNames: ["DNS:localhost"])
    }

    private func server(
        clientAuthorities: [UInt8]? = nil, minimumVersion: TLSContext.Version = .tls12
    ) throws -> TLSContext {
        try TLSContext(
            server: identity, clientAuthorities: clientAuthorities, minimumVersion: minimumVersion)
    }

    @Test func `it tells until when its certificate is valid`() throws {
        #expect(try server().notAfterMilliseconds == TLSAuthority.validity.notAfterMilliseconds)
        #expect(try TLSContext(client: authority.pem).notAfterMilliseconds == nil)
    }

    @Test func `files that are none are refused with a reason`() throws {
        let other = try authority.identity("other")
        var wrong: [TLSContext.Identity] = [
            .init(certificateChain: [], privateKey: identity.privateKey),
            .init(certificateChain: identity.certificateChain, privateKey: []),
            .init(certificateChain: identity.privateKey, privateKey: identity.privateKey),
            .init(certificateChain: identity.certificateChain, privateKey: other.privateKey),
        ]
        var cut = identity
        cut.certificateChain.removeLast(60)
        wrong.append(cut)
        for identity in wrong {
            let error = #expect(throws: OpenSSLError.self) {
                try TLSContext(
                    server: identity, clientAuthorities: nil, minimumVersion: .tls12)
            }
            #expect(error?.description.hasPrefix("cannot ") == true)
        }
        for authorities in [[], Array("nothing".utf8), identity.privateKey] {
            #expect(throws: OpenSSLError.self) { try server(clientAuthorities: authorities) }
            #expect(throws: OpenSSLError.self) { try TLSContext(client: authorities) }
        }
    }

    @Test func `a client that speaks only what is too old is refused`() throws {
        // No client here goes below 1.2, so the server's lowest is raised above it.
        let strict = try server(minimumVersion: .tls13)
        let pair = try TLSPair(client: try TLSContext(client: authority.pem), server: strict)
        pair.exchange()
        #expect(pair.server.version == "TLSv1.3")
    }

    /// A session that a first connection left behind.
    private func session(of client: TLSContext, at server: TLSContext) throws -> TLSSession {
        let pair = try TLSPair(client: client, server: server)
        pair.exchange()
        try pair.server.send([1])
        pair.exchange()
        #expect(pair.client.state == .open)
        #expect(!pair.client.isResumed)
        return try #require(pair.client.session())
    }

    @Test func `a client may come back by its ticket`() throws {
        let server = try server()
        let client = try TLSContext(client: authority.pem)
        let session = try session(of: client, at: server)
        let pair = try TLSPair(client: client, server: server, resuming: session)
        pair.exchange()
        #expect(pair.client.isResumed && pair.server.isResumed)
    }

    @Test func `a client that comes back by its ticket keeps its names`() throws {
        let server = try server(clientAuthorities: authority.pem)
        let client = try TLSContext(
            client: authority.pem, identity: try authority.identity("backend.example"))
        let session = try session(of: client, at: server)
        let pair = try TLSPair(client: client, server: server, resuming: session)
        pair.exchange()
        #expect(pair.server.isResumed)
        #expect(pair.server.peerNames == ["cn:backend.example"])
    }

    @Test func `after a reload no ticket of before opens anything`() throws {
        let client = try TLSContext(
            client: authority.pem, identity: try authority.identity("backend.example"))
        let session = try session(of: client, at: try server(clientAuthorities: authority.pem))
        let stranger = try TLSAuthority("The next authority")
        let reloaded = try server(clientAuthorities: stranger.pem)
        let pair = try TLSPair(client: client, server: reloaded, resuming: session)
        pair.exchange()
        #expect(!pair.server.isResumed)
        #expect(pair.server.state == .failed)
        // The same files read again are another context all the same.
        let again = try server(clientAuthorities: authority.pem)
        let other = try TLSPair(client: client, server: again, resuming: session)
        other.exchange()
        #expect(!other.server.isResumed)
        #expect(other.server.state == .open)
    }

    @Test func `a ticket does not outlive the certificate in it`() async throws {
        // Valid for the first connection, over at the second one.
        let end = (Int64(time(nil)) + 2) * 1_000
        let validity = ValidityWindow(
            notBeforeMilliseconds: 1_577_836_800_000, notAfterMilliseconds: end)
        let server = try server(clientAuthorities: authority.pem)
        let client = try TLSContext(
            client: authority.pem,
            identity: try authority.identity("backend.example", validity: validity))
        let session = try session(of: client, at: server)
        while Int64(time(nil)) * 1_000 <= end { try await Task.sleep(for: .milliseconds(100)) }
        let pair = try TLSPair(client: client, server: server, resuming: session)
        pair.exchange()
        #expect(!pair.server.isResumed)
        #expect(pair.server.state == .failed)
        #expect(pair.server.peerNames.isEmpty)
    }
}
