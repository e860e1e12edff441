import Service
import Session
import Testing
import Wire

@Suite struct CallDispatchTests {
    private func granted(_ response: Response?) -> Bool? {
        guard case .checkAccess(let answer) = response?.result else { return nil }
        return answer.granted
    }

    private func get(_ customer: String, id: UInt64) -> Request {
        var get = Message.GetCustomerRequest()
        get.customer = .customerID(Text(customer))
        return Request(id: id, call: .getCustomer(get))
    }

    private func link(_ customer: String, id: UInt64) -> Request {
        var link = Message.LinkCustomerRequest()
        link.customerID = Text(customer)
        link.householdID = "h-1"
        return Request(id: id, call: .linkCustomer(link))
    }

    @Test func `writes leave at once and heavy reads one after the other`() throws {
        let bench = try SessionBench()
        try bench.send(get("a", id: 1))
        try bench.send(get("a", id: 2))
        try bench.send(link("a", id: 3))
        try bench.send(get("a", id: 4))
        #expect(bench.taken.map(\.tag.requestID) == [1, 3])
        #expect(bench.connection.inFlightCount == 4)
        bench.finish(bench.taken.removeFirst())
        #expect(bench.taken.map(\.tag.requestID) == [3, 2])
        bench.work()
        #expect(try bench.answers().map(\.id).sorted() == [1, 2, 3, 4])
        #expect(bench.connection.inFlightCount == 0)
        #expect(bench.isIdle)
    }

    @Test func `a dry run is a heavy read and a rebuild is not`() throws {
        let bench = try SessionBench()
        for (id, isDryRun) in [(1, true), (2, true), (3, false), (4, false)] as [(UInt64, Bool)] {
            var rebuild = Message.RebuildCustomerRequest()
            rebuild.customer = .customerID("a")
            rebuild.dryRun = isDryRun
            try bench.send(Request(id: id, call: .rebuildCustomer(rebuild)))
        }
        #expect(bench.taken.map(\.tag.requestID) == [1, 3, 4])
    }

    @Test func `no heavy read starts while its answer would wait`() throws {
        let bench = try SessionBench { $0.heavyReadOutputByteCountMax = 100 }
        try bench.send(Request(id: 1, call: .getServerInfo))
        try bench.send(Request(id: 2, call: .getServerInfo))
        #expect(bench.output.count >= 100)
        try bench.send(get("a", id: 3))
        #expect(bench.taken.isEmpty)
        _ = try bench.answers()
        #expect(bench.taken.map(\.tag.requestID) == [3])
    }

    @Test func `a call that nobody knows is answered with its id`() throws {
        let bench = try SessionBench()
        for digits in ["00000005 0805 A20600", "00000002 0805", "00000005 0805 CA0100"] {
            bench.send(hex(digits))
            let answer = try #require(try bench.answers().first)
            #expect(answer.id == 5)
            #expect(answer.status == .unimplemented)
            #expect(answer.reason == "UNKNOWN_CALL")
        }
        #expect(bench.connection.step == .proceed(reads: true))
    }

    @Test func `the server tells of itself`() throws {
        let bench = try SessionBench()
        let answer = try bench.ask(Request(id: 4, call: .getServerInfo))
        guard case .getServerInfo(let info) = answer.result else {
            Issue.record("\(answer)")
            return
        }
        #expect(info.version == "1.2.3")
        #expect(info.commit == "abc")
        #expect(info.protocolVersion == 1)
        #expect(info.scopes.map(\.environment) == [.production, .sandbox])
    }

    @Test func `a message that unpacks to too much is refused and the connection goes on`() throws {
        let bench = try SessionBench()
        // Half a million empty transactions, two bytes each.
        let body =
            hex("0807 6AC0843D") + Array(repeating: [0x12, 0] as [UInt8], count: 500_000).joined()
        bench.send(framed(body))
        let answer = try #require(try bench.answers().first)
        #expect(answer.id == 7)
        #expect(answer.reason == "INVALID_FIELD")
        #expect(granted(try bench.ask(bench.check(.customerID("a"), .product("p")))) == false)
    }
}
