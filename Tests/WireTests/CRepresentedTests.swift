import Testing
import Wire

@Suite struct CRepresentedTests {
    private let arena = MessageArena()

    @Test func `lists of nothing, of one and of many come back`() throws {
        for count in [0, 1, 2, 500] {
            var upload = Message.IngestTransactionsRequest()
            upload.signedTransactions = (0..<count).map { Text(String($0)) }
            var rebuild = Message.RebuildCustomerResponse()
            rebuild.changes = .init(repeating: .init(), count: count)
            let body = try Oracle.body(Request(id: 1, call: .ingestTransactions(upload)), arena)
            #expect(try Request(decoding: body.span, in: arena).call == .ingestTransactions(upload))
            var output = OutputBuffer()
            try Response(id: 1, result: .rebuildCustomer(rebuild)).encodeFrame(
                into: &output, in: arena, frameByteCountMax: 1 << 20)
            let answer = Array(output.copy.dropFirst(4))
            #expect(
                try Response(decoding: answer.span, in: arena).result == .rebuildCustomer(rebuild))
        }
    }

    @Test func `an absent message is not an empty one`() throws {
        var get = Message.GetCustomerRequest()
        for scope in [nil, Message.Scope()] {
            get.scope = scope
            let body = try Oracle.body(Request(id: 1, call: .getCustomer(get)), arena)
            #expect(try Request(decoding: body.span, in: arena).call == .getCustomer(get))
        }
    }

    @Test(arguments: [0, 1, 99, -1, Int32.min, Int32.max])
    func `every number of an enum comes back`(number: Int32) throws {
        var answer = Message.CheckAccessResponse()
        answer.reason = .init(rawValue: number)
        answer.ownership = .init(rawValue: number)
        var response = Response(id: 1, result: .checkAccess(answer))
        response.status = .init(rawValue: number)
        var output = OutputBuffer()
        try response.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
        let body = Array(output.copy.dropFirst(4))
        #expect(try Response(decoding: body.span, in: arena) == response)
    }
}
