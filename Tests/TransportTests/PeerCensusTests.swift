import Wire
import Session
import Service
import Testing
import Transport

@Suite(.timeLimit(.minutes(1))) struct PeerCensusTests {
    @Test func `a peer's connections beyond its bound are told so, and places come free`() throws {
        let bench = try ServerBench {
            $0.connectionCountMaxPerPeer = 2
            $0.loopCount = 2
        }
        defer { bench.end() }
        var clients = [try bench.connect(), try bench.connect()]
        for client in clients { #expect(try client.ask(ServerBench.check("a")).status == .ok) }
        let beyond = try bench.connect()
        let answer = try #require(try beyond.next())
        #expect(answer.id == 0 && answer.reason == "OVERLOADED")
        #expect(answer.retryAfterMilliseconds > 0)
        #expect(try beyond.next() == nil)
        #expect(bench.server.counts.refusedConnectionsOfPeers == 1)
        #expect(bench.server.counts.refusedConnections == 1)
        clients.removeLast()
        while bench.server.counts.connections > 1 { pause() }
        #expect(try bench.connect().ask(ServerBench.check("a")).status == .ok)
    }

    @Test func `this machine has no bound where none is said`() throws {
        let bench = try ServerBench { $0.connectionCountMax = 6 }
        defer { bench.end() }
        let clients = try (0..<6).map { _ in try bench.connect() }
        for client in clients { #expect(try client.ask(ServerBench.check("a")).status == .ok) }
    }

    @Test func `a crowd of refused connections is closed without a word`() throws {
        let bench = try ServerBench { $0.connectionCountMaxPerPeer = 1 }
        defer { bench.end() }
        let first = try bench.connect()
        #expect(try first.ask(ServerBench.check("a")).status == .ok)
        let crowd = try (0..<200).map { _ in try bench.connect() }
        var toldCount = 0
        for client in crowd where try client.next() != nil { toldCount += 1 }
        #expect(toldCount > 0)
        #expect(try first.ask(ServerBench.check("a")).status == .ok)
        while bench.server.counts.connections > 1 { pause() }
        #expect(bench.server.counts.refusedConnectionsOfPeers == 200)
    }
}
