import Testing

@testable import LoadGenerator

@Suite struct PeerRedisTests {
    private let conversation = PeerConversation(PeerRedis(testCustomers()), requestCount: 3)

    private func reply(_ value: String) -> [UInt8] {
        Array("$\(value.utf8.count)\r\n\(value)\r\n".utf8)
    }

    @Test func `a request is GET of a customer's name`() {
        let expected = conversation.customers.map {
            "*2\r\n$3\r\nGET\r\n$40\r\n\(testName($0))\r\n"
        }
        #expect(conversation.requests == Array(expected.joined().utf8))
    }

    @Test func `right values are taken wherever they are split`() {
        let answers = conversation.customers.flatMap { reply(testValue($0)) }
        let isSame = conversation.isSame(.init(answerCount: 3), on: answers)
        #expect(isSame)
    }

    @Test(arguments: [
        "$-1\r\n", "-ERR unknown command\r\n", "+OK\r\n", ":1\r\n", "$5\r\nhello\r\n",
        "$28\r\nverdict-00000000000099999999\r\n",
    ])
    func `anything else is a wrong answer, and the next one is understood`(wrong: String) {
        let values = conversation.customers.map { reply(testValue($0)) }
        let answers = values[0] + Array(wrong.utf8) + values[2]
        let expected = PeerConversation<PeerRedis>.Verdict(
            answerCount: 3, wrong: ["Redis did not answer with the value"])
        let isSame = conversation.isSame(expected, on: answers)
        #expect(isSame)
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n", "$x\r\n", "$\r\n"])
    func `what is no reply ends the run`(text: String) {
        let verdict = conversation.verdict(on: Array(text.utf8))
        #expect(verdict.failure == "this is no reply of Redis")
        #expect(verdict.answerCount == 0)
    }

    @Test func `a line without an end ends the run`() {
        let text = [UInt8](repeating: UInt8(ascii: "+"), count: PeerText.lineByteCountMax + 1)
        #expect(conversation.verdict(on: text).failure != nil)
        #expect(conversation.verdict(on: Array(text.dropLast())).failure == nil)
    }

    @Test func `an answer to nothing ends the run`() {
        let answers = (conversation.customers + [0]).flatMap { reply(testValue($0)) }
        let verdict = conversation.verdict(on: answers)
        #expect(verdict.answerCount == 3)
        #expect(verdict.failure != nil)
    }
}
