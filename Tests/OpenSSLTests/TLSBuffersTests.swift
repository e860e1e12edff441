import OpenSSL
import TestSupport
import Testing

@Suite struct TLSBuffersTests {
    @Test func `they are empty at first, and after what lay in them was sent`() throws {
        let buffers = TLSBuffers()
        #expect(!buffers.hasOutput)
        let authority = try TLSAuthority()
        let client = try TLSChannel(
            connecting: try TLSContext(client: authority.pem), buffers: buffers, host: "localhost")
        #expect(buffers.hasOutput)
        #expect(client.state == .handshaking)
        #expect(TLSPair.outputByteCount(of: buffers) > 100)
        buffers.removeOutput()
        #expect(!buffers.hasOutput)
        #expect(TLSPair.pieces(of: buffers, .max).isEmpty)
    }

    @Test func `more than they hold at rest fits, and is given back`() throws {
        let authority = try TLSAuthority()
        let server = try TLSContext(
            server: try authority.identity("server", alternativeNames: ["DNS:localhost"]),
            clientAuthorities: nil, minimumVersion: .tls12)
        let pair = try TLSPair(client: try TLSContext(client: authority.pem), server: server)
        pair.exchange()
        let large = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try pair.server.send(large)
        #expect(TLSPair.outputByteCount(of: pair.serverBuffers) > large.count)
        pair.exchange()
        #expect(pair.atClient == large)
    }
}
