import Testing
import Wire

@Suite struct MessageCheckTests {
    private let arena = MessageArena()

    /// What decoding `body` as a request throws; nil when it is taken.
    private func failure(_ body: [UInt8]) -> WireError? {
        do throws(WireError) {
            _ = try Request(decoding: body.span, in: arena)
            return nil
        } catch {
            return error
        }
    }

    private func isMalformed(_ body: [UInt8]) -> Bool {
        if case .malformedMessage = failure(body) { true } else { false }
    }

    @Test(
        arguments: [
            ("a string of 2^32 - 1 bytes", "0AFFFFFFFF0F"),
            ("field number 0", "00"),
            ("field number 0 with a length", "0201 61"),
            ("wire type 7", "0F"),
            ("wire type 6", "0E"),
            ("a varint of 11 bytes", "78FFFFFFFFFFFFFFFFFFFF01"),
            ("five bytes announced, two there", "0A056162"),
            ("a length varint of 11 bytes", "0A8080808080808080808001"),
            ("a length of six bytes", "1A808080808000"),
            ("a length of six bytes in a check", "5207 0A808080808000"),
            ("a length of six bytes of an unknown field", "A206808080808000"),
            ("an id of 11 bytes", "08FFFFFFFFFFFFFFFFFFFF01"),
            ("a tag of six bytes", "8880808080 00 01"),
            ("field number 2^29", "8080808010 01"),
            ("a tag over 32 bits", "F8FFFFFF1F01"),
            ("a tag cut short", "88"),
            ("a varint cut short", "0880"),
            ("eight bytes announced by type, seven there", "A106 01020304050607"),
            ("four bytes announced by type, three there", "A506 010203"),
            ("the id as a string", "0A0161"),
            ("the call as a number", "5001"),
            ("the traceparent as a number", "1801"),
            ("a customer that ends past its check", "5204 0A05 0A01"),
            ("a name that ends past its customer", "5205 0A03 0A0361"),
            ("a group end in a check", "5201 0C"),
            ("field number 0 in a customer", "5204 0A02 0001"),
            ("wire type 7 in the scope of a check in a batch", "5A05 0A03 3201 0F"),
        ])
    func `what breaks a rule of the encoding is malformed`(name: String, digits: String) {
        #expect(isMalformed(hex(digits)), "\(name) alone")
        #expect(isMalformed(requestV + hex(digits)), "\(name) behind a good request")
    }

    @Test func `groups are malformed however deep they nest`() {
        #expect(isMalformed([UInt8](repeating: 0x0B, count: 10_000)))
        #expect(
            isMalformed(requestV + Array([[UInt8]](repeating: hex("A306"), count: 64).joined())))
        #expect(isMalformed(requestV + hex("A306 A406")))
    }

    @Test(
        arguments: [
            ("the greatest field number", "F8FFFFFF0F01"), ("an unknown string", "A2060378797A"),
            ("an unknown varint of ten bytes", "A006FFFFFFFFFFFFFFFFFF01"),
            ("unknown eight bytes", "A106 0102030405060708"),
            ("unknown four bytes", "A506 01020304"),
            ("an unknown string that is no message", "A20605FFFFFFFFFF"),
            ("an unknown empty string", "A20600"),
            ("an unknown empty string, its length in five bytes", "A2068080808000"),
            ("a tag of more bytes than needed", "A08600 01"),
        ])
    func `unknown fields are ignored`(name: String, digits: String) throws {
        let plain = try Request(decoding: Array(requestV).span, in: arena)
        let bytes = requestV + hex(digits)
        let request = try Request(decoding: bytes.span, in: arena)
        #expect(request == plain, "\(name)")
    }

    @Test func `no prefix of a request reads past its end`() throws {
        var output = OutputBuffer()
        try Samples.requests[1].encodeFrame(
            into: &output, in: arena, frameByteCountMax: 1 << 20)
        let body = Array(output.copy.dropFirst(4))
        for count in 0..<body.count {
            // Exactly sized storage: a read past it is what the address sanitizer sees.
            _ = failure(Array(body.prefix(count)))
        }
        #expect(failure(body) == nil)
    }

    @Test func `an empty message is well formed`() throws {
        let nothing: [UInt8] = []
        let request = try Request(decoding: nothing.span, in: arena)
        #expect(request == Request(id: 0, call: nil))
    }

    @Test func `random bytes are taken or refused and nothing else happens`() {
        var generator = SeededGenerator(seed: 77)
        var takenCount = 0
        for _ in 0..<40_000 {
            if failure(generator.bytes(0...24)) == nil { takenCount += 1 }
        }
        #expect(takenCount > 0)
    }
}
