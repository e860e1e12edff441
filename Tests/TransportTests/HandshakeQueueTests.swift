import EventLoop
import OpenSSL
import TestSupport
import Wire
import Session
import Service
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(1))) struct HandshakeQueueTests {
    @Test func `more handshakes than may be under way are closed, and places come free`() throws {
        let bench = try TLSBench {
            $0.handshakeCountMax = 4
            $0.limits.handshakeMillisecondsMax = 60_000
        }
        defer { bench.end() }
        var idle: [TestClient] = []
        for _ in 0..<4 { idle.append(try bench.bench.connect()) }
        while bench.bench.server.counts.connections < 4 { pause() }
        let beyond = try bench.bench.connect()
        #expect(try beyond.receive() == [])
        #expect(bench.bench.server.counts.refusedConnections == 1)
        idle.removeFirst()
        while bench.bench.server.counts.connections > 3 { pause() }
        let client = try bench.connect()
        try client.shakeHands()
        // It is over, so it takes no place.
        let another = try bench.connect()
        try another.shakeHands()
        for client in [client, another] {
            try client.send(ServerBench.check("anna", id: 2))
            #expect(try client.answer()?.id == 2)
        }
    }

    /// What arrived with the other steps, checks among it, is dealt with before the third one.
    @Test func `two steps are done in each turn of the loop`() throws {
        let loop = try Loop()
        defer { loop.close() }
        let queue = try HandshakeQueue(loop: loop, countMax: 9)
        defer { queue.close() }
        for _ in 0..<3 {
            let taken = (0..<4).map { _ in queue.takesStep() }
            #expect(taken == [true, true, false, false])
            queue.iterationEnded()
        }
    }

    @Test func `handshakes that come together are all done, and checks are answered meanwhile`()
        throws
    {
        let bench = try TLSBench()
        defer { bench.end() }
        let steady = try bench.connect()
        try steady.shakeHands()
        let crowd = try (0..<60).map { _ in try bench.connect() }
        for client in crowd { client.flush() }
        for id in 1...20 {
            try steady.send(ServerBench.check("anna", id: UInt64(id)))
            #expect(try steady.answer()?.id == UInt64(id))
        }
        for client in crowd {
            try client.shakeHands()
            #expect(client.channel.state == .open)
            try client.send(ServerBench.check("anna", id: 3))
            #expect(try client.answer()?.id == 3)
        }
        #expect(bench.bench.server.counts.handshakes == 61)
    }

    @Test func `one that goes away while it waits takes nobody's turn`() throws {
        let bench = try TLSBench()
        defer { bench.end() }
        for _ in 0..<40 {
            let client = try bench.connect()
            client.flush()
        }
        let last = try bench.connect()
        try last.shakeHands()
        try last.send(ServerBench.check("anna", id: 3))
        #expect(try last.answer()?.id == 3)
        while bench.bench.server.counts.connections > 1 { pause() }
    }
}
