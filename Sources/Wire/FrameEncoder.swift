/// Puts bodies of unknown size behind their length prefix: reserve, write, patch.
package enum FrameEncoder {
    /// Appends an empty prefix; the body is appended next, then `end` gets what this gave.
    package static func begin(in output: inout OutputBuffer) -> Int {
        let mark = output.mark
        output.reserve(FrameDecoder.prefixByteCount)
        for _ in 0..<FrameDecoder.prefixByteCount { output.append(0) }
        return mark
    }

    /// Writes the byte count of the body that was appended since `begin` gave `mark`.
    package static func end(in output: inout OutputBuffer, mark: Int) {
        let byteCount = output.mark - mark - FrameDecoder.prefixByteCount
        precondition(byteCount >= 0 && byteCount <= Int(UInt32.max))
        output.patch(UInt32(byteCount), at: mark)
    }

    /// Appends `body` as one frame.
    package static func append(_ body: Span<UInt8>, to output: inout OutputBuffer) {
        let mark = begin(in: &output)
        output.append(body)
        end(in: &output, mark: mark)
    }
}
