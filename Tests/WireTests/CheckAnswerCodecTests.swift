import Testing
import Wire

@Suite struct CheckAnswerCodecTests {
    private let arena = MessageArena()

    private func randomAnswer(_ generator: inout SeededGenerator) -> Message.CheckAccessResponse {
        var answer = Message.CheckAccessResponse()
        answer.granted = generator.oneIn(2)
        answer.reason = .init(rawValue: Int32(truncatingIfNeeded: Oracle.number(&generator)))
        answer.ownership = .init(rawValue: Int32(generator.next() % 5))
        answer.validUntilMilliseconds = Int64(bitPattern: Oracle.number(&generator))
        answer.productID = Oracle.text(&generator)
        answer.transactionID = Oracle.text(&generator)
        answer.originalTransactionID = Oracle.text(&generator)
        answer.revision = Oracle.number(&generator)
        return answer
    }

    private func numbers(_ answer: Message.CheckAccessResponse) -> CheckAnswer {
        CheckAnswer(
            granted: answer.granted, reason: answer.reason.rawValue,
            ownership: answer.ownership.rawValue,
            validUntilMilliseconds: answer.validUntilMilliseconds, revision: answer.revision)
    }

    @Test func `an answer is byte for byte what protobuf-c writes`() throws {
        var generator = SeededGenerator(seed: 41)
        for round in 0..<10_000 {
            let answer = round == 0 ? .init() : randomAnswer(&generator)
            let id = round == 0 ? 0 : Oracle.number(&generator)
            var slow = OutputBuffer()
            try Response(id: id, result: .checkAccess(answer)).encodeFrame(
                into: &slow, in: arena, frameByteCountMax: 1 << 20)
            var fast = OutputBuffer()
            let (product, transaction) = (answer.productID.bytes, answer.transactionID.bytes)
            let original = answer.originalTransactionID.bytes
            CheckAnswerCodec.appendFrame(
                id: id, numbers(answer), product: product.span, transaction: transaction.span,
                original: original.span, to: &fast)
            try #require(fast.copy == slow.copy, "round \(round): \(answer)")
        }
    }

    @Test(arguments: [0, 1, 2, 1000])
    func `a batch is byte for byte what protobuf-c writes`(count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        var batch = Message.CheckAccessBatchResponse()
        batch.results = (0..<count).map { _ in randomAnswer(&generator) }
        batch.revision = count == 0 ? 0 : 77
        var results = OutputBuffer()
        for answer in batch.results {
            let (product, transaction) = (answer.productID.bytes, answer.transactionID.bytes)
            let original = answer.originalTransactionID.bytes
            CheckAnswerCodec.appendResult(
                numbers(answer), product: product.span, transaction: transaction.span,
                original: original.span, to: &results)
        }
        var fast = OutputBuffer()
        CheckAnswerCodec.appendBatchFrame(
            id: 5, results: results.bytes, revision: batch.revision, to: &fast)
        var slow = OutputBuffer()
        try Response(id: 5, result: .checkAccessBatch(batch)).encodeFrame(
            into: &slow, in: arena, frameByteCountMax: 1 << 20)
        #expect(fast.copy == slow.copy)
    }
}
