import Session
import Testing
import Wire

@Suite struct ReplyEncoderTests {
    private func page(_ bench: SessionBench, _ token: Text) throws -> Response {
        var get = Message.GetCustomerRequest()
        get.customer = .customerID("c-ana")
        get.pageToken = token
        return try bench.ask(Request(id: 3, call: .getCustomer(get)))
    }

    /// All pages of c-ana.
    private func pages(_ bench: SessionBench) throws -> [Message.GetCustomerResponse] {
        var pages: [Message.GetCustomerResponse] = []
        repeat {
            let response = try page(bench, pages.last?.nextPageToken ?? "")
            guard case .getCustomer(let page) = response.result else {
                Issue.record("\(response)")
                break
            }
            pages.append(page)
        } while pages.last?.nextPageToken.isEmpty == false && pages.count < 100
        return pages
    }

    @Test(arguments: [1 << 20, 64 << 10, 16 << 10])
    func `a customer comes whole, in pages that fit the frame`(frameByteCountMax: Int) throws {
        let bench = try SessionBench { $0.frameByteCountMax = frameByteCountMax }
        let ids = (100..<140).map { "2000000100000\($0)" }
        for id in ids { #expect(try bench.buy("c-ana", [id]).status == .ok) }
        let pages = try pages(bench)
        let shown = pages.flatMap(\.transactions).map(\.transactionID)
        #expect(shown == ids.reversed().map { Text($0) }, "newest first")
        #expect(pages.allSatisfy { $0.transactionsTotal == 40 })
        #expect(pages.allSatisfy { $0.customerID == "c-ana" })
        #expect(pages.first?.entitlements.map(\.productID) == ["meadow.lifetime"])
        #expect(pages.first?.entitlements.first?.names == ["plus"])
        #expect(pages.first?.identities.isEmpty == false)
        // Forty records take some 14 KB, each payload 4 KB more.
        let isRoomy = frameByteCountMax > 16 << 10
        #expect((pages.count == 1) == isRoomy)
        let record = try #require(pages.first?.transactions.first)
        let dots = record.signedPayload.bytes.count(where: { $0 == 0x2E })
        #expect(dots == (isRoomy ? 2 : 0), "records come before payloads")
        #expect(record.rawOwnership == "PURCHASED")
        #expect(record.ownership == .purchased)
        #expect(record.type == "Non-Consumable")
    }

    @Test func `nobody is not found`() throws {
        let bench = try SessionBench()
        let answer = try page(bench, "")
        #expect(answer.status == .notFound)
        #expect(answer.reason == "UNKNOWN_CUSTOMER")
    }

    @Test func `a page token that is no text is refused`() throws {
        let bench = try SessionBench()
        let answer = try page(bench, Text([0xFF]))
        #expect(answer.status == .invalidArgument)
        #expect(answer.reason == "INVALID_FIELD")
    }

    @Test func `of what was said of a customer the newest fits the frame`() throws {
        let bench = try SessionBench { $0.frameByteCountMax = 2048 }
        for index in 0..<60 {
            var link = Message.LinkCustomerRequest()
            link.customerID = "c-ana"
            link.householdID = Text("household-\(index)")
            #expect(try bench.ask(Request(id: 1, call: .linkCustomer(link))).status == .ok)
        }
        let answer = try page(bench, "")
        guard case .getCustomer(let customer) = answer.result else {
            Issue.record("\(answer)")
            return
        }
        #expect(customer.householdID == "household-59")
        #expect(customer.audit.count > 5 && customer.audit.count < 60)
        #expect(customer.audit.last?.detail.description.contains("household-59") == true)
    }
}
