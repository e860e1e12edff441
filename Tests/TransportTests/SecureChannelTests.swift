import OpenSSL
import TestSupport
import Testing

@testable import Transport

@Suite struct SecureChannelTests {
    @Test func `it can send only between the handshake and a failure`() throws {
        let authority = try TLSAuthority()
        let context = try TLSContext(
            server: try authority.server(), clientAuthorities: nil, minimumVersion: .tls12)
        let secure = try SecureChannel(accepting: context, buffers: TLSBuffers())
        #expect(secure.isHandshaking && !secure.canSend && secure.waiting.isEmpty)
        let noise: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        secure.channel.receive(noise.span) { _ in }
        #expect(!secure.canSend)
    }
}
