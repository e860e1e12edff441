import FoundationEssentials
import Testing
import ToolSupport

@testable import EntitledClient
@testable import entitlectl

@Suite struct RefundReportFilesTests {
    private static let columns = """
        refunds,refunded_milliunits,people_with_access,people_served,buyer_days,buyer_checks,\
        buyer_units,buyer_cost_micros,unpaid_days,unpaid_checks,unpaid_units,unpaid_cost_micros,\
        leaked_people,leaked_days,leaked_checks,leaked_units,leaked_cost_micros,leaked_periods,\
        people_still_granted,cost_micros
        """

    @Test func `each refund is a line of comma-separated values`() {
        let lines = RefundReport(Bill.year, by: .month).refundsCSV
            .split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.count == 6 && lines[5].isEmpty)
        #expect(
            lines[0] == "refunded_at,learned_at,transaction_id,original_transaction_id,product_id,"
                + "customer_id,purchase_date,purchase_unknown,price_milliunits,"
                + "percentage_milliunits,currency," + Self.columns)
        #expect(
            lines[1] == "2026-01-11T10:00:00.000Z,2026-01-12T10:00:00.000Z,1,1,month,buyer,"
                + "2026-01-01T10:00:00.000Z,false,9990,100000,EUR,"
                + "1,9990,6,3,2,3,16,320000,11,11,50,1000000,3,3,3,6,90,4,1,1320090")
        #expect(lines[2].contains(",\"year, \"\"plus\"\"\",zoe,"))
        #expect(lines[4].contains(",true,,100000,,1,0,1,1,0,0,0,0,2,2,0,0,0,0,"))
    }

    @Test func `each month and currency is a line, or each product`() {
        let months = RefundReport(Bill.year, by: .month).totalsCSV
        #expect(
            months == "month,currency," + Self.columns + "\r\n"
                + "2026-01,EUR,1,9990,6,3,2,3,16,320000,11,11,50,1000000,3,3,3,6,90,4,1,1320090\r\n"
                + "2026-01,USD,1,3996,1,1,5,5,5,0,0,0,0,0,0,0,0,0,0,0,0,0\r\n"
                + "2026-03,,1,0,1,1,0,0,0,0,2,2,0,0,0,0,0,0,0,0,0,0\r\n"
                + "2026-03,EUR,1,9990,1,1,0,0,0,0,0,0,0,0,1,1,1,2,30,0,0,30\r\n")
        let products = RefundReport(Bill.year, by: .product).totalsCSV
        #expect(products.hasPrefix("product_id,currency,"))
        #expect(products.contains("\r\n\"year, \"\"plus\"\"\",USD,1,3996,"))
    }

    @Test func `a field is quoted only where it has to be`() {
        let text = CSV.text(["a", "b"], [["x y", "1;2"], ["a\"b", "c,d"], ["e\r\nf", "é"]])
        #expect(text == "a,b\r\nx y,1;2\r\n\"a\"\"b\",\"c,d\"\r\n\"e\r\nf\",é\r\n")
    }

    @Test func `the object has every refund, person and total`() throws {
        struct Report: Decodable {
            struct Use: Decodable {
                var days: Int
                var costMicros: Int
            }
            struct Person: Decodable {
                var customer: String
                var leakedPeriods: Int
                var accessEndedAt: String?
            }
            struct Refund: Decodable {
                var transactionId: String
                var refundedAt: String
                var priceMilliunits: Int?
                var currency: String?
                var refundedMilliunits: Int
                var buyer: Use
                var unpaid: Use
                var people: [Person]
            }
            struct Total: Decodable {
                var month: String?
                var currency: String?
                var refunds: Int
                var peopleServed: Int
            }
            var refunds: [Refund]
            var by: String
            var totals: [Total]
            var sums: [Total]
        }
        let text = RefundReport(Bill.year, by: .month).json.text
        let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        #expect(report.by == "month")
        #expect(report.refunds.map(\.transactionId) == ["1", "2", "3", "4"])
        #expect(report.refunds[0].refundedAt == "2026-01-11T10:00:00.000Z")
        #expect(report.refunds[0].unpaid.days == 11 && report.refunds[0].buyer.days == 2)
        #expect(report.refunds[0].people.map(\.customer).first == "buyer")
        #expect(report.refunds[0].people.last?.accessEndedAt == nil)
        #expect(report.refunds[3].priceMilliunits == nil && report.refunds[3].currency == nil)
        #expect(report.totals.map(\.month) == ["2026-01", "2026-01", "2026-03", "2026-03"])
        #expect(report.sums.map(\.refunds) == [1, 2, 1])
        #expect(report.sums.allSatisfy { $0.month == nil })
    }
}
