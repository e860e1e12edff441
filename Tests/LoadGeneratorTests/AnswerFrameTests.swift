import Testing
import Wire

@testable import LoadGenerator

@Suite struct AnswerFrameTests {
    /// A ledger with request 1 in flight.
    private func withLedger(_ body: (inout AnswerLedger) throws -> Void) rethrows {
        let box = TallyBox()
        var ledger = box.ledger(depth: 4)
        ledger.send(1, intended: 0, subject: 0)
        try body(&ledger)
    }

    @Test func `a frame gives its number, its message and where the next one begins`() throws {
        var answer = Message.CheckAccessResponse()
        answer.revision = 5
        let bytes = try Frames.encode(
            Response(id: 1 << 28 | 1, result: .checkAccess(answer)))
        try withLedger { ledger in
            let twice = bytes + bytes
            let input = twice.span
            let found = AnswerFrame.next(in: input, from: 0, &ledger)
            let first = try #require(found)
            #expect(first.number == 1)
            #expect(first.end == bytes.count)
            let (check, batch) = (
                first.message(tag: 0x52, in: input), first.message(tag: 0x5A, in: input)
            )
            #expect(check == bytes.count - 2..<bytes.count)
            #expect(batch == nil)
            let next = AnswerFrame.next(in: input, from: first.end, &ledger)
            let second = try #require(next)
            #expect(second.end == twice.count)
            let third = AnswerFrame.next(in: input, from: second.end, &ledger)
            #expect(third?.end == nil)
            let failure = ledger.failure
            #expect(failure == nil)
        }
    }

    @Test func `a message of any length is found, one that is cut is not`() throws {
        for count in [0, 1, 127, 128, 16_383, 16_384] {
            var body = MessageWriter()
            body.fixedVarint(1, 1 << 28 | 1)
            body.bytes(10, [UInt8](repeating: 0, count: count))
            let frame = MessageWriter.frame(body.bytes)
            try withLedger { ledger in
                let next = AnswerFrame.next(in: frame.span, from: 0, &ledger)
                let found = try #require(next)
                let message = found.message(tag: 0x52, in: frame.span)
                #expect(message == frame.count - count..<frame.count)
            }
            let longer = MessageWriter.frame(body.bytes + [0])
            try withLedger { ledger in
                let next = AnswerFrame.next(in: longer.span, from: 0, &ledger)
                let found = try #require(next)
                let message = found.message(tag: 0x52, in: longer.span)
                #expect(message == nil)
            }
        }
    }

    @Test(
        arguments: [
            ([0xFF, 0xFF, 0xFF, 0xFF], "a frame of"), ([0, 0, 0, 0], "without an id"),
            ([0, 0, 0, 2, 8, 1], "without an id"),
            ([0, 0, 0, 6, 9, 1, 1, 1, 1, 1], "without an id"),
        ] as [([UInt8], String)])
    func `what is no answer ends the conversation`(bytes: [UInt8], words: String) {
        withLedger { ledger in
            let frame = AnswerFrame.next(in: bytes.span, from: 0, &ledger)
            let failure = ledger.failure
            #expect(frame?.end == nil)
            #expect(failure?.contains(words) == true)
        }
    }

    @Test func `an id of another length was never ours`() {
        withLedger { ledger in
            let bytes = MessageWriter.frame([8, 1, 0x12, 2, 0, 0, 0])
            let frame = AnswerFrame.next(in: bytes.span, from: 0, &ledger)
            #expect(frame?.number == 0)
        }
    }

    @Test func `an answer is told in words`() throws {
        var answer = Message.CheckAccessResponse()
        answer.reason = .expired
        answer.transactionID = "2000"
        let frame = try Frames.encode(Response(id: 1, result: .checkAccess(answer)))
        let body = Array(frame.dropFirst(4))
        let words = AnswerFrame.words(of: body.span)
        #expect(words.contains("EXPIRED") && words.contains("2000"))
        let nonsense: [UInt8] = [0xFF]
        let helpless = AnswerFrame.words(of: nonsense.span)
        #expect(helpless.contains("no response"))
    }
}
