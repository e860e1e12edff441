import Testing
import Wire

@Suite struct TextTests {
    @Test func `texts are equal when their bytes are`() {
        let composed = Text("caf\u{E9}")
        let decomposed = Text("cafe\u{301}")
        #expect("caf\u{E9}" == "cafe\u{301}")
        #expect(composed != decomposed)
        #expect(Text([0x61, 0, 0x62]) != Text([0x61, 0, 0x63]))
    }

    @Test func `what is no UTF-8 has no string and is shown all the same`() {
        #expect(Text([0xC3, 0x28]).string == nil)
        #expect(Text([0xC3, 0x28]).description == "\u{FFFD}(")
        #expect(Text(hex("61 00 62")).string == "a\0b")
        #expect(Text().string == "")
        #expect(Text().isEmpty)
    }

    @Test func `a copy of a span is its bytes`() {
        let bytes: [UInt8] = [1, 2, 3, 4]
        #expect(Text(copying: bytes.span.extracting(1..<3)).bytes == [2, 3])
    }
}
