import Testing

@testable import EntitledClient
@testable import entitlectl
import ToolSupport

@Suite struct RefundReportTests {
    private func texts(_ totals: [RefundReport.Total]) -> [String] {
        totals.map {
            "\($0.name) \($0.currency) \($0.figures.refundCount) \($0.figures.refundedMilliunits)"
        }
    }

    @Test func `months and currencies are summed up apart`() {
        let report = RefundReport(Bill.year, by: .month)
        #expect(
            texts(report.totals) == [
                "2026-01 EUR 1 9990", "2026-01 USD 1 3996", "2026-03  1 0", "2026-03 EUR 1 9990",
            ])
        #expect(texts(report.sums) == ["  1 0", " EUR 2 19980", " USD 1 3996"])
        #expect(texts(report.months) == texts(report.totals))
    }

    @Test func `or products`() {
        let report = RefundReport(Bill.year, by: .product)
        #expect(
            texts(report.totals) == [
                "life  1 0", "month EUR 2 19980", "year, \"plus\" USD 1 3996",
            ])
        #expect(report.months.count == 4)
    }

    @Test func `names that only look the same are different products`() {
        let refunds = ["\u{E9}", "e\u{301}"].map {
            Bill.refund("1", day: 1, product: $0, [Bill.person("a", paid: true)])
        }
        #expect(RefundReport(refunds, by: .product).totals.count == 2)
    }

    @Test func `no refunds are an empty report`() {
        let report = RefundReport([], by: .month)
        #expect(report.totals.isEmpty && report.sums.isEmpty)
        #expect(report.lines(columnCount: 80).count == 1)
    }
}

@Suite struct AmountTests {
    @Test(arguments: [
        (Int64(9_990), "9.99"), (0, "0.00"), (5, "0.005"), (-5, "-0.005"), (1_000, "1.00"),
        (12_345, "12.345"), (.max, "9223372036854775.807"), (.min, "-9223372036854775.808"),
    ])
    func `thousandths have two decimals, or three`(value: Int64, text: String) {
        #expect(Amount.thousandths(value) == text)
    }

    @Test(arguments: [(Int64(320_000), "0.32"), (1, "0.000001"), (20_000_000, "20.00")])
    func `millionths have two decimals, or as many as they need`(value: Int64, text: String) {
        #expect(Amount.millionths(value) == text)
    }

    @Test(arguments: [(Int32(100_000), "100"), (33_333, "33.333"), (40_500, "40.5"), (0, "0")])
    func `a percentage has the decimals that it needs`(value: Int32, text: String) {
        #expect(Amount.percent(value) == text)
    }
}
