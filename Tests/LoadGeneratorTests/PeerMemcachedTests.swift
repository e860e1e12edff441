import Testing

@testable import LoadGenerator

@Suite struct PeerMemcachedTests {
    private let conversation = PeerConversation(PeerMemcached(testCustomers()), requestCount: 3)

    private func reply(_ customer: UInt64) -> [UInt8] {
        Array("VALUE \(testName(customer)) 0 28\r\n\(testValue(customer))\r\nEND\r\n".utf8)
    }

    @Test func `a request is get of a customer's name`() {
        let expected = conversation.customers.map { "get \(testName($0))\r\n" }
        #expect(conversation.requests == Array(expected.joined().utf8))
    }

    @Test func `right values are taken wherever they are split`() {
        let answers = conversation.customers.flatMap(reply)
        let isSame = conversation.isSame(.init(answerCount: 3), on: answers)
        #expect(isSame)
    }

    @Test(arguments: [
        "END\r\n", "ERROR\r\n", "SERVER_ERROR out of memory\r\n",
        "VALUE somebody-else 0 5\r\nhello\r\nEND\r\n",
    ])
    func `anything else is a wrong answer, and the next one is understood`(wrong: String) {
        let customers = conversation.customers
        let answers = reply(customers[0]) + Array(wrong.utf8) + reply(customers[2])
        let expected = PeerConversation<PeerMemcached>.Verdict(
            answerCount: 3, wrong: ["memcached did not answer with the value"])
        let isSame = conversation.isSame(expected, on: answers)
        #expect(isSame)
    }

    @Test(arguments: ["VALUE a 0 x\r\n", "VALUE a 0 1\r\nb\r\nENTER\r\n"])
    func `what is no answer ends the run`(text: String) {
        #expect(
            conversation.verdict(on: Array(text.utf8)).failure
                == "this is no answer of memcached")
    }
}
