import Testing
import Wire

@Suite struct ResponseCodecTests {
    private let arena = MessageArena()

    @Test(arguments: Samples.responses)
    func `a response comes back as it was sent`(response: Response) throws {
        var output = OutputBuffer()
        try response.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
        let body = try #require(DecoderVerifier.run([output.copy]).bodies.first)
        #expect(try Response(decoding: body.span, in: arena) == response)
        #expect(arena.isEmpty)
    }

    @Test func `a result that this release does not know is no result`() throws {
        let body = hex("0801 A20600")
        #expect(try Response(decoding: body.span, in: arena) == Response(id: 1, result: nil))
    }

    @Test func `a malformed response is refused`() {
        for digits in ["00", "0F", "0A0161", "5205 0801"] {
            let body = hex(digits)
            #expect(throws: WireError.self) { try Response(decoding: body.span, in: arena) }
        }
    }

    @Test func `a status that this release does not know keeps its number`() throws {
        let body = hex("0801 1063")
        let response = try Response(decoding: body.span, in: arena)
        #expect(response.status.rawValue == 99)
        #expect(response.status.name == nil)
        #expect(response.status.description == "99")
    }
}
