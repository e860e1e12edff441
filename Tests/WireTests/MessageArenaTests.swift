import Testing
import Wire

@Suite struct MessageArenaTests {
    /// A request whose checks are empty: two bytes each on the wire, more than a hundred unpacked.
    private func emptyChecks(_ count: Int) -> [UInt8] {
        let checks = Array([[UInt8]](repeating: [0x0A, 0], count: count).joined())
        var length: [UInt8] = []
        var rest = checks.count
        while rest >= 0x80 {
            length.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return [0x08, 7, 0x5A] + length + [UInt8(rest)] + checks
    }

    @Test func `a message that unpacks to too much is refused with its id`() {
        let arena = MessageArena(byteCountMax: 1 << 20)
        let body = emptyChecks(500_000)
        #expect(throws: WireError.messageTooComplex(requestID: 7, limit: 1 << 20)) {
            try Request(decoding: body.span, in: arena)
        }
    }

    @Test func `an arena serves again after a refusal`() throws {
        let arena = MessageArena(byteCountMax: 1 << 20)
        let large = emptyChecks(100_000)
        #expect(throws: WireError.self) { try Request(decoding: large.span, in: arena) }
        let small = emptyChecks(1000)
        let request = try Request(decoding: small.span, in: arena)
        #expect(request.call == .checkAccessBatch(.init(repeating: .init(), count: 1000)))
    }

    @Test func `a frame of the largest size fits the default arena`() throws {
        let arena = MessageArena()
        let payload = [UInt8](repeating: 0x7B, count: (1 << 20) - 16)
        let request = Request(id: 1, call: .ingestNotification(.init(payload: payload)))
        var output = OutputBuffer()
        try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
        let body = Array(output.copy.dropFirst(4))
        #expect(try Request(decoding: body.span, in: arena) == request)
        // W1: a small request, padded to the limit by a field that nobody knows.
        let padded = requestV + hex("A206 E0FF3F") + [UInt8](repeating: 1, count: (1 << 20) - 32)
        #expect(try Request(decoding: padded.span, in: arena).id == 1)
    }

    @Test func `a message that cannot be built is refused and leaves nothing behind`() {
        let arena = MessageArena(byteCountMax: 64 << 10)
        let request = Request(
            id: 1, call: .ingestNotification(.init(payload: .init(repeating: 0, count: 64 << 10))))
        var output = OutputBuffer()
        #expect(throws: WireError.self) {
            try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
        }
        #expect(output.count == 0)
        #expect(arena.isEmpty)
    }
}
