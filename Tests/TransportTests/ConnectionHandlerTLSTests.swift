import OpenSSL
import TestSupport
import Session
import Service
import Testing
import Transport
import Wire

@Suite(.timeLimit(.minutes(1))) struct ConnectionHandlerTLSTests {
    @Test func `a check is answered over TLS, and plain text is not`() throws {
        let bench = try TLSBench()
        defer { bench.end() }
        let client = try bench.connect()
        try client.shakeHands()
        try client.send(ServerBench.check("anna", id: 9))
        #expect(try client.answer()?.id == 9)
        let plain = try bench.bench.connect()
        try plain.send(ServerBench.check("anna"))
        // At most an alert, which is no frame.
        #expect((try? plain.next()) == nil)
        #expect(bench.bench.server.counts.handshakes == 1)
        #expect(bench.bench.server.counts.failedHandshakes == 1)
    }

    @Test func `many requests in one record, and one request in many records`() throws {
        let bench = try TLSBench()
        defer { bench.end() }
        let client = try bench.connect()
        try client.shakeHands()
        var output = OutputBuffer()
        for id in 1...1_000 {
            try ServerBench.check("c\(id)", id: UInt64(id)).encodeFrame(
                into: &output, in: MessageArena(), frameByteCountMax: 1 << 20)
        }
        let bytes = Text(copying: output.bytes).bytes
        try client.send(bytes)
        for id in 1...1_000 { #expect(try client.answer()?.id == UInt64(id)) }
        for byte in bytes.prefix(60) { try client.send([byte]) }
        #expect(try client.answer()?.id == 1)
    }

    @Test func `a client that says goodbye still gets its answers`() throws {
        let bench = try TLSBench()
        defer { bench.end() }
        let client = try bench.connect()
        try client.shakeHands()
        try client.send(ServerBench.link("anna", id: 3))
        try client.send(ServerBench.check("anna", id: 4))
        client.channel.sayGoodbye()
        client.flush()
        client.raw.endOutput()
        var ids: Set<UInt64> = []
        while let answer = try client.answer() { ids.insert(answer.id) }
        #expect(ids == [3, 4])
        #expect(client.channel.state == .ended)
    }

    @Test func `bytes that are no record end the connection, and only that one`() throws {
        let bench = try TLSBench()
        defer { bench.end() }
        let other = try bench.connect()
        try other.shakeHands()
        let client = try bench.connect()
        try client.shakeHands()
        client.raw.send([0x17, 3, 3, 0, 32] + Array(repeating: 7, count: 32))
        while try client.receive() {}
        #expect(client.channel.state == .failed)
        try other.send(ServerBench.check("anna", id: 5))
        #expect(try other.answer()?.id == 5)
    }

    @Test func `a client must show a certificate where one is asked for`() throws {
        let authority = try TLSAuthority("Clients")
        let bench = try TLSBench(clientAuthority: authority)
        defer { bench.end() }
        let known = try bench.connect(try authority.identity("backend.example"))
        try known.shakeHands()
        try known.send(ServerBench.check("anna", id: 6))
        #expect(try known.answer()?.id == 6)
        let strangers = [nil, try TLSAuthority("Others").identity("backend.example")]
        for identity in strangers {
            let stranger = try bench.connect(identity)
            try stranger.shakeHands()
            try? stranger.send(ServerBench.link("anna", id: 7))
            #expect(try stranger.answer() == nil)
        }
        #expect(bench.bench.service.revision == 0)
    }

    @Test func `who does not finish the handshake is closed in time`() throws {
        let bench = try TLSBench { $0.limits.handshakeMillisecondsMax = 200 }
        defer { bench.end() }
        let silent = try bench.bench.connect()
        let slow = try bench.connect()
        let hello = slow.takeOutput()
        slow.raw.send(Array(hello.prefix(40)))
        #expect(try silent.receive() == [])
        #expect(try slow.raw.receive() == [])
        let client = try bench.connect()
        try client.shakeHands()
        // The time of the handshake is not the time of the connection.
        for _ in 0..<300 { pause() }
        try client.send(ServerBench.check("anna", id: 8))
        #expect(try client.answer()?.id == 8)
    }
}
