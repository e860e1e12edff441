import Service
import Session
import Testing
import Wire

@Suite struct CheckAnsweringTests {
    private func granted(_ response: Response?) -> Bool? {
        guard case .checkAccess(let answer) = response?.result else { return nil }
        return answer.granted
    }

    @Test func `a purchase is granted as soon as its upload is answered`() throws {
        let bench = try SessionBench()
        let question = bench.check(.customerID("c-ana"), .product("meadow.lifetime"))
        let before = try bench.ask(question)
        #expect(granted(before) == false)
        guard case .checkAccess(let unknown) = before.result else { return }
        #expect(unknown.reason == .unknownCustomer)

        let upload = try bench.buy("c-ana", ["2000000100000001"])
        #expect(upload.status == .ok)
        guard case .ingestTransactions(let write) = upload.result else {
            Issue.record("\(upload)")
            return
        }
        #expect(write.changes.map(\.grantedAfter) == [true])

        let after = try bench.ask(question)
        guard case .checkAccess(let answer) = after.result else { return }
        #expect(answer.granted)
        #expect(answer.reason == .active)
        #expect(answer.ownership == .purchased)
        #expect(answer.transactionID == "2000000100000001")
        #expect(answer.revision == write.revision)
    }

    @Test(
        arguments: [
            Message.CustomerRef.customerID("c-ana"),
            .appAccountToken("6E7B5F4A-0000-4000-8000-00000000000A"),
            .appAccountToken("6e7b5f4a-0000-4000-8000-00000000000a"),
            .originalTransactionID("2000000100000001"),
        ])
    func `a customer is found by each of his names`(name: Message.CustomerRef) throws {
        let bench = try SessionBench()
        _ = try bench.buy("c-ana", ["2000000100000001"])
        #expect(granted(try bench.ask(bench.check(name, .product("meadow.lifetime")))) == true)
        #expect(granted(try bench.ask(bench.check(name, .entitlement("plus")))) == true)
        #expect(granted(try bench.ask(bench.check(name, .entitlement("pro")))) == false)
    }

    @Test func `Production and Sandbox are separate worlds`() throws {
        let bench = try SessionBench()
        _ = try bench.buy("c-ana", ["2000000100000001"])
        for (number, isGranted) in [(0, true), (1, true), (2, false)] as [(Int32, Bool)] {
            let request = bench.check(.customerID("c-ana"), .product("meadow.lifetime")) {
                $0.scope = .init(
                    bundleID: "com.example.meadow", environment: .init(rawValue: number))
            }
            #expect(granted(try bench.ask(request)) == isGranted, "environment \(number)")
        }
    }

    @Test(
        arguments: [
            ("no UTF-8", Message.CustomerRef.customerID(Text([0xC3, 0x28])), "INVALID_IDENTIFIER"),
            ("empty", .customerID(""), "INVALID_IDENTIFIER"),
            (
                "129 bytes", .appTransactionID(Text([UInt8](repeating: 0x61, count: 129))),
                "INVALID_IDENTIFIER"
            ),
        ])
    func `a name that is no identifier is refused and the connection goes on`(
        name: String, customer: Message.CustomerRef, reason: String
    ) throws {
        let bench = try SessionBench()
        let answer = try bench.ask(bench.check(customer, .product("p"), id: 3))
        #expect(answer.status == .invalidArgument)
        #expect(answer.reason == Text(reason))
        #expect(answer.result == nil)
        #expect(granted(try bench.ask(bench.check(.customerID("a"), .product("p")))) == false)
    }

    @Test func `what a check must have is asked for by reason`() throws {
        let bench = try SessionBench()
        func reason(_ change: (inout Message.CheckAccessRequest) -> Void) throws -> Text {
            try bench.ask(bench.check(.customerID("a"), .product("p"), change)).reason
        }
        #expect(try reason { $0.customer = nil } == "INVALID_IDENTIFIER")
        #expect(try reason { $0.subject = nil } == "INVALID_FIELD")
        #expect(try reason { $0.subject = .product("") } == "INVALID_IDENTIFIER")
        #expect(try reason { $0.subject = .entitlement(Text([0xFF])) } == "INVALID_IDENTIFIER")
        #expect(try reason { $0.atMilliseconds = -1 } == "INVALID_FIELD")
        #expect(try reason { $0.scope = .init(bundleID: "com.example.other") } == "UNKNOWN_SCOPE")
        for number in [99, -1, 3, Int32.max, Int32.min] {
            let scope = Message.Scope(environment: .init(rawValue: number))
            #expect(try reason { $0.scope = scope } == "UNKNOWN_SCOPE", "\(number)")
        }
        #expect(try reason { $0.customer = .customerID(Text([0])) } == "")
    }

    @Test func `strange encodings mean what protobuf says`() throws {
        let bench = try SessionBench()
        _ = try bench.buy("b", ["2000000100000001"])
        let product = "120F 6D6561646F772E6C69666574696D65"
        func answer(_ customers: String, tail: String = "") throws -> Bool? {
            let check = hex(customers) + hex(product)
            let body = hex("0801 52") + [UInt8(check.count)] + check + hex(tail)
            bench.send(framed(body))
            return granted(try bench.answers().first)
        }
        #expect(try answer("0A03 0A0162") == true)
        #expect(try answer("0A06 0A0161 0A0162") == true)
        #expect(try answer("0A06 0A0162 0A0161") == false)
        #expect(try answer("0A03 0A0162", tail: "A2060378797A") == true)
        #expect(try answer("0A03 0A0162", tail: "F8FFFFFF0F01") == true)
    }

    @Test func `a batch is answered in order, of one revision`() throws {
        let bench = try SessionBench()
        _ = try bench.buy("c-ana", ["2000000100000001"])
        let checks = ["c-ana", "c-bob", "c-ana"].map {
            Message.CheckAccessRequest(
                customer: .customerID(Text($0)), subject: .product("meadow.lifetime"))
        }
        let answer = try bench.ask(Request(id: 2, call: .checkAccessBatch(checks)))
        guard case .checkAccessBatch(let batch) = answer.result else {
            Issue.record("\(answer)")
            return
        }
        #expect(batch.results.map(\.granted) == [true, false, true])
        #expect(batch.results.allSatisfy { $0.revision == batch.revision })
        #expect(batch.revision == bench.service.revision)
    }

    @Test func `a batch holds a thousand checks and not one more`() throws {
        let bench = try SessionBench()
        let check = Message.CheckAccessRequest(customer: .customerID("a"), subject: .product("p"))
        for (count, reason) in [(0, ""), (1000, ""), (1001, "INVALID_FIELD")] {
            let answer = try bench.ask(
                Request(id: 2, call: .checkAccessBatch(.init(repeating: check, count: count))))
            #expect(answer.reason == Text(reason))
            if case .checkAccessBatch(let batch) = answer.result {
                #expect(batch.results.count == count)
            } else {
                #expect(count == 1001)
            }
        }
        var bad = check
        bad.subject = nil
        let answer = try bench.ask(Request(id: 2, call: .checkAccessBatch([check, bad])))
        #expect(answer.reason == "INVALID_FIELD")
        #expect(answer.result == nil)
    }
}
