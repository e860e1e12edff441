import Testing
import Wire

@Suite struct CheckBatchCodecTests {
    private let arena = MessageArena()

    /// What the codec gives; nil when it leaves the body to protobuf-c.
    private func decode(_ body: [UInt8], countMax: Int = 1000) -> (request: Request, isOver: Bool)?
    {
        var envelope = CheckEnvelope()
        var checks: [CheckFields] = [CheckFields()]
        var isOver = true
        guard
            CheckBatchCodec.decode(
                body.span, countMax: countMax, into: &envelope, checks: &checks,
                isOverLimit: &isOver)
        else { return nil }
        var request = Oracle.request(envelope, body)
        request.call = .checkAccessBatch(checks.map { Oracle.check($0, body) })
        return (request, isOver)
    }

    @Test(arguments: Samples.requests)
    func `the batch codec takes batches and nothing else`(request: Request) throws {
        let decoded = decode(try Oracle.body(request, arena))
        if case .checkAccessBatch = request.call {
            #expect(decoded?.request == Oracle.normalized(request))
            #expect(decoded?.isOver == false)
        } else {
            #expect(decoded == nil)
        }
    }

    @Test func `a batch at the limit is whole and one over it says so`() throws {
        let check = Message.CheckAccessRequest(customer: .customerID("a"), subject: .product("p"))
        for (count, isOver) in [(0, false), (3, false), (4, true)] {
            let request = Request(
                id: 9, call: .checkAccessBatch(.init(repeating: check, count: count)))
            let decoded = try #require(decode(try Oracle.body(request, arena), countMax: 3))
            #expect(decoded.isOver == isOver)
            guard case .checkAccessBatch(let checks) = decoded.request.call else {
                Issue.record("no batch")
                continue
            }
            #expect(checks.count == min(count, 3))
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `damaged batches are read as protobuf-c reads them, or left to it`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed + 500)
        var takenCount = 0
        for round in 0..<6000 {
            let checks = (0..<Int(generator.next() % 4)).map { _ in Oracle.randomCheck(&generator) }
            var body = try Oracle.body(Request(id: 3, call: .checkAccessBatch(checks)), arena)
            if round % 4 > 0 { Oracle.damage(&body, &generator) }
            guard let decoded = decode(body) else {
                #expect(round % 4 > 0)
                continue
            }
            takenCount += 1
            let slow = try? Request(decoding: body.span, in: arena)
            try #require(
                slow.map(Oracle.normalized) == decoded.request,
                "seed \(seed), round \(round): \(body)")
        }
        #expect(takenCount > 1500)
    }
}
