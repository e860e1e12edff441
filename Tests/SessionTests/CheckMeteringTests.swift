import Service
import Session
import Storage
import Testing
import Wire

@Suite struct CheckMeteringTests {
    /// What is metered, as `transaction checks units`, after a flush.
    private func metered(_ bench: SessionBench) throws -> [String] {
        let use = MeteredUse(slotCount: 64)
        bench.meter.flush(into: use)
        let service = bench.service
        #expect(service.write(use, through: CommitDoor { service.commit([$0])[0] }) == 0)
        var found: [String] = []
        try bench.store.scan(.usage, prefix: [], from: nil, reversed: false) { key, value in
            let id = String(decoding: key[4..<key.count - 4], as: UTF8.self)
            let record = try? RecordCodec.decodeUsage(value)
            found.append("\(id) \(record?.checks ?? 0) \(record?.units ?? 0)")
            return true
        }
        return found
    }

    private func check(
        _ bench: SessionBench, _ subject: Message.Subject, at instant: Int64 = 0,
        units: UInt64 = 0
    ) -> Request {
        bench.check(.customerID(Text("ann")), subject) {
            $0.atMilliseconds = instant
            $0.units = units
        }
    }

    @Test func `a granted check of the present counts, with its units`() throws {
        let bench = try SessionBench()
        _ = try bench.buy("ann", ["1"])
        for units: UInt64 in [5, 0, 7] {
            _ = try bench.ask(check(bench, .product(Text("meadow.lifetime")), units: units))
        }
        _ = try bench.ask(check(bench, .entitlement(Text("plus")), units: 1))
        #expect(try metered(bench) == ["1 4 13"])
    }

    @Test func `a denied check counts nothing, nor one of another instant`() throws {
        let bench = try SessionBench()
        _ = try bench.buy("ann", ["1"])
        _ = try bench.ask(check(bench, .product(Text("other")), units: 5))
        _ = try bench.ask(
            check(bench, .product(Text("meadow.lifetime")), at: SessionBench.now, units: 5))
        _ = try bench.ask(bench.check(.customerID(Text("bob")), .product(Text("meadow.lifetime"))))
        #expect(try metered(bench).isEmpty)
    }

    @Test func `each granted check of a batch counts, and none of a refused batch`() throws {
        let bench = try SessionBench()
        _ = try bench.buy("ann", ["1"])
        var checks: [Message.CheckAccessRequest] = []
        for (index, product) in ["meadow.lifetime", "other", "meadow.lifetime"].enumerated() {
            var check = Message.CheckAccessRequest(
                customer: .customerID(Text("ann")), subject: .product(Text(product)))
            check.units = UInt64(index + 1)
            checks.append(check)
        }
        _ = try bench.ask(Request(id: 1, call: .checkAccessBatch(checks)))
        checks[2].atMilliseconds = -1
        let answer = try bench.ask(Request(id: 2, call: .checkAccessBatch(checks)))
        #expect(answer.status == .invalidArgument)
        #expect(try metered(bench) == ["1 2 4"])
    }

    @Test func `a check that waits for its revision counts once, when it is answered`() throws {
        let bench = try SessionBench()
        _ = try bench.buy("ann", ["1"])
        try bench.send(
            bench.check(.customerID(Text("ann")), .product(Text("meadow.lifetime"))) {
                $0.atMilliseconds = 0
                $0.minRevision = 2
                $0.units = 3
            })
        #expect(bench.meter.isEmpty)
        var link = Message.LinkCustomerRequest()
        link.customerID = Text("bob")
        link.householdID = Text("h")
        _ = try bench.ask(Request(id: 2, call: .linkCustomer(link)))
        bench.revisionMoved()
        #expect(try bench.answers().count == 1)
        #expect(try metered(bench) == ["1 1 3"])
    }
}
