import Testing

@testable import EntitledClient
@testable import entitlectl
import ToolSupport

@Suite struct RefundChartTests {
    private let chart = RefundChart(RefundReport(Bill.year, by: .product))

    @Test func `every month has a bar, and every currency a panel of its own`() {
        #expect(chart.months == ["2026-01", "2026-02", "2026-03"])
        #expect(
            chart.panels.map(\.title) == [
                "Paid back, in EUR", "Paid back, in USD", "Days of use by people who never paid",
            ])
        #expect(chart.panels[0].bars.map(\.values) == [[9_990], [0], [9_990]])
        #expect(chart.panels[1].bars.map(\.values) == [[3_996], [0], [0]])
        // January: 11 days up to the refund and 3 after it. March: una's 2; eva has paid.
        #expect(chart.panels[2].bars.map(\.values) == [[11, 3], [0, 0], [2, 0]])
    }

    @Test func `the drawing stands alone and says in words what it shows`() {
        let svg = chart.svg
        #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 "))
        #expect(svg.hasSuffix("</svg>\n"))
        for word in ["<script", "href", "url(", "<style", "onload"] { #expect(!svg.contains(word)) }
        #expect(svg.contains("<title id=\"title\">Refunds of shared purchases, by month</title>"))
        #expect(svg.contains("Jan 2026 to Mar 2026: 19.98 EUR, 3.996 USD paid back"))
        #expect(
            svg.contains(
                "Days of use by people who never paid: Jan 2026 11 up to the day of the refund, "
                    + "3 after it: the leak; Mar 2026 2 up to the day of the refund, 0 after it"))
        let shapes = svg.split(separator: "\n").filter { $0.hasPrefix("<rect x=") }
        // Two marks of the legend, two bars in euros, one in dollars, three parts of days.
        #expect(shapes.count == 2 + 2 + 1 + 3)
    }

    @Test func `names are written so that no markup comes of them`() {
        let refund = Bill.refund(
            "1", day: 1, currency: "<&\"'>\u{1}\u{FFFE}", [Bill.person("a", paid: true)])
        let chart = RefundChart(RefundReport([refund], by: .month))
        #expect(chart.svg.contains("Paid back, in &lt;&amp;&quot;&#39;&gt;<"))
        #expect(!chart.svg.contains("\u{1}") && !chart.svg.contains("\u{FFFE}"))
        #expect(!chart.html.contains("<&\""))
    }

    @Test func `without refunds it says so`() {
        let chart = RefundChart(RefundReport([], by: .month))
        #expect(chart.months.isEmpty)
        #expect(chart.svg.contains("No payment was refunded in that time."))
        #expect(chart.html.contains("<table>"))
    }

    @Test func `a page has the drawing and a row for each month and currency`() {
        let html = chart.html
        #expect(html.hasPrefix("<!DOCTYPE html>\n"))
        #expect(html.contains("<svg ") && !html.contains("<script"))
        #expect(html.split(separator: "<tr>").count == 1 + 1 + 4)
        #expect(html.contains("<th scope=\"row\">Jan 2026</th><td>1</td><td>9.99 EUR</td>"))
    }

    @Test func `months go on over the end of a year`() {
        let refunds = ([300, 430] as [Int64]).map {
            Bill.refund("\($0)", day: $0, [Bill.person("a", paid: true)])
        }
        let months = RefundChart(RefundReport(refunds, by: .month)).months
        #expect(months == ["2026-10", "2026-11", "2026-12", "2027-01", "2027-02", "2027-03"])
    }
}

@Suite struct ChartAxisTests {
    @Test(
        arguments: [
            (0, [0, 1]), (1, [0, 1]), (5, [0, 1, 2, 3, 4, 5]), (6, [0, 2, 4, 6]),
            (11, [0, 5, 10, 15]), (14, [0, 5, 10, 15]), (26, [0, 10, 20, 30]),
            (100, [0, 20, 40, 60, 80, 100]), (101, [0, 50, 100, 150]),
        ] as [(Int64, [Int64])])
    func `steps are round and at most five`(maximum: Int64, ticks: [Int64]) {
        #expect(ChartAxis(maximum: maximum, scale: 1).ticks == ticks)
    }

    @Test func `labels have decimals only where one needs them`() {
        let euros = ChartAxis(maximum: 19_980, scale: 1_000)
        #expect(euros.ticks.map(euros.label) == ["0", "5", "10", "15", "20"])
        let cents = ChartAxis(maximum: 900, scale: 1_000)
        #expect(cents.ticks.map(cents.label) == ["0.00", "0.20", "0.40", "0.60", "0.80", "1.00"])
        #expect(euros.text(of: 19_980) == "19.98")
    }

    @Test func `the largest number is on it`() {
        let axis = ChartAxis(maximum: .max, scale: 1)
        #expect(axis.ticks.count <= 6)
        #expect(axis.fraction(of: .max) == 1 && axis.fraction(of: 0) == 0)
    }
}
