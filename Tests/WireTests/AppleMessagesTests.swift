import Testing
import Wire

@Suite struct AppleMessagesTests {
    private let arena = MessageArena()

    @Test func `a page of notification history is asked for in these bytes`() throws {
        var backfill = Message.BackfillNotificationsRequest()
        backfill.scope = .init(bundleID: "b", environment: .sandbox)
        backfill.fromMilliseconds = 1
        backfill.toMilliseconds = 300
        backfill.pageToken = "t"
        backfill.dryRun = true
        let body = try Oracle.body(Request(id: 1, call: .backfillNotifications(backfill)), arena)
        // Field 18 has a tag of two bytes.
        #expect(body == hex("0801 920111 0A05 0A0162 1002 1001 18AC02 220174 3001"))
    }

    @Test func `what a newer release adds is ignored and the rest is read`() throws {
        // A test notification's answer with a token, an unknown field 15, and an attempt of an
        // unknown word.
        let body = hex("0801 C20113 0A0174 7A0161 1208 0805 120458595A57 18FF01")
        let response = try Response(decoding: body.span, in: arena)
        guard case .testNotification(let answer) = response.result else {
            Issue.record("\(response)")
            return
        }
        #expect(answer.token == "t" && answer.received == true)
        #expect(answer.attempts.map(\.result) == ["XYZW"])
        #expect(answer.attempts.map(\.atMilliseconds) == [5])
    }

    @Test func `a queue that is absent is not an empty entry of it`() throws {
        var customer = Message.GetCustomerResponse()
        for queued in [nil, Message.QueuedRefresh()] {
            customer.queuedRefresh = queued
            var output = OutputBuffer()
            try Response(id: 1, result: .getCustomer(customer)).encodeFrame(
                into: &output, in: arena, frameByteCountMax: 1 << 20)
            let body = Array(output.copy.dropFirst(4))
            let result = try Response(decoding: body.span, in: arena).result
            #expect(result == .getCustomer(customer))
        }
    }

    @Test func `what does not fit a frame is not written at all`() {
        var answer = Message.BackfillNotificationsResponse()
        answer.problems = .init(repeating: ContractSamples.itemProblem, count: 100)
        var output = OutputBuffer()
        #expect(throws: WireError.self) {
            try Response(id: 1, result: .backfillNotifications(answer)).encodeFrame(
                into: &output, in: arena, frameByteCountMax: 500)
        }
        #expect(output.copy.isEmpty && arena.isEmpty)
    }
}
