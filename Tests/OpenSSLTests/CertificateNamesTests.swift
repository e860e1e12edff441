import OpenSSL
import TestSupport
import Testing

@Suite struct CertificateNamesTests {
    /// What a server reads out of a client's certificate.
    private func names(_ subject: String, _ alternativeNames: [String]) throws -> [String] {
        let authority = try TLSAuthority()
        let server = try TLSContext(
            server: try authority.identity("server", alternativeNames: ["DNS:localhost"]),
            clientAuthorities: authority.pem, minimumVersion: .tls12)
        let client = try TLSContext(
            client: authority.pem,
            identity: try authority.identity(subject, alternativeNames: alternativeNames))
        let pair = try TLSPair(client: client, server: server)
        pair.exchange()
        #expect(pair.server.state == .open)
        return pair.server.peerNames
    }

    @Test func `each name has its kind in front, so that none passes for another`() throws {
        #expect(
            try names("ops@example.com", ["DNS:ops.example.com", "URI:dns:evil.example"])
                == ["dns:ops.example.com", "uri:dns:evil.example", "cn:ops@example.com"])
    }

    @Test func `addresses and other kinds are left out`() throws {
        #expect(try names("backend", ["IP:10.0.0.7", "RID:1.2.3.4"]) == ["cn:backend"])
    }

    @Test(arguments: ["back end", "b\u{430}ckend", "back\u{0}end", "\u{7F}"])
    func `a name that is not printable ASCII is left out`(subject: String) throws {
        #expect(try names(subject, ["DNS:a.example"]) == ["dns:a.example"])
    }
}
