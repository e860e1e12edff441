import Testing

@testable import entitlebench

@Suite struct GateReportTests {
    static func report(_ json: String, _ measurements: [GateMeasurement]) throws -> GateReport {
        GateReport(measurements, try GateThresholdsTests.thresholds(json))
    }

    static let reads = GateMeasurement(
        scenario: "check 1x16", operationCount: 160, counts: GateCounts(totals: ["reads": 10]))

    @Test func `counts are compared for each operation, the limit itself is kept`() throws {
        let kept = try Self.report(#"{"check 1x16": {"reads": 0.0625}}"#, [Self.reads])
        #expect(kept.lines.map(\.measured) == [0.0625])
        #expect(kept.isKept)
        let over = try Self.report(#"{"check 1x16": {"reads": 0.0624}}"#, [Self.reads])
        #expect(!over.isKept)
    }

    @Test(arguments: [#"{"idle": {"reads": 1}}"#, #"{"check 1x16": {"waits": 1}}"#])
    func `a threshold that nothing was measured for is not kept`(json: String) throws {
        let report = try Self.report(json, [Self.reads])
        #expect(report.lines.map(\.measured) == [nil])
        #expect(!report.isKept)
    }

    @Test func `lines come by scenario, then by kind`() throws {
        let report = try Self.report(#"{"b": {"y": 1, "x": 1}, "a": {"z": 1}}"#, [])
        #expect(report.lines.map { $0.scenario + $0.kind } == ["az", "bx", "by"])
    }

    @Test(arguments: [(0, "0"), (0.0625, "0.0625"), (12, "12"), (1.1, "1.1"), (0.00004, "0")])
    func `numbers have four decimals at most`(value: Double, text: String) {
        #expect(GateReport.number(value) == text)
    }
}
