import Testing
import Wire

@Suite struct ListMessagesTests {
    private let arena = MessageArena()

    @Test func `a family is asked for in these bytes`() throws {
        var family = Message.GetFamilyRequest()
        family.customer = .originalTransactionID("7")
        let byCustomer = try Oracle.body(Request(id: 1, call: .getFamily(family)), arena)
        #expect(byCustomer == hex("0801 A20105 0A03 220137"))
        family.customer = nil
        family.householdID = "h"
        let byHousehold = try Oracle.body(Request(id: 1, call: .getFamily(family)), arena)
        #expect(byHousehold == hex("0801 A20103 120168"))
    }

    @Test func `a customer of a list whose kind of name is not known names nobody`() throws {
        // customers { customer { 15: "a" } transactions: 2 }, next_page_token "t"
        let body = hex("0801 9A010C 0A07 0A03 7A0161 1002 120174")
        let response = try Response(decoding: body.span, in: arena)
        guard case .listCustomers(let page) = response.result else {
            Issue.record("\(response)")
            return
        }
        #expect(page.customers.count == 1)
        #expect(page.customers.first?.customer == nil && page.customers.first?.transactions == 2)
        #expect(page.nextPageToken == "t")
    }

    @Test(arguments: [0, 5, 99, -1, Int32.min, Int32.max])
    func `a confidence that this release does not know keeps its number`(number: Int32) throws {
        var page = Message.AuditAccessResponse()
        var finding = Message.AccessFinding()
        finding.confidence = .init(rawValue: number)
        page.findings = [finding]
        var output = OutputBuffer()
        try Response(id: 1, result: .auditAccess(page)).encodeFrame(
            into: &output, in: arena, frameByteCountMax: 1 << 20)
        let body = Array(output.copy.dropFirst(4))
        #expect(try Response(decoding: body.span, in: arena).result == .auditAccess(page))
    }

    @Test func `the greatest numbers of a person's use come back`() throws {
        var person = Message.PersonUse()
        person.units = .max
        person.checks = .max
        person.costMicros = .min
        person.leakedPeriods = .max
        var refund = Message.RefundRecord()
        refund.percentageMilliunits = .min
        refund.refundedMilliunits = .max
        refund.people = .init(repeating: person, count: 300)
        var page = Message.ListRefundsResponse()
        page.refunds = [refund]
        var output = OutputBuffer()
        try Response(id: 1, result: .listRefunds(page)).encodeFrame(
            into: &output, in: arena, frameByteCountMax: 1 << 20)
        let body = Array(output.copy.dropFirst(4))
        #expect(try Response(decoding: body.span, in: arena).result == .listRefunds(page))
    }
}
