import Testing
import Wire

@Suite struct CheckRunTests {
    private let arena = MessageArena()

    private func check(_ id: UInt64) -> [UInt8] {
        framed([0x08, UInt8(id)] + hex("520A 0A03 0A0161 1A03706C75"))
    }

    /// What is gathered from `position` on, as `id start end` of each frame.
    private func gathered(
        _ input: [UInt8], from position: Int = 0, frameByteCountMax: Int = 1 << 20
    ) -> [String] {
        let decoder = FrameDecoder(frameByteCountMax: frameByteCountMax)
        let run = CheckRun()
        let count = decoder.gather(input.span, from: position, into: run)
        var found: [String] = []
        for index in 0..<count {
            let frame = run.frames[index]
            found.append("\(frame.requestID) \(frame.start) \(frame.end)")
        }
        return found
    }

    @Test func `whole frames with one check each are gathered, and what is cut short is not`() {
        let frame = check(1)
        let input = frame + check(2)
        #expect(gathered(input) == ["1 0 18", "2 18 36"])
        #expect(gathered(input, from: 18) == ["2 18 36"])
        for count in 0..<frame.count {
            #expect(gathered(Array(input.prefix(count))) == [])
            #expect(gathered(Array(input.prefix(frame.count + count))) == ["1 0 18"])
        }
    }

    @Test(
        arguments: [
            ("no byte", "00000000"), ("more than a frame may have", "00000040"),
            ("another call", "00000004 08015A00"), ("an unknown field", "00000005 52007A0161"),
            ("no request", "00000001 0F"),
        ])
    func `what others have to judge ends the run`(name: String, digits: String) {
        let input = check(1) + hex(digits) + check(2)
        #expect(gathered(input, frameByteCountMax: 40) == ["1 0 18"], "\(name)")
    }

    @Test func `each check of a run is judged`() {
        let input = check(1) + framed(hex("0802 520A 0A03 0A01FF 1A03706C75")) + check(3)
        let run = CheckRun()
        let count = FrameDecoder(frameByteCountMax: 100).gather(input.span, from: 0, into: run)
        var faults: [CheckFault] = []
        for index in 0..<count { faults.append(run.frames[index].fault) }
        #expect(faults == [.none, .customer, .none])
    }

    @Test func `a run ends when it is full`() {
        let input = (0..<100).flatMap { check($0) }
        #expect(gathered(input).count == CheckRun.countMax)
    }

    @Test func `nothing is gathered while a frame is held in part`() throws {
        var decoder = FrameDecoder(frameByteCountMax: 100)
        let frame = check(1)
        let run = CheckRun()
        decoder.hold(frame.span.extracting(0..<5), from: 0)
        let input = Array(frame.dropFirst(5)) + check(2)
        let heldCount = decoder.gather(input.span, from: 0, into: run)
        #expect(heldCount == 0)
        var position = 0
        let body = try decoder.next(in: input.span, from: &position)
        #expect(body == .held(4..<18))
        let count = decoder.gather(input.span, from: position, into: run)
        #expect(count == 1)
        let next = run.frames[0]
        #expect(next.requestID == 2)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `a gathered check is what protobuf-c reads in its frame`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed + 900)
        var count = 0
        for round in 0..<500 {
            var input: [UInt8] = []
            for _ in 0..<8 {
                var body = try Oracle.body(Oracle.randomRequest(&generator), arena)
                if generator.oneIn(4) { Oracle.damage(&body, &generator) }
                if !body.isEmpty { input += framed(body) }
            }
            let decoder = FrameDecoder(frameByteCountMax: 1 << 20)
            let run = CheckRun()
            let gatheredCount = decoder.gather(input.span, from: 0, into: run)
            for index in 0..<gatheredCount {
                let frame = run.frames[index]
                let body = Array(input[frame.start + 4..<frame.end])
                var slow = Oracle.normalized(try Request(decoding: body.span, in: arena))
                #expect(slow.id == frame.requestID)
                slow = Request(id: 0, call: slow.call)
                let check = run.checks[index]
                let fast = Request(id: 0, call: .checkAccess(Oracle.check(check, input)))
                try #require(fast == slow, "seed \(seed), round \(round): \(body)")
            }
            count += gatheredCount
        }
        #expect(count > 500)
    }

    @Test(
        arguments: [
            ("520A 0A03 0A0161 1A03706C75", CheckFault.none),
            ("5205 1A03706C75", .customer), ("5209 0A02 0A00 1A03706C75", .customer),
            ("520A 0A03 0A01FF 1A03706C75", .customer), ("5205 0A03 0A0161", .missingSubject),
            ("5207 0A03 0A0161 1200", .subject), ("5208 0A03 0A0161 1201C3", .subject),
            ("5213 0A03 0A0161 120170 20FFFFFFFFFFFFFFFFFF01", .instant),
            ("520A 0A03 0A0161 120170 2001", .none),
        ])
    func `the first fault of a check is found`(digits: String, fault: CheckFault) {
        let body = hex(digits)
        var envelope = CheckEnvelope()
        #expect(CheckAccessCodec.decode(body.span, into: &envelope))
        #expect(envelope.check.fault(in: body.span) == fault)
    }

    /// Frames that differ from each other in a few bytes: a frame is read from the one before it
    /// where that is allowed, and must be read as if it had come alone.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `frames that resemble each other are read as each by itself`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let template = try request(&generator)
        for _ in 0..<40 {
            var bodies: [[UInt8]] = []
            while bodies.count < 12 {
                var body = generator.oneIn(9) ? try request(&generator) : template
                for _ in 0..<Int(generator.next() % 4) {
                    let index = Int(generator.next() % UInt64(body.count))
                    let isSmall = generator.oneIn(2)
                    body[index] = isSmall ? body[index] ^ 1 : UInt8(generator.next() & 0xFF)
                }
                bodies.append(body)
            }
            compare(bodies, "seed \(seed)")
        }
    }

    /// A request in the usual order, some of them with fields that few have.
    private func request(_ generator: inout SeededGenerator) throws -> [UInt8] {
        var check = Oracle.randomCheck(&generator)
        check.customer = .customerID(Text(generator.bytes(1...50)))
        check.subject = .product(Text(generator.bytes(1...30)))
        if generator.oneIn(2) {
            check.scope = .init(bundleID: Text(Array("com.example.R".utf8)))
        }
        let request = Request(id: generator.next() >> 40, call: .checkAccess(check))
        var output = OutputBuffer()
        try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
        return Array(Text(copying: output.bytes).bytes.dropFirst(FrameDecoder.prefixByteCount))
    }

    private func compare(_ bodies: [[UInt8]], _ context: Comment) {
        let input = bodies.flatMap { framed($0) }
        let run = CheckRun()
        let count = FrameDecoder(frameByteCountMax: 1 << 20)
            .gather(input.span, from: 0, into: run)
        var position = 0
        for (index, body) in bodies.enumerated() {
            var envelope = CheckEnvelope()
            guard CheckAccessCodec.decode(body.span, into: &envelope) else {
                #expect(count == index, context)
                return
            }
            guard index < count else {
                Issue.record("frame \(index) was not gathered, \(context)")
                return
            }
            let (frame, check) = (run.frames[index], run.checks[index])
            let start = position + FrameDecoder.prefixByteCount
            #expect(frame.requestID == envelope.id, context)
            #expect(frame.start == position && frame.end == start + body.count, context)
            let fault = envelope.check.fault(in: body.span)
            #expect(frame.fault == fault, context)
            for range in [\CheckFields.customer, \.subject, \.bundleID]
            where envelope.check[keyPath: range].start > 0 {
                envelope.check[keyPath: range].start += UInt32(start)
            }
            #expect(check == envelope.check, context)
            position = start + body.count
        }
        #expect(count == bodies.count, context)
    }
}
