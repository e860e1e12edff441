import Testing
import Wire

/// Round trips cannot see two fields that are swapped both ways; these tests look at the numbers.
@Suite struct MessageMappingTests {
    private let arena = MessageArena()

    private func raw(_ result: Response.Result) throws -> RawMessage {
        var output = OutputBuffer()
        try Response(id: 1, result: result).encodeFrame(
            into: &output, in: arena, frameByteCountMax: 1 << 20)
        return try #require(RawMessage(Array(output.copy.dropFirst(4))))
    }

    private func raw(_ call: Request.Call) throws -> RawMessage {
        try #require(RawMessage(try Oracle.body(Request(id: 1, call: call), arena)))
    }

    @Test func `a transaction's fields have their numbers`() throws {
        let record = try #require(
            try raw(Samples.responses[6].result ?? .getCustomer(.init())).message(16)?.message(3))
        #expect(
            record.texts == [
                1: "1", 2: "2", 3: "3", 4: "Auto-Renewable Subscription", 5: "4", 6: "4", 7: "5",
                8: "6", 9: "-7", 10: "REFUND_PRORATED", 11: "50000", 12: "1", 13: "8", 14: "9",
                15: "10", 16: "11", 17: "-12", 18: "EUR", 19: "SOMETHING_NEW", 20: "1", 21: "1",
                22: "e.y.J",
            ])
    }

    @Test(arguments: 0..<2)
    func `each of a transaction's flags has its number`(flag: Int) throws {
        var record = Message.TransactionRecord()
        if flag == 0 { record.overridden = true } else { record.suspended = true }
        var customer = Message.GetCustomerResponse()
        customer.transactions = [record]
        let message = try #require(try raw(.getCustomer(customer)).message(16)?.message(3))
        #expect(message.texts == [flag == 0 ? 20 : 21: "1"])
    }

    @Test func `an entitlement's fields have their numbers`() throws {
        let message = try #require(
            try raw(Samples.responses[6].result ?? .getCustomer(.init())).message(16)?.message(2))
        #expect(
            message.texts == [
                1: "meadow.lifetime", 2: "plus", 3: "1", 4: "1", 5: "1", 6: "5", 7: "1", 8: "2",
                9: "3", 10: "1", 11: "1",
            ])
        #expect(message.fields[2]?.count == 2)
        var reversed = Message.Entitlement()
        reversed.paymentReversed = true
        var customer = Message.GetCustomerResponse()
        customer.entitlements = [reversed]
        #expect(try raw(.getCustomer(customer)).message(16)?.message(2)?.texts == [10: "1"])
    }

    @Test func `a notification's fields have their numbers`() throws {
        let message = try #require(
            try raw(Samples.responses[6].result ?? .getCustomer(.init())).message(16)?.message(4))
        #expect(
            message.texts == [
                1: "u", 2: "REVOKE", 3: "s", 4: "1", 5: "2", 6: "5", 7: "3", 8: "4",
            ])
    }

    @Test func `an audit entry's fields have their numbers`() throws {
        let message = try #require(
            try raw(Samples.responses[6].result ?? .getCustomer(.init())).message(16)?.message(10))
        #expect(message.texts == [1: "1", 2: "LINKED", 3: "c-ana", 4: "d"])
    }

    @Test func `a change's fields have their numbers`() throws {
        var change = Message.Change()
        change.customerID = "c"
        change.productID = "p"
        change.grantedAfter = true
        change.reason = .active
        var write = Message.WriteResponse()
        write.changes = [change]
        write.revision = 7
        for (result, number) in [(.ingestTransactions(write), 13), (.linkCustomer(write), 15)]
            as [(Response.Result, UInt64)]
        {
            let message = try #require(try raw(result).message(number))
            #expect(message.message(1)?.texts == [1: "c", 2: "p", 4: "1", 5: "1"])
            #expect(message.texts[2] == "7")
        }
    }

    @Test func `an answer's fields have their numbers`() throws {
        let message = try #require(try raw(.checkAccess(Samples.answer)).message(10))
        #expect(
            message.texts == [
                1: "1", 2: "2", 3: "2", 4: "1777629600000", 5: "meadow.plus.month",
                6: "2000000100000705", 7: "2000000100000700", 8: "1099511627776",
            ])
    }

    @Test func `a check's fields have their numbers`() throws {
        let message = try #require(try raw(.checkAccess(Samples.check)).message(10))
        #expect(message.message(1)?.texts == [1: "c-ana"])
        #expect(message.message(6)?.texts == [1: "com.example.meadow", 2: "2"])
        #expect(message.texts[2] == "meadow.lifetime")
        #expect(message.texts[4] == "-1")
        #expect(message.texts[5] == "-1")
        #expect(message.texts[7] == "300")
    }

    @Test(
        arguments: [
            (Message.CustomerRef.customerID("x"), 1), (.appAccountToken("x"), 2),
            (.appTransactionID("x"), 3), (.originalTransactionID("x"), 4),
        ] as [(Message.CustomerRef, UInt64)])
    func `each of a customer's names has its number`(name: Message.CustomerRef, number: UInt64)
        throws
    {
        let check = Message.CheckAccessRequest(customer: name, subject: .entitlement("e"))
        let message = try #require(try raw(.checkAccess(check)).message(10))
        #expect(message.message(1)?.texts == [number: "x"])
        #expect(message.texts[3] == "e")
    }
}
