import OpenSSL
import TestSupport
import Wire
import Session
import Service
import Testing

@testable import Transport

@Suite struct WarmChannelsTests {
    @Test func `the last few keep their buffers, and one that comes back has them again`() throws {
        let authority = try TLSAuthority()
        let context = try TLSContext(
            server: try authority.server(), clientAuthorities: nil, minimumVersion: .tls12)
        let buffers = TLSBuffers()
        let channels = try (0..<WarmChannels.countMax + 2).map { _ in
            try SecureChannel(accepting: context, buffers: buffers)
        }
        var warm = WarmChannels()
        for channel in channels { warm.warm(channel) }
        #expect(channels.prefix(2).allSatisfy { !$0.isWarm })
        #expect(channels.dropFirst(2).allSatisfy { $0.isWarm })
        warm.warm(channels[5])
        #expect(channels[2].isWarm, "it was warm, so nobody had to go")
        warm.warm(channels[0])
        #expect(channels[0].isWarm && !channels[2].isWarm)
        warm.forget(channels[0])
        warm.forget(channels[2])
        #expect(!channels[0].isWarm && channels[3].isWarm)
    }

    @Test func `a connection whose buffers were given back goes on`() throws {
        let bench = try TLSBench()
        defer { bench.end() }
        let first = try bench.connect()
        try first.shakeHands()
        for _ in 0..<WarmChannels.countMax + 1 {
            let other = try bench.connect()
            try other.shakeHands()
        }
        try first.send(ServerBench.check("anna", id: 4))
        #expect(try first.answer()?.id == 4)
    }
}
