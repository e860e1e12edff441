import Entitlements
import Testing

@Suite struct TextRangeTests {
    @Test func `a range counts from its start`() {
        #expect(TextRange(start: 3, count: 4).range == 3..<7)
        #expect(TextRange().range.isEmpty)
        #expect(TextRange(start: .max, count: .max).range.count == 65_535)
    }

    @Test func `it is small`() {
        #expect(MemoryLayout<TextRange>.stride == 8)
    }
}
