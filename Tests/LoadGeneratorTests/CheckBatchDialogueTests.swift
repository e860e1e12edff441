import Testing
import Wire

@testable import LoadGenerator

@Suite struct CheckBatchDialogueTests {
    private func conversation(_ batchCount: Int = 7) -> Conversation<CheckBatchDialogue> {
        Conversation(
            CheckBatchDialogue(
                CheckScript(
                    population: SmallWorld.population, selection: .uniform,
                    batchCount: batchCount),
                ConnectionPlace(index: 0, count: 1, seed: 5)))
    }

    @Test(arguments: [2, 7, 100, 1_000])
    func `a batch asks about so many, and its answers count so many`(batchCount: Int) throws {
        var conversation = conversation(batchCount)
        let bytes = conversation.send(2)
        for request in try Frames.requests(bytes) {
            guard case .checkAccessBatch(let checks)? = request.call else {
                Issue.record("no batch: \(request)")
                return
            }
            #expect(checks.count == batchCount)
        }
        // The bytes are those of the contract's own encoder.
        #expect(bytes == (try Frames.requests(bytes).flatMap { try Frames.encode($0) }))
        conversation.take([try SmallWorld.answers(bytes).flatMap { $0 }])
        let result = conversation.result
        #expect(result.answerCount == 2)
        #expect(result.checkCount == UInt64(2 * batchCount))
        #expect(result.wrongCount == 0)
    }

    @Test func `batches are right however they are cut`() throws {
        var first = conversation()
        let answers = try SmallWorld.answers(first.send(2)).flatMap { $0 }
        for pieces in Frames.ways(answers) {
            var conversation = conversation()
            _ = conversation.send(2)
            conversation.take(pieces)
            #expect(conversation.result.answerCount == 2)
            #expect(conversation.result.wrongCount == 0)
        }
    }

    @Test func `one result that differs, is missing or too much makes a batch wrong`() throws {
        func wrongCount(
            _ change: (inout Message.CheckAccessBatchResponse) -> Void
        ) throws -> UInt64 {
            var conversation = conversation()
            let request = try Frames.requests(conversation.send(1))[0]
            guard
                case .checkAccessBatch(var batch)? = try SmallWorld.response(to: request).result
            else { throw WireError.emptyFrame }
            change(&batch)
            let response = Response(id: request.id, result: .checkAccessBatch(batch))
            conversation.take([try Frames.encode(response)])
            return conversation.result.wrongCount
        }
        #expect(try wrongCount { $0.revision = 99 } == 0)
        #expect(try wrongCount { $0.results[3].granted.toggle() } == 1)
        #expect(try wrongCount { $0.results.removeLast() } == 1)
        #expect(try wrongCount { $0.results.append($0.results[0]) } == 1)
        let swapped = try wrongCount { batch in
            let first = batch.results[0]
            batch.results.swapAt(0, batch.results.firstIndex { $0 != first } ?? 0)
        }
        #expect(swapped == 1)
        #expect(try wrongCount { $0.results = [] } == 1)
    }

    @Test func `a refusal is wrong`() throws {
        var conversation = conversation()
        let request = try Frames.requests(conversation.send(1))[0]
        let refusal = Response(
            id: request.id, status: .unavailable, reason: "STARTING", message: "")
        conversation.take([try Frames.encode(refusal)])
        #expect(conversation.result.wrongCount == 1)
        #expect(conversation.result.wrongAnswers.first?.what.contains("STARTING") == true)
    }
}
