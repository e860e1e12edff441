import Wire

/// Messages: what decodes, encodes to something that decodes to the same.
enum MessageFuzz {
    /// The body of a request.
    static func fuzzRequest(_ input: [UInt8]) throws {
        let arena = MessageArena()
        guard let request = try? Request(decoding: input.span, in: arena) else { return }
        var output = OutputBuffer()
        try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 24)
        let body = Array(Text(copying: output.bytes).bytes.dropFirst(FrameDecoder.prefixByteCount))
        let again = try Request(decoding: body.span, in: arena)
        try expect(again == request, "a request changes on its way: \(request), \(again)")
    }

    /// The body of a response.
    static func fuzzResponse(_ input: [UInt8]) throws {
        let arena = MessageArena()
        guard let response = try? Response(decoding: input.span, in: arena) else { return }
        var output = OutputBuffer()
        try response.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 24)
        let body = Array(Text(copying: output.bytes).bytes.dropFirst(FrameDecoder.prefixByteCount))
        let again = try Response(decoding: body.span, in: arena)
        try expect(again == response, "a response changes on its way: \(response), \(again)")
        try expectSameAnswer(response, body)
    }

    /// The hand-written encoder of answers writes what protobuf-c writes.
    private static func expectSameAnswer(_ response: Response, _ body: [UInt8]) throws {
        // It writes answers that were found, which have nothing else to say.
        guard case .checkAccess(let answer)? = response.result,
            response.status == .ok, response.reason.isEmpty, response.message.isEmpty,
            response.retryAfterMilliseconds == 0
        else { return }
        var output = OutputBuffer()
        CheckAnswerCodec.appendFrame(
            id: response.id,
            CheckAnswer(
                granted: answer.granted, reason: answer.reason.rawValue,
                ownership: answer.ownership.rawValue,
                validUntilMilliseconds: answer.validUntilMilliseconds, revision: answer.revision),
            product: answer.productID.bytes.span, transaction: answer.transactionID.bytes.span,
            original: answer.originalTransactionID.bytes.span, to: &output)
        let written = Text(copying: output.bytes).bytes.dropFirst(FrameDecoder.prefixByteCount)
        try expect(written.elementsEqual(body), "an answer is written otherwise: \(response)")
    }
}
