import Testing
import Wire

@Suite struct CheckFieldsTests {
    @Test func `a range names bytes of the body`() {
        let body: [UInt8] = [10, 11, 12, 13]
        let range = ByteRange(start: 1, byteCount: 2)
        #expect(range.indices == 1..<3)
        #expect(Text(copying: body.span.extracting(range)).bytes == [11, 12])
        #expect(body.span.extracting(ByteRange.empty).count == 0)
        #expect(ByteRange.empty.isEmpty && !range.isEmpty)
    }

    @Test func `a range past the body traps`() async {
        await #expect(processExitsWith: .failure) {
            let body: [UInt8] = [1, 2]
            _ = body.span.extracting(ByteRange(start: 1, byteCount: 2)).count
        }
    }

    @Test func `a decoded check is small`() {
        #expect(MemoryLayout<CheckEnvelope>.size <= 128)
    }
}
