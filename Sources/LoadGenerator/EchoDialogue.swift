internal import Wire

/// Frames for a server that answers every frame with one and the same.
package struct EchoScript: Equatable, Sendable {
    /// The frame that is sent, its prefix included.
    package var request: [UInt8]
    /// The frame that has to come back, its prefix included.
    package var answer: [UInt8]

    /// Both are whole frames with their prefix.
    package init(request: [UInt8], answer: [UInt8]) {
        precondition(request.count > FrameDecoder.prefixByteCount)
        precondition(answer.count > FrameDecoder.prefixByteCount)
        self.request = request
        self.answer = answer
    }
}

/// Says the same frame over and over, and wants the same answer every time.
struct EchoDialogue: LoadDialogue {
    private let script: EchoScript

    init(_ script: EchoScript) { self.script = script }

    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        output.append(script.request.span)
        return 0
    }

    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        let byteCount = script.answer.count
        var position = 0
        while input.count - position >= byteCount {
            let answer = input.extracting(position..<position + byteCount)
            guard ledger.answerOldest() != nil else { return position }
            if !ByteComparison.isEqual(answer, script.answer.span) {
                ledger.reportWrong(
                    "the echo did not answer with its bytes", expected: script.answer,
                    found: answer)
            }
            position += byteCount
        }
        return position
    }
}
