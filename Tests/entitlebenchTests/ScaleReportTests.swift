import LoadGenerator
import ToolSupport
import Testing

@testable import entitlebench

@Suite struct ScaleReportTests {
    private func figures(_ customerCount: Int, check: Double, ingest: Double) -> ScaleFigures {
        var figures = ScaleFigures(customerCount: customerCount)
        figures.loadSeconds = 2
        figures.checkNanoseconds = check
        figures.ingestNanoseconds = ingest
        figures.readNanoseconds = 4_000
        figures.verificationNanoseconds = 90_000
        figures.warm.record(50_000)
        return figures
    }

    private var report: ScaleReport {
        ScaleReport(figures: [
            figures(10_000, check: 150, ingest: 300_000),
            figures(1_000_000, check: 300, ingest: 330_000),
        ])
    }

    @Test func `a size is a column, and growth is said in words`() {
        let text = report.lines.map(\.text).joined(separator: "\n")
        #expect(text.contains("10,000"))
        #expect(text.contains("1,000,000"))
        #expect(text.contains("server CPU per check is 2.00x for 100x the customers"))
        #expect(text.contains("server CPU per notification is 1.10x for 100x the customers"))
        #expect(ScaleReport(figures: [figures(10, check: 1, ingest: 1)]).growth.isEmpty)
    }

    @Test func `what was not measured is null for programs and a dash for people`() {
        let json = report.json.text
        #expect(json.contains("\"warm_s\":null"))
        #expect(json.contains("\"check_cpu_us\":0.15"))
        #expect(json.contains("\"customers\":1000000"))
        #expect(
            report.lines.contains { $0.text.contains("in memory after") && $0.text.hasSuffix("-") })
    }

    @Test func `keys are different`() {
        #expect(Set(ScaleReport.rows.map(\.key)).count == ScaleReport.rows.count)
    }

    @Test func `the chart has a line per cost and a label per size`() {
        let document = ScaleChart(report).document
        #expect(document.hasPrefix("<svg"))
        #expect(document.contains("1,000,000"))
        #expect(document.components(of: "<polyline") == 4)
        #expect(document.contains("100 us"))
    }

    @Test(arguments: [("10k,1m", [10_000, 1_000_000]), ("1m,10k", [10_000, 1_000_000])])
    func `sizes are read in order`(text: String, sizes: [Int]) throws {
        #expect(try ScaleCommand.sizes(text) == sizes)
    }

    @Test(arguments: ["", "5", "17m", "10k,", "a"])
    func `what is no list of sizes is refused`(text: String) {
        #expect(throws: CommandFailure.self) { try ScaleCommand.sizes(text) }
    }
}

extension String {
    /// How often a part occurs.
    fileprivate func components(of part: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.firstRange(of: part) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
