import Service
import Session
import TestSupport
import Testing
import Wire

@Suite struct ClientConnectionTests {
    private func get(_ customer: String, id: UInt64) -> Request {
        var get = Message.GetCustomerRequest()
        get.customer = .customerID(Text(customer))
        return Request(id: id, call: .getCustomer(get))
    }

    private func link(_ customer: String, id: UInt64) -> Request {
        var link = Message.LinkCustomerRequest()
        link.customerID = Text(customer)
        link.householdID = "h-1"
        return Request(id: id, call: .linkCustomer(link))
    }

    private func waiting(_ bench: SessionBench, _ revision: UInt64, id: UInt64) -> Request {
        bench.check(.customerID("c-ana"), .product("meadow.lifetime"), id: id) {
            $0.minRevision = revision
        }
    }

    // MARK: Calls for other threads

    @Test func `a deferred read is answered by its deadline`() throws {
        let bench = try SessionBench()
        try bench.send(get("a", id: 1))
        var late = get("a", id: 2)
        late.timeoutMilliseconds = 200
        try bench.send(late)
        #expect(bench.connection.nextDeadlineMilliseconds == bench.clock + 200)
        bench.expire(after: 199)
        #expect(try bench.answers().isEmpty)
        bench.expire(after: 1)
        let answer = try #require(try bench.answers().first)
        #expect(answer.id == 2)
        #expect(answer.status == .deadlineExceeded)
        #expect(answer.reason == "DEADLINE")
        #expect(bench.connection.nextDeadlineMilliseconds == nil)
        bench.work()
        #expect(try bench.answers().map(\.id) == [1])
    }

    @Test func `deadlines have a default and a maximum`() throws {
        let bench = try SessionBench()
        for (timeout, expected) in [(0, 5000), (1, 1), (60_000, 60_000), (.max, 60_000)]
            as [(UInt32, Int64)]
        {
            var request = link("a", id: 1)
            request.timeoutMilliseconds = timeout
            try bench.send(request)
            #expect(bench.taken.last?.deadlineMilliseconds == bench.clock + expected)
        }
    }

    @Test func `beyond the limit in flight requests are refused and the others are answered`()
        throws
    {
        let bench = try SessionBench { $0.inFlightCountMax = 3 }
        for id in 1...5 { try bench.send(link("c-\(id)", id: UInt64(id))) }
        let refused = try bench.answers()
        #expect(refused.map(\.id) == [4, 5])
        #expect(refused.allSatisfy { $0.reason == "OVERLOADED" && $0.status == .resourceExhausted })
        #expect(refused.allSatisfy { $0.retryAfterMilliseconds > 0 })
        bench.work()
        #expect(try bench.answers().map(\.id) == [1, 2, 3])
    }

    @Test func `a call that nobody takes is refused with its id`() throws {
        let bench = try SessionBench()
        try bench.send(link("a", id: 8))
        let call = bench.taken.removeFirst()
        bench.responder.refused(
            call.tag, Refusal(.overloaded, "the queue is full", retryAfterMilliseconds: 50),
            on: &bench.connection, output: &bench.output)
        bench.settle()
        let answer = try #require(try bench.answers().first)
        #expect(answer.id == 8)
        #expect(answer.retryAfterMilliseconds == 50)
        #expect(bench.isIdle)
    }

    // MARK: Revisions

    @Test func `a check waits for its revision and is answered once it is there`() throws {
        let bench = try SessionBench()
        let next = bench.service.revision + 1
        try bench.send(waiting(bench, next, id: 5))
        #expect(try bench.answers().isEmpty)
        #expect(bench.connection.awaitedRevision == next)
        bench.revisionMoved()
        #expect(try bench.answers().isEmpty)
        _ = try SessionBench.uploadBeside(bench)
        bench.revisionMoved()
        let answer = try #require(try bench.answers().first)
        #expect(answer.id == 5)
        guard case .checkAccess(let check) = answer.result else { return }
        #expect(check.granted)
        #expect(check.revision >= next)
        #expect(bench.connection.awaitedRevision == nil)
        #expect(bench.isIdle)
    }

    @Test func `a revision that does not come is said at the deadline`() throws {
        let bench = try SessionBench()
        var request = waiting(bench, .max, id: 5)
        request.timeoutMilliseconds = 300
        try bench.send(request)
        let check = Message.CheckAccessRequest(customer: .customerID("a"), subject: .product("p"))
        var late = check
        late.minRevision = 1 << 40
        var batch = Request(id: 6, call: .checkAccessBatch([check, late]))
        batch.timeoutMilliseconds = 300
        try bench.send(batch)
        bench.expire(after: 299)
        #expect(try bench.answers().isEmpty)
        bench.expire(after: 1)
        let answers = try bench.answers()
        #expect(answers.map(\.id) == [5, 6])
        #expect(answers.allSatisfy { $0.status == .deadlineExceeded })
        #expect(answers.allSatisfy { $0.reason == "REVISION_NOT_REACHED" })
        #expect(bench.connection.nextDeadlineMilliseconds == nil)
    }

    @Test func `what is parked has a limit in bytes and in number`() throws {
        let bench = try SessionBench { $0.parkedByteCountMax = 100 }
        for id in 1...4 { try bench.send(waiting(bench, .max, id: UInt64(id))) }
        let answers = try bench.answers()
        #expect(!answers.isEmpty && answers.count < 4)
        #expect(answers.allSatisfy { $0.reason == "OVERLOADED" })
        let narrow = try SessionBench { $0.inFlightCountMax = 1 }
        for id in 1...2 { try narrow.send(waiting(narrow, .max, id: UInt64(id))) }
        #expect(try narrow.answers().map(\.id) == [2])
    }

    @Test func `a check that breaks a rule is not parked`() throws {
        let bench = try SessionBench()
        let request = bench.check(.customerID(""), .product("p")) { $0.minRevision = .max }
        #expect(try bench.ask(request).reason == "INVALID_IDENTIFIER")
    }

    // MARK: Back-pressure

    @Test func `a client that reads nothing is not read, and its memory has a limit`() throws {
        let bench = try SessionBench()
        _ = try bench.buy("c-ana", (0..<40).map { "20000001000000\($0)" })
        let requests = try (1...2000).flatMap { try bench.frame(get("c-ana", id: $0)) }
        for start in stride(from: 0, to: requests.count, by: 16 << 10) {
            guard bench.connection.step == .proceed(reads: true) else { break }
            bench.send(Array(requests[start..<min(start + 16 << 10, requests.count)]))
            bench.work()
        }
        let page = 200_000
        #expect(bench.output.count < bench.limits.outputHighWaterByteCount + page)
        #expect(bench.connection.heldByteCount < 17 << 10)
        bench.expire(after: bench.limits.writeStallMillisecondsMax)
        #expect(bench.connection.step == .close)
    }

    @Test func `a pipelining client that reads later gets every answer once`() throws {
        let bench = try SessionBench {
            $0.outputHighWaterByteCount = 2000
            $0.outputLowWaterByteCount = 1000
        }
        var stream: [UInt8] = []
        for id in 1...500 {
            stream += try bench.frame(bench.check(.customerID("a"), .product("p"), id: UInt64(id)))
        }
        var ids: [UInt64] = []
        var sent = 0
        while ids.count < 500 {
            if bench.connection.step == .proceed(reads: true), sent < stream.count {
                let end = min(sent + 700, stream.count)
                bench.send(Array(stream[sent..<end]))
                sent = end
            } else {
                #expect(bench.output.count < 2200)
                ids += try bench.answers().map(\.id)
            }
        }
        #expect(ids == (1...500).map(UInt64.init))
    }

    @Test func `frames of calls in flight are counted in bytes`() throws {
        let bench = try SessionBench { $0.inFlightByteCountMax = 1000 }
        let request = Request(
            id: 1, call: .ingestNotification(.init(payload: .init(repeating: 0x20, count: 600))))
        bench.send(try bench.frame(request) + bench.frame(request) + bench.frame(request))
        #expect(bench.taken.count == 2)
        #expect(bench.connection.step == .proceed(reads: false))
        bench.work()
        #expect(bench.connection.step == .proceed(reads: true))
        #expect(try bench.answers().count == 3)
    }

    // MARK: Ends

    @Test func `after a half-close the answers leave, then the connection closes`() throws {
        let bench = try SessionBench()
        try bench.send(link("a", id: 1))
        try bench.send(bench.check(.customerID("a"), .product("p"), id: 2))
        bench.endInput()
        #expect(bench.connection.step == .proceed(reads: false))
        bench.work()
        #expect(bench.connection.step == .proceed(reads: false))
        #expect(try bench.answers().map(\.id) == [2, 1])
        #expect(bench.connection.step == .endOutput)
        bench.endOutput()
        #expect(bench.connection.step == .close)
    }

    @Test func `half a frame and a half-close get no answer`() throws {
        let bench = try SessionBench()
        bench.send(hex("0000000C 0801 5208 0A03"))
        bench.endInput()
        #expect(try bench.answers().isEmpty)
        #expect(bench.connection.step == .endOutput)
    }

    @Test func `a link cut one byte before its end has no effect`() throws {
        let bench = try SessionBench()
        let before = bench.service.revision
        bench.send(try bench.frame(link("a", id: 1)).dropLast())
        bench.endInput()
        bench.work()
        #expect(try bench.answers().isEmpty)
        #expect(bench.service.revision == before)
    }

    @Test func `frames held back are answered even after a half-close`() throws {
        let bench = try SessionBench {
            $0.outputHighWaterByteCount = 100
            $0.outputLowWaterByteCount = 100
        }
        var stream: [UInt8] = []
        for id in 1...20 {
            stream += try bench.frame(bench.check(.customerID("a"), .product("p"), id: UInt64(id)))
        }
        bench.send(stream + [0, 0])
        bench.endInput()
        var ids: [UInt64] = []
        while bench.connection.step != .endOutput {
            let answers = try bench.answers()
            try #require(!answers.isEmpty)
            ids += answers.map(\.id)
        }
        #expect(ids == (1...20).map(UInt64.init))
    }

    @Test func `a frame that does not end is told and the connection ends`() throws {
        let bench = try SessionBench()
        bench.send([0, 0])
        bench.expire(after: 10_000)
        let answer = try #require(try bench.answers().first)
        #expect(answer.id == 0)
        #expect(answer.reason == "DEADLINE")
        #expect(bench.connection.step == .endOutput)
    }

    @Test func `while draining new requests are refused and old ones answered`() throws {
        let bench = try SessionBench()
        try bench.send(link("a", id: 1))
        bench.drain()
        try bench.send(bench.check(.customerID("a"), .product("p"), id: 2))
        try bench.send(link("b", id: 3))
        try bench.send(Request(id: 4, call: .checkAccessBatch([])))
        try bench.send(Request(id: 5, call: .getServerInfo))
        let refused = try bench.answers()
        #expect(refused.map(\.id) == [2, 3, 4, 5])
        #expect(refused.allSatisfy { $0.status == .unavailable && $0.reason == "DRAINING" })
        bench.work()
        #expect(try bench.answers().map(\.status) == [.ok])
        #expect(bench.connection.step == .endOutput)
    }

    @Test func `answers to a closed connection go nowhere`() throws {
        let bench = try SessionBench()
        try bench.send(link("a", id: 1))
        try bench.send(waiting(bench, .max, id: 2))
        bench.connection.closed()
        bench.work()
        #expect(bench.output.count == 0)
        #expect(bench.connection.step == .close)
        #expect(bench.connection.nextDeadlineMilliseconds == nil)
        #expect(bench.connection.awaitedRevision == nil)
    }
}

extension SessionBench {
    /// A purchase of c-ana that came by another connection.
    static func uploadBeside(_ bench: SessionBench) throws -> UInt64 {
        var upload = TransactionUpload(customerID: "c-ana")
        upload.signedTransactions = [
            try bench.fixtures.transaction(
                "2000000100000001", product: "meadow.lifetime", purchased: now - 1000)
        ]
        let event = try bench.service.prepare(.transactions(upload))
        _ = try bench.service.commit([event])[0].get()
        return bench.service.revision
    }
}
