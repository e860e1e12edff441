internal import Wire

/// One frame of answers as `entitled` writes them: the id first, in five bytes, then the result.
struct AnswerFrame {
    /// The largest body taken, in bytes: what a server may send.
    static let byteCountMax = 64 << 20

    /// The request's number.
    let number: UInt64
    /// The body: id, then the result.
    let body: Range<Int>
    /// Where the next frame begins.
    var end: Int { body.upperBound }

    /// The bytes of an id field: a tag, and five of a varint.
    private static var idByteCount: Int { 6 }

    /// The next whole frame, or nil when there is none yet, or none can be: `ledger` is told then.
    @inline(__always)
    static func next(
        in input: Span<UInt8>, from position: Int, _ ledger: inout AnswerLedger
    ) -> AnswerFrame? {
        let available = input.count - position
        guard available >= FrameDecoder.prefixByteCount else { return nil }
        let byteCount =
            Int(input[position]) << 24 | Int(input[position + 1]) << 16
            | Int(input[position + 2]) << 8 | Int(input[position + 3])
        let start = position + FrameDecoder.prefixByteCount
        guard byteCount <= byteCountMax else {
            ledger.fail("a frame of \(byteCount) bytes")
            return nil
        }
        guard available - FrameDecoder.prefixByteCount >= byteCount else { return nil }
        let body = start..<start + byteCount
        guard byteCount >= idByteCount, input[start] == 0x08 else {
            ledger.fail("an answer without an id: \(words(of: input.extracting(body)))")
            return nil
        }
        let low =
            UInt64(input[start + 1] & 0x7F) | UInt64(input[start + 2] & 0x7F) << 7
            | UInt64(input[start + 3] & 0x7F) << 14 | UInt64(input[start + 4] & 0x7F) << 21
        // Ids of ours have five bytes: any other would be one that was never sent.
        let isOurs =
            input[start + 1] & input[start + 2] & input[start + 3] & input[start + 4] >= 0x80
            && input[start + 5] == 1
        return AnswerFrame(number: isOurs ? ledger.number(lowBits: low) : 0, body: body)
    }

    /// Where the message behind the id lies, when it has this one-byte tag and nothing follows it.
    @inline(__always)
    func message(tag: UInt8, in input: Span<UInt8>) -> Range<Int>? {
        var position = body.lowerBound + Self.idByteCount
        guard position + 2 <= end, input[position] == tag else { return nil }
        var byteCount = Int(input[position + 1])
        position += 2
        if byteCount >= 0x80 {
            byteCount &= 0x7F
            var shift = 7
            while true {
                guard position < end, shift <= 28 else { return nil }
                let byte = input[position]
                position += 1
                byteCount |= Int(byte & 0x7F) << shift
                if byte < 0x80 { break }
                shift += 7
            }
        }
        return byteCount == end - position ? position..<end : nil
    }

    /// What an answer says, for people.
    @inline(never)
    static func words(of body: Span<UInt8>) -> String {
        guard let response = try? Response(decoding: body, in: MessageArena()) else {
            return "no response can be read from its \(body.count) bytes"
        }
        if response.status != .ok {
            return "\(response.status), \(response.reason): \(response.message)"
        }
        if case .checkAccess(let answer)? = response.result {
            return "\(answer)"
        }
        return "a result of another kind, or another one than expected"
    }
}
