import Entitlements
import Service
import Storage
import TestSupport
import Testing

@Suite struct RefundReadsTests {
    /// Refunds of two products: "p" on the odd days, "q" on the even ones.
    private func bench(refundCount: Int64) throws -> BillFixture {
        let bench = try BillFixture()
        for index in 1...refundCount {
            bench.setClock(index * day)
            let product = index.isMultiple(of: 2) ? "q" : "p"
            try bench.fixture.notify(
                "REFUND", signed: index * day,
                transaction: try bench.fixture.transaction(
                    "\(index)", product: product, from: 0, revoked: index * day))
        }
        return bench
    }

    private func ids(_ lines: [RefundView]) -> [String] { lines.map(\.transaction.transactionID) }

    @Test func `lines stand in the order of refunds, whatever came first`() throws {
        let bench = try BillFixture()
        for (id, revoked) in [("1", 5), ("2", 1), ("3", 9), ("4", 1)] as [(String, Int64)] {
            try bench.fixture.notify(
                "REFUND", transaction: try bench.fixture.transaction(id, revoked: revoked * day))
        }
        #expect(ids(try bench.bill()) == ["2", "4", "1", "3"])
    }

    @Test func `the first instant counts and the last one does not`() throws {
        let bench = try bench(refundCount: 5)
        #expect(ids(try bench.bill(from: 2 * day, to: 4 * day)) == ["2", "3"])
        #expect(ids(try bench.bill(from: 2 * day + 1, to: 4 * day + 1)) == ["3", "4"])
        #expect(try bench.bill(from: 4 * day, to: 2 * day).isEmpty)
        #expect(ids(try bench.bill(product: "q")) == ["2", "4"])
        #expect(try bench.bill(product: "other").isEmpty)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6])
    func `pages put together are the whole list`(countMax: Int) throws {
        let bench = try bench(refundCount: 5)
        var query = RefundQuery(page: PageQuery(scope: bench.fixture.scope, countMax: countMax))
        var found: [String] = []
        var pageCount = 0
        repeat {
            let page = try bench.page(query)
            #expect(page.refunds.count <= countMax)
            #expect(page.revision == bench.fixture.service.revision)
            found += ids(page.refunds)
            query.page.pageToken = page.nextPageToken
            pageCount += 1
        } while !query.page.pageToken.isEmpty
        #expect(found == ["1", "2", "3", "4", "5"])
        #expect(pageCount == (5 + countMax - 1) / countMax)
    }

    @Test func `a token holds while the list changes, and under another filter`() throws {
        let bench = try bench(refundCount: 5)
        var query = RefundQuery(page: PageQuery(scope: bench.fixture.scope, countMax: 2))
        query.page.pageToken = try bench.page(query).nextPageToken
        try bench.fixture.notify(
            "REFUND_REVERSED", signed: 9 * day,
            transaction: try bench.fixture.transaction(
                "3", product: "p", from: 0, signed: 9 * day))
        #expect(ids(try bench.page(query).refunds) == ["4", "5"])
        query.from = Timestamp(milliseconds: ServiceFixture.date(5 * day))
        #expect(ids(try bench.page(query).refunds) == ["5"])
    }

    @Test func `a token that is none is refused`() throws {
        let bench = try bench(refundCount: 1)
        let long = String(repeating: "0", count: 2 * 147 + 2)
        for token in ["x", "00", "0001zz", "0001" + "0", "000200000000000000000000", long] {
            let query = RefundQuery(page: PageQuery(scope: bench.fixture.scope, pageToken: token))
            #expect(throws: Refusal.self, "\(token)") { try bench.page(query) }
        }
    }

    @Test func `other worlds are not on the bill`() throws {
        let bench = try bench(refundCount: 1)
        let sandbox = try #require(
            bench.fixture.desk.scopeIndex(
                Scope(bundleID: "com.example.meadow", environment: .sandbox)))
        #expect(try bench.page(RefundQuery(page: PageQuery(scope: sandbox))).refunds.isEmpty)
    }

    @Test func `a page of departures alone ends, and is empty`() throws {
        let bench = try BillFixture()
        for id in 1...1_001 {
            let position = RefundPosition(
                instant: Timestamp(milliseconds: Int64(id)),
                customer: CustomerKey(scope: ScopeNumber(1), number: 1), transactionID: "\(id)")
            let record = RefundRecord(
                ownership: .familyShared, isPaymentReversed: false, productID: "p",
                endings: [.revoked: Ending(instant: position.instant, learnedAt: .distantPast)])
            var changes = ChangeSet()
            changes.put(RecordCodec.encode(record), for: Key.refund(position), in: .refunds)
            try bench.fixture.store.commit(changes)
        }
        let page = try bench.page(RefundQuery(page: PageQuery(scope: bench.fixture.scope)))
        #expect(page.refunds.isEmpty && page.nextPageToken.isEmpty)
    }
}
