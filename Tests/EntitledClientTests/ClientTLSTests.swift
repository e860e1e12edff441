import EntitledClient
import Testing

@Suite struct ClientTLSTests {
    @Test func `nothing said means the system's authorities and no certificate`() {
        let tls = ClientTLS()
        #expect(tls.trustedCertificates == nil && tls.certificateChain == nil)
        #expect(tls.privateKey == nil && tls.serverName == nil)
        #expect(ClientConfiguration().tls == nil)
    }

    @Test func `a client whose TLS cannot be set up is not made`() {
        var configuration = ClientConfiguration()
        var tls = ClientTLS()
        tls.trustedCertificates = []
        configuration.tls = tls
        #expect(throws: ClientError.self) {
            try Client(address: "127.0.0.1:1", configuration: configuration)
        }
    }
}
