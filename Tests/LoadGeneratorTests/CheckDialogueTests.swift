import Testing
import Wire

@testable import LoadGenerator

@Suite struct CheckDialogueTests {
    private func conversation() -> Conversation<CheckDialogue> {
        Conversation(
            CheckDialogue(
                CheckScript(population: SmallWorld.population, selection: .uniform),
                ConnectionPlace(index: 0, count: 1, seed: 5)))
    }

    @Test func `right answers are right however they are cut`() throws {
        var first = conversation()
        let answers = try SmallWorld.answers(first.send(3)).flatMap { $0 }
        for pieces in Frames.ways(answers) {
            var conversation = conversation()
            _ = conversation.send(3)
            conversation.take(pieces)
            let result = conversation.result
            #expect(result.answerCount == 3)
            #expect(result.wrongCount == 0)
            #expect(result.inFlightCount == 0)
            #expect(result.failure == nil)
        }
    }

    @Test func `answers in another order are right`() throws {
        var conversation = conversation()
        let answers = try SmallWorld.answers(conversation.send(40))
        conversation.take([answers.reversed().flatMap { $0 }])
        let result = conversation.result
        #expect(result.answerCount == 40)
        #expect(result.wrongCount == 0)
    }

    @Test func `a byte that differs makes an answer wrong, and it is shown`() throws {
        var probe = conversation()
        let sent = probe.send(1)
        let answer = try SmallWorld.answers(sent)[0]
        // Behind prefix and id; the revision is at the end: tag and two bytes.
        for place in 10..<answer.count - 3 {
            var wrong = answer
            wrong[place] ^= 1
            var conversation = conversation()
            _ = conversation.send(1)
            conversation.take([wrong])
            let result = conversation.result
            #expect(result.wrongCount == 1)
            #expect(result.wrongAnswers.first?.found == Array(wrong.dropFirst(4)))
            #expect(result.wrongAnswers.first?.expected.isEmpty == false)
        }
    }

    @Test func `the answer about another customer is wrong`() throws {
        var conversation = conversation()
        let requests = try Frames.requests(conversation.send(2))
        var swapped = requests
        (swapped[0].id, swapped[1].id) = (requests[1].id, requests[0].id)
        #expect(requests[0].call != requests[1].call)
        let answers = try swapped.map { try Frames.encode(SmallWorld.response(to: $0)) }
        conversation.take([answers.flatMap { $0 }])
        #expect(conversation.result.wrongCount == 2)
    }

    @Test func `an answer that comes twice is wrong`() throws {
        var conversation = conversation()
        let answer = try SmallWorld.answers(conversation.send(1))[0]
        conversation.take([answer + answer])
        let result = conversation.result
        #expect(result.answerCount == 1)
        #expect(result.wrongCount == 1)
    }

    @Test(arguments: [1, 1 << 28, 1 << 28 + 99, .max] as [UInt64])
    func `an answer with the id of nothing is wrong`(id: UInt64) throws {
        var conversation = conversation()
        var request = try Frames.requests(conversation.send(1))[0]
        request.id = id
        conversation.take([try Frames.encode(SmallWorld.response(to: request))])
        let result = conversation.result
        #expect(result.answerCount == 0)
        #expect(result.wrongCount == 1 || result.failure != nil)
        #expect(result.inFlightCount == 1)
    }

    @Test func `a refusal is wrong, and its words are told`() throws {
        var conversation = conversation()
        let request = try Frames.requests(conversation.send(1))[0]
        let refusal = Response(
            id: request.id, status: .resourceExhausted, reason: "OVERLOADED", message: "too much")
        conversation.take([try Frames.encode(refusal)])
        let result = conversation.result
        #expect(result.wrongCount == 1)
        #expect(result.wrongAnswers.first?.what.contains("OVERLOADED: too much") == true)
    }

    @Test func `the same place and seed ask the same, another one something else`() {
        var first = conversation()
        var second = conversation()
        var other = Conversation(
            CheckDialogue(
                CheckScript(population: SmallWorld.population, selection: .uniform),
                ConnectionPlace(index: 1, count: 2, seed: 5)))
        let bytes = first.send(20)
        let (same, different) = (second.send(20), other.send(20))
        #expect(bytes == same)
        #expect(bytes != different)
    }
}
