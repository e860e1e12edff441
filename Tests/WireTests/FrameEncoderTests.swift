import Testing
import Wire

@Suite struct FrameEncoderTests {
    @Test func `a frame is its length and its body`() {
        var output = OutputBuffer()
        output.append([9])
        let body = requestV
        FrameEncoder.append(body.span, to: &output)
        #expect(output.copy == [9] + hex("0000000C") + requestV)
    }

    @Test func `the length is patched behind the body, wherever the frame begins`() {
        var output = OutputBuffer()
        output.append([1, 2, 3])
        output.consume(2)
        let mark = FrameEncoder.begin(in: &output)
        output.append([UInt8](repeating: 7, count: 70_000))
        FrameEncoder.end(in: &output, mark: mark)
        let bytes = output.copy
        #expect(Array(bytes.prefix(6)) == [3, 0, 1, 0x11, 0x70, 7])
        #expect(bytes.count == 70_005)
    }
}
