import Entitlements
import Service
import Session
import Storage
import Testing
import Wire

@Suite struct CheckRunAnsweringTests {
    /// What is metered, as `transaction day checks units`, after a flush.
    private func metered(_ bench: SessionBench) throws -> [String] {
        let use = MeteredUse(slotCount: 64)
        bench.meter.flush(into: use)
        let service = bench.service
        _ = service.write(use, through: CommitDoor { service.commit([$0])[0] })
        var found: [String] = []
        try bench.store.scan(.usage, prefix: [], from: nil, reversed: false) { key, value in
            let record = try? RecordCodec.decodeUsage(value)
            found.append("\(Text(key)) \(record?.checks ?? 0) \(record?.units ?? 0)")
            return true
        }
        return found
    }

    private func output(_ bench: SessionBench) -> [UInt8] {
        bytes(of: bench.output)
    }

    private func bytes(of buffer: borrowing OutputBuffer) -> [UInt8] {
        Text(copying: buffer.bytes).bytes
    }

    /// Two connections of equal services.
    private func benches(
        _ change: (inout Limits) -> Void = { _ in }
    ) throws -> (together: SessionBench, alone: SessionBench) {
        let both = (try SessionBench(change), try SessionBench(change))
        for bench in [both.0, both.1] {
            for (index, customer) in ["ann", "bob", "cy"].enumerated() {
                _ = try bench.buy(customer, ["\(1000 + index)", "\(2000 + index)"])
            }
        }
        return both
    }

    /// Sends a chunk so that each frame that ends in it comes in two pieces: then none is gathered
    /// into a run. `frameEnds` count from the chunk's start.
    private func sendAlone(_ chunk: [UInt8], _ frameEnds: [Int], to bench: SessionBench) {
        var start = 0
        for end in frameEnds + [chunk.count] where end > start {
            let piece = Array(chunk[start..<end])
            bench.send(Array(piece.prefix(1)))
            if piece.count > 1 { bench.send(Array(piece.dropFirst())) }
            start = end
        }
    }

    @Test(arguments: 0..<24 as Range<UInt64>)
    func `checks taken together are answered and metered as one after the other`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let (together, alone) = try benches {
            // Small, so that the mark is met in the midst of runs.
            if seed % 3 == 1 {
                ($0.outputHighWaterByteCount, $0.outputLowWaterByteCount) = (900, 300)
            }
            if seed % 4 == 2 { $0.inFlightCountMax = 3 }
        }
        var frames: [[UInt8]] = []
        for id in 1...300 {
            frames.append(
                try RandomFrames.frame(UInt64(id), revision: together.service.revision, &generator)
                { try together.frame($0) })
        }
        if seed % 6 == 5 { frames.insert(hex("00000002 0801 00000000"), at: 280) }
        let stream = frames.flatMap(\.self)
        var ends: [Int] = []
        for frame in frames { ends.append((ends.last ?? 0) + frame.count) }
        var start = 0
        while start < stream.count {
            let end = min(start + Int.random(in: 1...4000, using: &generator), stream.count)
            let chunk = Array(stream[start..<end])
            together.send(chunk)
            sendAlone(
                chunk, ends.filter { $0 > start && $0 <= end }.map { $0 - start }, to: alone)
            try #require(output(together) == output(alone), "seed \(seed), to byte \(end)")
            #expect(together.connection.inFlightCount == alone.connection.inFlightCount)
            #expect(together.connection.heldByteCount == alone.connection.heldByteCount)
            if generator.next() % 3 == 0 {
                for bench in [together, alone] {
                    bench.output.removeAll()
                    bench.settle()
                }
                try #require(output(together) == output(alone), "seed \(seed), drained at \(end)")
            }
            start = end
        }
        for bench in [together, alone] {
            bench.output.removeAll()
            bench.settle()
            bench.expire(after: 60_000)
        }
        #expect(output(together) == output(alone), "seed \(seed)")
        let use = try metered(together)
        #expect(use == (try metered(alone)), "seed \(seed)")
        #expect(!use.isEmpty)
    }

    @Test func `where the mark is met the rest is held, and answered when it is drained`() throws {
        let bench = try SessionBench {
            ($0.outputHighWaterByteCount, $0.outputLowWaterByteCount) = (200, 100)
        }
        let frame = try bench.frame(bench.check(.customerID("a"), .product("p"), id: 1))
        bench.send(Array([[UInt8]](repeating: frame, count: 100).joined()))
        let first = bench.output.count
        // The mark is passed by less than one answer.
        #expect(first >= 200 && first < 230)
        #expect(bench.connection.heldByteCount > 0)
        var count = 0
        while true {
            let answers = try bench.answers()
            guard !answers.isEmpty else { break }
            count += answers.count
        }
        #expect(count == 100 && bench.connection.heldByteCount == 0)
    }

    @Test func `a check that waits does not keep those behind it`() throws {
        let bench = try SessionBench()
        var bytes: [UInt8] = []
        for id: UInt64 in 1...40 {
            bytes += try bench.frame(
                bench.check(.customerID("a"), .product("p"), id: id) {
                    $0.minRevision = id == 7 || id == 33 ? 1 : 0
                })
        }
        bench.send(bytes)
        #expect(try bench.answers().map(\.id) == (1...40).filter { $0 != 7 && $0 != 33 })
        #expect(bench.connection.inFlightCount == 2)
        var link = Message.LinkCustomerRequest()
        (link.customerID, link.householdID) = ("bob", "h")
        _ = try bench.ask(Request(id: 90, call: .linkCustomer(link)))
        bench.revisionMoved()
        #expect(try bench.answers().map(\.id) == [7, 33])
    }

    @Test func `a server that goes down refuses each check of a run`() throws {
        let bench = try SessionBench()
        let frame = try bench.frame(bench.check(.customerID("a"), .product("p"), id: 1))
        bench.responder.isDraining = true
        bench.send(frame + frame)
        #expect(try bench.answers().map(\.reason) == ["DRAINING", "DRAINING"])
    }

    @Test func `every check of a run is counted by its answer`() throws {
        let bench = try SessionBench()
        _ = try bench.buy("ann", ["1"])
        let good = try bench.frame(bench.check(.customerID("ann"), .product("meadow.lifetime")))
        let bad = try bench.frame(bench.check(.customerID(""), .product("p")))
        let unknown = try bench.frame(bench.check(.customerID("x"), .product("p")))
        bench.send(good + bad + good + unknown + good)
        var counts = CallCounts()
        counts.add(bench.responder.counts)
        #expect(counts[.checkAccess, .ok] == 4)
        #expect(counts[.checkAccess, .invalidArgument] == 1)
        let scope = ScopeIndex.first
        #expect(counts[scope, .active] == 3 && counts[scope, .unknownCustomer] == 1)
    }
}

/// Requests of all kinds, mostly checks, some of them refused or strange.
private enum RandomFrames {
    static func frame(
        _ id: UInt64, revision: UInt64, _ generator: inout SeededGenerator,
        _ encode: (Request) throws -> [UInt8]
    ) throws -> [UInt8] {
        var request = Request(id: id, call: .checkAccess(check(revision, &generator)))
        switch generator.next() % 20 {
        case 0:
            let count = Int(generator.next() % 80)
            request.call = .checkAccessBatch(
                (0..<count).map { _ in
                    var check = self.check(revision, &generator)
                    if generator.next() % 8 != 0 { check.customer = .customerID("ann") }
                    return check
                })
        case 1: request.call = .getServerInfo
        case 2:
            // An unknown field: protobuf-c decides.
            return framed(Array(try encode(request).dropFirst(4)) + hex("A2060378797A"))
        case 3:
            request.timeoutMilliseconds = 20
            request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        default: break
        }
        return try encode(request)
    }

    static func check(
        _ revision: UInt64, _ generator: inout SeededGenerator
    ) -> Message.CheckAccessRequest {
        var check = Message.CheckAccessRequest()
        let customers: [Message.CustomerRef?] = [
            .customerID("ann"), .customerID("bob"), .customerID("cy"), .customerID("ann"),
            .customerID("bob"), .customerID("nobody"), .customerID(""), nil,
            .customerID(Text([0xC3, 0x28])), .originalTransactionID("1001"),
            .appAccountToken("6E7B5F4A-0000-4000-8000-00000000000A"),
            .customerID(Text([UInt8](repeating: 0x61, count: 129))),
        ]
        let subjects: [Message.Subject?] = [
            .product("meadow.lifetime"), .product("meadow.lifetime"), .entitlement("plus"),
            .entitlement("pro"), .product("other"), .product(""), nil,
            .product("meadow.lifetime"), .product("meadow.lifetime"),
        ]
        check.customer = pick(customers, &generator)
        check.subject = pick(subjects, &generator)
        check.atMilliseconds = pick([0, 0, 0, 0, 0, 0, SessionBench.now, 5, -1], &generator)
        check.units = pick([0, 0, 1, 300, .max], &generator)
        if generator.next() % 30 == 0 {
            check.minRevision = pick([revision, revision, revision + 9], &generator)
        }
        let scopes: [Message.Scope?] = [
            nil, nil, .init(bundleID: "com.example.meadow"),
            .init(bundleID: "com.example.meadow", environment: .init(rawValue: 1)),
            .init(bundleID: "com.example.meadow", environment: .sandbox),
            .init(bundleID: "com.example.meadoW"), .init(environment: .init(rawValue: 9)),
        ]
        check.scope = pick(scopes, &generator)
        return check
    }

    private static func pick<Choice>(
        _ choices: [Choice], _ generator: inout SeededGenerator
    ) -> Choice {
        choices[Int(generator.next() % UInt64(choices.count))]
    }
}
