import Testing
import Wire

@testable import Simulation

@Suite struct AnswerTamperingTests {
    private let arena = MessageArena()

    private func frame(_ response: Response) throws -> [UInt8] {
        var output = OutputBuffer()
        try response.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
        return Text(copying: output.bytes).bytes
    }

    private func check(_ id: UInt64, revision: UInt64, granted: Bool = true) -> Response {
        var answer = Message.CheckAccessResponse()
        answer.granted = granted
        answer.reason = granted ? .active : .refunded
        answer.transactionID = "1"
        answer.productID = "p"
        answer.revision = revision
        return Response(id: id, result: .checkAccess(answer))
    }

    @Test func `without a bug to plant there is no tampering`() {
        #expect(AnswerTampering(nil, seed: 1) == nil)
        #expect(AnswerTampering(.loseLastBatch, seed: 1) == nil)
    }

    @Test func `some answers leave twice`() throws {
        let tampering = try #require(AnswerTampering(.answerTwice, seed: 1))
        let bytes = try frame(check(1, revision: 1))
        let counts = (0..<2_000).map { _ in tampering.change(bytes).count / bytes.count }
        #expect(Set(counts) == [1, 2])
    }

    @Test func `a stale answer has the old verdict and the new revision`() throws {
        let tampering = try #require(AnswerTampering(.staleAnswer, seed: 1))
        let old = try frame(check(1, revision: 1))
        #expect(tampering.change(old) == old)
        let changed = tampering.change(try frame(check(2, revision: 2, granted: false)))
        #expect(changed == (try frame(check(2, revision: 2))))
    }

    @Test func `answers that leave together exchange their ids`() throws {
        let tampering = try #require(AnswerTampering(.exchangeAnswers, seed: 1))
        let together = try frame(check(1, revision: 1)) + frame(check(2, revision: 9))
        let exchanged = try frame(check(2, revision: 1)) + frame(check(1, revision: 9))
        let results = (0..<50).map { _ in tampering.change(together) }
        #expect(results.allSatisfy { $0 == together || $0 == exchanged })
        #expect(results.contains(exchanged))
    }
}
