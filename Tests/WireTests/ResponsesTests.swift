import Testing
import Wire

@Suite struct ResponsesTests {
    private let arena = MessageArena()

    private func raw(_ response: Response) throws -> RawMessage {
        var output = OutputBuffer()
        try response.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
        return try #require(RawMessage(Array(output.copy.dropFirst(4))))
    }

    @Test func `a new message is the proto's empty message`() throws {
        let results: [Response.Result] = [
            .checkAccess(.init()), .checkAccessBatch(.init()), .ingestNotification(.init()),
            .ingestTransactions(.init()), .rebuildCustomer(.init()), .linkCustomer(.init()),
            .getCustomer(.init()), .getServerInfo(.init()), .backfillNotifications(.init()),
            .listCustomers(.init()), .getFamily(.init()), .listRefunds(.init()),
            .auditAccess(.init()), .getReconciliation(.init()), .testNotification(.init()),
        ]
        let numbers = (10..<25).map { UInt64($0) } + [30, 31, 35]
        let later: [Response.Result] = [
            .createBackup(.init()), .importTransactions(.init()), .forgetCustomer(.init()),
        ]
        for (number, result) in zip(numbers, results + later) {
            #expect(
                try raw(Response(id: 0, result: result)).fields == [number: [.bytes([])]])
        }
    }

    @Test func `a refusal's fields have their numbers and it has no result`() throws {
        let refusal = Response(
            id: 5, status: .unavailable, reason: "DRAINING", message: "m",
            retryAfterMilliseconds: 6)
        #expect(refusal.result == nil)
        #expect(
            try raw(refusal).texts == [1: "5", 2: "14", 3: "DRAINING", 4: "m", 5: "6"])
    }

    @Test func `the fields of results have their numbers`() throws {
        func texts(_ index: Int, _ number: UInt64) throws -> [UInt64: String] {
            try raw(Samples.responses[index]).message(number)?.texts ?? [:]
        }
        #expect(try texts(1, 11)[2] == "9")
        let ingest = try texts(2, 12)
        #expect(ingest[1] == "u" && ingest[2] == "REFUND" && ingest[3] == "s")
        #expect(ingest[4] == "1" && ingest[5] != nil && ingest[6] == "10")
        let rebuild = try texts(4, 14)
        #expect(rebuild[1] == "1" && rebuild[2] == "3" && rebuild[5] == "12")
        #expect(rebuild[3]?.contains("c-ana") == true && rebuild[4]?.contains("plus") == true)
        let customer = try texts(6, 16)
        #expect(customer[1] == "c-ana" && customer[5] == "a" && customer[6] == "13")
        #expect(customer[7] == "t" && customer[8] == "2" && customer[9] == "h-1")
        let server = try texts(7, 17)
        #expect(server[1] == "1" && server[2] == "2" && server[3] == "3" && server[4] == "4")
        #expect(server[6] == "5" && server[7] == "6" && server[8] == "1" && server[9] == "1")
    }
}
