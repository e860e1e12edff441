import OpenSSL
import TestSupport
import Wire
import Session
import Service
import Testing
import Transport

@Suite(.timeLimit(.minutes(1))) struct TLSDoorTests {
    @Test func `new connections get the new certificate, open ones go on`() throws {
        let bench = try TLSBench()
        defer { bench.end() }
        let before = try bench.connect()
        try before.shakeHands()
        let next = try TLSAuthority("The next authority")
        bench.door.replace(
            with: try TLSContext(
                server: try next.server(), clientAuthorities: nil, minimumVersion: .tls13))
        let old = try bench.connect()
        try old.shakeHands()
        #expect(old.channel.state == .failed)
        let new = try TLSClient(try bench.bench.connect(), try TLSContext(client: next.pem))
        try new.shakeHands()
        for client in [before, new] {
            try client.send(ServerBench.check("anna", id: 2))
            #expect(try client.answer()?.id == 2)
        }
    }
}
