import Testing
import Wire

@testable import LoadGenerator

@Suite struct MessageWriterTests {
    @Test(arguments: [0, 1, 127, 128, 300, 1 << 28, 1 << 35, .max] as [UInt64])
    func `numbers are written as protobuf-c writes them`(value: UInt64) throws {
        var answer = Message.CheckAccessResponse()
        answer.revision = value
        let frame = try Frames.encode(Response(id: 7, result: .checkAccess(answer)))
        var inner = MessageWriter()
        inner.number(8, value)
        var body = MessageWriter()
        body.number(1, 7)
        body.bytes(10, inner.bytes)
        #expect(MessageWriter.frame(body.bytes) == frame)
    }

    @Test func `an empty text is left out, and a text tells where it stands`() {
        var writer = MessageWriter()
        #expect(writer.text(5, "") == nil)
        #expect(writer.bytes.isEmpty)
        #expect(writer.text(5, "ab") == 2)
        #expect(writer.bytes == [0x2A, 2, 0x61, 0x62])
    }

    @Test(arguments: [
        (0, 1, "0"), (7, 4, "0007"), (12_345, 5, "12345"), (12_345, 3, "345"), (99, 2, "99"),
        (100, 3, "100"), (UInt64.max, 20, "18446744073709551615"),
    ])
    func `digits overwrite so many places before the end`(
        value: UInt64, count: Int, text: String
    ) {
        var bytes = Array("[....................]".utf8)
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            unsafe Patch.digits(value, count: count, before: buffer.baseAddress! + 21)
        }
        let dots = String(repeating: ".", count: 20 - count)
        #expect(String(decoding: bytes, as: UTF8.self) == "[" + dots + text + "]")
    }

    @Test func `eight digits at once are those of the number`() {
        var random = RandomSource(seed: 8)
        let numbers = (0..<20_000).map { _ in random.below(100_000_000) } + [0, 9_999, 99_999_999]
        for number in numbers {
            var text = [UInt8](repeating: 0, count: 15)
            unsafe text.withUnsafeMutableBufferPointer { buffer in
                unsafe Patch.digits(number, count: 15, before: buffer.baseAddress! + 15)
            }
            let digits = String(number)
            let expected = String(repeating: "0", count: 15 - digits.utf8.count) + digits
            #expect(String(decoding: text, as: UTF8.self) == expected)
        }
    }

    @Test(arguments: [1, 127, 128, 1 << 20, 1 << 28 - 1, 1 << 28, 1 << 40 + 5] as [UInt64])
    func `an id is five bytes that every decoder reads`(number: UInt64) throws {
        var bytes: [UInt8] = [0x08, 0, 0, 0, 0, 0]
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            unsafe Patch.id(number, at: buffer.baseAddress! + 1)
        }
        let response = try Response(decoding: bytes.span, in: MessageArena())
        #expect(response.id == 1 << 28 + number % (1 << 28))
        var canonical = MessageWriter()
        canonical.fixedVarint(1, response.id)
        #expect(canonical.bytes == bytes)
    }
}
