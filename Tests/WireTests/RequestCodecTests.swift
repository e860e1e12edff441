import Testing
import Wire

@Suite struct RequestCodecTests {
    private let arena = MessageArena()

    @Test(arguments: Samples.requests)
    func `a request comes back as it was sent`(request: Request) throws {
        var output = OutputBuffer()
        try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
        let outcome = DecoderVerifier.run([output.copy])
        let body = try #require(outcome.bodies.first)
        #expect(outcome.bodies.count == 1)
        #expect(try Request(decoding: body.span, in: arena) == request)
        #expect(arena.isEmpty)
    }

    @Test func `a request that everybody writes alike reads as it should`() throws {
        let body = requestV
        let request = try Request(decoding: body.span, in: arena)
        #expect(
            request
                == Request(
                    id: 1,
                    call: .checkAccess(.init(customer: .customerID("a"), subject: .product("p")))))
    }

    @Test func `a NUL in an identifier is kept`() throws {
        let body = hex("0801 5209 0A05 0A03610062 1200")
        let request = try Request(decoding: body.span, in: arena)
        let expected = Message.CheckAccessRequest(
            customer: .customerID(Text([0x61, 0, 0x62])), subject: .product(""))
        #expect(request.call == .checkAccess(expected))
    }

    @Test(arguments: [99, -1, Int32.min, Int32.max])
    func `an unknown environment is kept as its number`(number: Int32) throws {
        var check = Message.CheckAccessRequest(customer: .customerID("b"), subject: .product("p"))
        check.scope = .init(environment: .init(rawValue: number))
        var output = OutputBuffer()
        try Request(id: 1, call: .checkAccess(check)).encodeFrame(
            into: &output, in: arena, frameByteCountMax: 1 << 20)
        let body = Array(output.copy.dropFirst(4))
        let request = try Request(decoding: body.span, in: arena)
        guard case .checkAccess(let decoded) = request.call else {
            Issue.record("no check")
            return
        }
        #expect(decoded.scope?.environment.rawValue == number)
        #expect(decoded.scope?.environment != .production)
    }

    @Test func `minus one in ten bytes is the environment minus one`() throws {
        let scope = hex("320B 10FFFFFFFFFFFFFFFFFF01")
        let check = hex("0A03 0A0162 120170") + scope
        let body = hex("0801 52") + [UInt8(check.count)] + check
        let request = try Request(decoding: body.span, in: arena)
        guard case .checkAccess(let decoded) = request.call else {
            Issue.record("no check")
            return
        }
        #expect(decoded.scope?.environment.rawValue == -1)
    }

    @Test(arguments: ["0805 A20600", "0805", "0805 CA0100"])
    func `a call that nobody knows leaves the id readable`(digits: String) throws {
        let body = hex(digits)
        #expect(try Request(decoding: body.span, in: arena) == Request(id: 5, call: nil))
    }

    @Test func `of a customer given twice the last one counts`() throws {
        let body = hex("0801 520B 0A06 0A0161 0A0162 120170")
        let request = try Request(decoding: body.span, in: arena)
        let last = Message.CheckAccessRequest(customer: .customerID("b"), subject: .product("p"))
        #expect(request.call == .checkAccess(last))
    }

    @Test func `of two calls the last one counts`() throws {
        let body = requestV + hex("8A0100")
        #expect(try Request(decoding: body.span, in: arena).call == .getServerInfo)
    }

    @Test func `a frame over the limit is not written at all`() {
        var output = OutputBuffer()
        output.append([1, 2])
        let request = Request(
            id: 1, call: .ingestNotification(.init(payload: .init(repeating: 0, count: 100))))
        #expect(throws: WireError.frameTooLarge(byteCount: 106, limit: 105)) {
            try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 105)
        }
        #expect(output.copy == [1, 2])
        #expect(throws: Never.self) {
            try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 106)
        }
    }
}
