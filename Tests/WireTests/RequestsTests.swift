import Testing
import Wire

@Suite struct RequestsTests {
    private let arena = MessageArena()

    @Test func `a new message is the proto's empty message`() throws {
        let calls: [Request.Call] = [
            .checkAccess(.init()), .checkAccessBatch([]), .ingestNotification(.init()),
            .ingestTransactions(.init()), .rebuildCustomer(.init()), .linkCustomer(.init()),
            .getCustomer(.init()), .getServerInfo, .backfillNotifications(.init()),
            .listCustomers(.init()), .getFamily(.init()), .listRefunds(.init()),
            .auditAccess(.init()), .getReconciliation(.init()), .testNotification(.init()),
        ]
        let numbers = (10..<25).map { UInt64($0) } + [30, 31, 35]
        let later: [Request.Call] = [
            .createBackup(.init()), .importTransactions(.init()), .forgetCustomer(.init()),
        ]
        for (number, call) in zip(numbers, calls + later) {
            let body = try Oracle.body(Request(id: 0, call: call), arena)
            // The call's tag and a length of 0, and nothing else.
            #expect(RawMessage(body)?.fields == [number: [.bytes([])]])
        }
        #expect(try Oracle.body(Request(id: 0, call: nil), arena).isEmpty)
    }

    @Test func `the envelope's fields have their numbers`() throws {
        var request = Request(id: 5, call: nil)
        request.timeoutMilliseconds = 6
        request.traceparent = "t"
        request.apiKey = "k"
        #expect(
            RawMessage(try Oracle.body(request, arena))?.texts == [1: "5", 2: "6", 3: "t", 4: "k"])
    }

    @Test func `the fields of calls have their numbers`() throws {
        func texts(_ index: Int, _ number: UInt64) throws -> [UInt64: String]? {
            RawMessage(try Oracle.body(Samples.requests[index], arena))?.message(number)?.texts
        }
        let upload = try texts(4, 13)
        #expect(upload == [1: "a\0b", 2: "a.b.c", 3: "g.h.i", 4: "j.k.l", 5: "1"])
        let rebuild = try texts(5, 14)
        #expect(rebuild?[2] == "77" && rebuild?[3] == "1" && rebuild?[4] != nil)
        let link = try texts(6, 15)
        #expect(link?[1] == "c-ana" && link?[4] == "1" && link?[5] == "h" && link?[6] == "1")
        #expect(try texts(7, 16)?[3] == "tx:200")
    }
}
