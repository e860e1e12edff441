import Testing
import Wire

@Suite struct FrameDecoderTests {
    @Test(
        arguments: [
            [requestV], [requestV, requestV, requestV], [[7]], [[7], requestV, [8, 9]],
            [[UInt8](repeating: 1, count: 300), requestV],
        ] as [[[UInt8]]])
    func `the same frames come out however the bytes are cut`(bodies: [[UInt8]]) {
        let stream = bodies.flatMap(framed)
        for outcome in DecoderVerifier.outcomes(stream) {
            #expect(outcome == .init(bodies: bodies, error: nil, heldByteCount: 0))
        }
    }

    @Test func `every truncation holds the beginning and gives the frames before it`() {
        let stream = framed(requestV) + framed([1, 2, 3])
        for count in 0..<stream.count {
            let outcome = DecoderVerifier.run([Array(stream.prefix(count))])
            let whole = count >= framed(requestV).count
            #expect(outcome.bodies == (whole ? [requestV] : []))
            #expect(outcome.error == nil)
            #expect(outcome.heldByteCount == count - (whole ? framed(requestV).count : 0))
        }
    }

    @Test func `a thousand requests in one write are a thousand frames`() {
        let stream = Array([[UInt8]](repeating: framed(requestV), count: 1000).joined())
        let outcome = DecoderVerifier.run([stream])
        #expect(outcome.bodies.count == 1000)
        #expect(outcome.bodies.allSatisfy { $0 == requestV })
    }

    @Test func `a frame of exactly the limit is taken and one byte more is not`() {
        let body = [UInt8](repeating: 3, count: 64)
        #expect(DecoderVerifier.run([framed(body)], frameByteCountMax: 64).bodies == [body])
        for outcome in DecoderVerifier.outcomes(framed(body + [3]), frameByteCountMax: 64) {
            #expect(outcome.bodies.isEmpty)
            #expect(outcome.error == .frameTooLarge(byteCount: 65, limit: 64))
        }
    }

    @Test(
        arguments: [
            ("FFFFFFFF", 4_294_967_295), ("80000000", 2_147_483_648), ("7FFFFFFF", 2_147_483_647),
            ("00100001", 1_048_577),
        ])
    func `a length out of bounds is refused by its prefix alone`(prefix: String, byteCount: Int) {
        let refusal = WireError.frameTooLarge(byteCount: byteCount, limit: 1 << 20)
        for tail in [[], [UInt8](repeating: 0x41, count: 40)] {
            for outcome in DecoderVerifier.outcomes(hex(prefix) + tail) {
                #expect(outcome == .init(bodies: [], error: refusal, heldByteCount: 0))
            }
        }
    }

    @Test func `a frame of no bytes is refused`() {
        for outcome in DecoderVerifier.outcomes(framed(requestV) + hex("00000000") + requestV) {
            #expect(outcome.bodies == [requestV])
            #expect(outcome.error == .emptyFrame)
        }
    }

    @Test func `memory grows with what came, not with what was announced`() {
        var decoder = FrameDecoder(frameByteCountMax: 1 << 20)
        let beginning = hex("00100000") + [UInt8](repeating: 0, count: 100)
        let input = beginning.span
        var position = 0
        #expect(throws: Never.self) { try decoder.next(in: input, from: &position) == nil }
        decoder.hold(input, from: position)
        #expect(decoder.heldByteCount == 104)
        #expect(decoder.heldCapacityByteCount < 1024)
    }

    @Test func `a caller may stop between two frames and go on later`() throws {
        var decoder = FrameDecoder(frameByteCountMax: 1 << 20)
        let stream = framed([1]) + framed([2]) + framed([3])
        let input = stream.span
        var position = 0
        _ = try decoder.next(in: input, from: &position)
        decoder.hold(input, from: position)
        #expect(decoder.heldByteCount == 10)
        var rest: [[UInt8]] = []
        let nothing: [UInt8] = []
        var start = 0
        while let body = try decoder.next(in: nothing.span, from: &start) {
            rest.append(Text(copying: decoder.bytes(of: body, in: nothing.span)).bytes)
        }
        #expect(rest == [[2], [3]])
        #expect(decoder.heldByteCount == 0)
    }

    @Test func `what was held back comes before what is new`() throws {
        var decoder = FrameDecoder(frameByteCountMax: 1 << 20)
        let first = framed([1]) + framed([2])
        decoder.hold(first.span, from: 0)
        let second = framed([3])
        var position = 0
        var bodies: [[UInt8]] = []
        while let body = try decoder.next(in: second.span, from: &position) {
            bodies.append(Text(copying: decoder.bytes(of: body, in: second.span)).bytes)
        }
        #expect(bodies == [[1], [2], [3]])
        #expect(position == second.count)
    }

    @Test func `discarding forgets a frame begun`() throws {
        var decoder = FrameDecoder(frameByteCountMax: 1 << 20)
        decoder.hold(hex("0000000C 0801 5208").span, from: 0)
        decoder.discard()
        #expect(decoder.heldByteCount == 0)
    }
}
