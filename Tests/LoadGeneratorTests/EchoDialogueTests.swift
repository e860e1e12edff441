import Testing

@testable import LoadGenerator

@Suite struct EchoDialogueTests {
    private let script = EchoScript(
        request: [0, 0, 0, 2, 1, 2], answer: [0, 0, 0, 3, 7, 8, 9])

    @Test func `the same answer every time is right however it is cut`() {
        for pieces in Frames.ways(script.answer + script.answer + script.answer) {
            var conversation = Conversation(EchoDialogue(script))
            let sent = conversation.send(3)
            #expect(sent == script.request + script.request + script.request)
            conversation.take(pieces)
            let result = conversation.result
            #expect(result.answerCount == 3)
            #expect(result.wrongCount == 0)
        }
    }

    @Test func `other bytes are wrong`() {
        var conversation = Conversation(EchoDialogue(script))
        _ = conversation.send(1)
        conversation.take([[0, 0, 0, 3, 7, 8, 8]])
        #expect(conversation.result.wrongCount == 1)
        #expect(conversation.result.wrongAnswers.first?.expected == script.answer)
    }

    @Test func `an answer to nothing ends it`() {
        var conversation = Conversation(EchoDialogue(script))
        conversation.take([script.answer])
        #expect(conversation.result.failure != nil)
    }
}
