import EventLoop
import OpenSSL
import TestSupport
import Testing

@testable import EntitledClient

@Suite struct TLSSupportTests {
    private func context(
        _ tls: ClientTLS?, _ address: String = "127.0.0.1:1"
    ) throws -> String? {
        try TLSSupport.context(tls, for: try SocketAddress(address))?.host
    }

    @Test func `without TLS there is nothing to set up`() throws {
        #expect(try context(nil) == nil)
        #expect(try context(nil, "unix:/s") == nil)
    }

    @Test func `the server is to carry the address, or the name that was said`() throws {
        var tls = ClientTLS()
        tls.trustedCertificates = try TLSAuthority().pem
        #expect(try context(tls) == "127.0.0.1")
        #expect(try context(tls, "[::1]:5") == "::1")
        tls.serverName = "entitled.example"
        #expect(try context(tls) == "entitled.example")
    }

    @Test func `a Unix socket speaks no TLS`() {
        #expect(throws: ClientError.invalidAddress("a Unix socket (unix:/s) speaks no TLS")) {
            try context(ClientTLS(), "unix:/s")
        }
    }

    @Test func `files that cannot be used are told at once`() throws {
        let identity = try TLSAuthority().identity("backend")
        var noCertificates = ClientTLS()
        noCertificates.trustedCertificates = Array("nothing".utf8)
        var onlyKey = ClientTLS()
        onlyKey.privateKey = identity.privateKey
        var onlyCertificate = ClientTLS()
        onlyCertificate.certificateChain = identity.certificateChain
        var swapped = ClientTLS()
        swapped.certificateChain = identity.privateKey
        swapped.privateKey = identity.certificateChain
        for tls in [noCertificates, onlyKey, onlyCertificate, swapped] {
            let error = #expect(throws: ClientError.self) { try context(tls) }
            guard case .invalidCredentials(let words)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(words.hasPrefix("cannot "))
            #expect(!words.contains("BEGIN"))
        }
    }
}
