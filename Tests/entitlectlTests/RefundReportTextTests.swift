import Testing
import ToolSupport

@testable import EntitledClient
@testable import entitlectl

@Suite struct RefundReportTextTests {
    private func lines(_ columnCount: Int?, by grouping: RefundReport.Grouping = .month) -> [String]
    {
        RefundReport(Bill.year, by: grouping).lines(columnCount: columnCount).map(\.text)
    }

    @Test func `the table has each refund, the totals and the sums`() {
        #expect(
            lines(nil) == [
                "Refunds",
                "refunded    product       customer  money back    %  people  days  unpaid  units"
                    + "     cost  leak  periods",
                "2026-01-11  month         buyer       9.99 EUR  100       3    13      11     66"
                    + "  1.32009     3        4",
                "2026-01-21  year, \"plus\"  zoe        3.996 USD   40       1     5       0      5"
                    + "     0.00     0        0",
                "2026-03-12  month         eva         9.99 EUR  100       1     0       0      0"
                    + "  0.00003     1        0",
                "2026-03-13  life          una          unknown    -       1     2       2      0"
                    + "     0.00     0        0",
                "", "By month",
                "month    refunds  money back  people  days  unpaid  units     cost  leak  periods",
                "2026-01        1    9.99 EUR       3    13      11     66  1.32009     3        4",
                "2026-01        1   3.996 USD       1     5       0      5     0.00     0        0",
                "2026-03        1     unknown       1     2       2      0     0.00     0        0",
                "2026-03        1    9.99 EUR       1     0       0      0  0.00003     1        0",
                "", "In all",
                "refunds  money back  people  days  unpaid  units     cost  leak  periods",
                "      1     unknown       1     2       2      0     0.00     0        0",
                "      2   19.98 EUR       4    13      11     66  1.32012     4        4",
                "      1   3.996 USD       1     5       0      5     0.00     0        0",
                "",
                "people: who used it; days: person-days of use up to the day of the refund, UTC;"
                    + " unpaid:",
                "those of people who never paid; cost: all units at the catalog's unitCost; leak:",
                "person-days of use after that day; periods: billing periods in which access went"
                    + " on.",
            ])
    }

    @Test(arguments: [70, 80, 100, 120])
    func `no line is wider than the terminal, and the figures that matter stay`(columnCount: Int) {
        let long = String(repeating: "x", count: 60)
        var refunds = Bill.year
        refunds[0].productID = "com.example.meadow.\(long)"
        refunds[0].customerID = long
        let lines = RefundReport(refunds, by: .month).lines(columnCount: columnCount)
        let table = lines.prefix(6).map(\.text)
        #expect(table.allSatisfy { $0.count <= columnCount }, "\(table)")
        for title in ["refunded", "money back", "people", "days", "unpaid", "cost", "leak"] {
            #expect(table[1].contains(title), "\(title)")
        }
    }

    @Test func `by product the names of products stand first`() {
        let text = lines(nil, by: .product)
        #expect(text.contains("By product"))
        #expect(text.contains { $0.hasPrefix("year, \"plus\"        1   3.996 USD") })
    }
}
