import Session
import Service
import Testing
import Wire

@testable import Transport

@Suite(.timeLimit(.minutes(1))) struct BufferBudgetTests {
    @Test func `below the budget nobody goes, above it whoever holds more than his share`() {
        var budget = BufferBudget(byteCountMax: 1_000)
        budget.change(from: 0, to: 900)
        #expect(!budget.isOver(heldByteCount: 900, connectionCount: 10))
        budget.change(from: 0, to: 100)
        #expect(!budget.isOver(heldByteCount: 900, connectionCount: 10))
        budget.change(from: 100, to: 101)
        #expect(budget.isOver(heldByteCount: 900, connectionCount: 10))
        #expect(budget.isOver(heldByteCount: 101, connectionCount: 10))
        #expect(!budget.isOver(heldByteCount: 100, connectionCount: 10))
        budget.change(from: 900, to: 0)
        #expect(budget.byteCount == 101)
        #expect(!budget.isOver(heldByteCount: 101, connectionCount: 1))
    }

    @Test func `frames that are never whole are shed, and small requests go on`() throws {
        let bench = try ServerBench {
            $0.bufferedByteCountMax = 1 << 20
            $0.limits.frameMillisecondsMax = 60_000
        }
        defer { bench.end() }
        let small = try bench.connect()
        #expect(try small.ask(ServerBench.check("a")).status == .ok)
        // 900 KiB of a frame of 1 MiB, from four connections.
        let greedy = try (0..<4).map { _ in try bench.connect() }
        let piece: [UInt8] = [0, 0x10, 0, 0] + Array(repeating: 0, count: 900 << 10)
        for client in greedy { client.send(piece) }
        while bench.server.counts.shedConnections == 0 { pause() }
        #expect(try small.ask(ServerBench.check("a")).status == .ok)
        #expect(bench.server.counts.connections >= 2)
    }

    @Test func `what is given back is free for others`() throws {
        let bench = try ServerBench {
            $0.bufferedByteCountMax = 1 << 20
            $0.limits.frameMillisecondsMax = 60_000
        }
        defer { bench.end() }
        let piece: [UInt8] = [0, 0x10, 0, 0] + Array(repeating: 0, count: 700 << 10)
        for _ in 0..<10 {
            let client = try bench.connect()
            client.send(piece)
            #expect(try bench.connect().ask(ServerBench.check("a")).status == .ok)
            client.endOutput()
            #expect(try client.next() == nil)
        }
        #expect(bench.server.counts.shedConnections == 0)
    }
}
