import Testing
import ToolSupport

@testable import entitlebench

@Suite struct GateCommandTests {
    @Test(
        arguments: [
            (["gate", "--thresholds", "/nowhere/6.3.json"], 2),
            (["gate", "more"], 2),
            (["gate", "--help"], 0),
        ] as [([String], Int32)])
    func `a command line is judged before a server is started`(
        arguments: [String], status: Int32
    ) async {
        let result = await BenchCommands.program.run(arguments, environment: [:])
        #expect(result.rawValue == status)
    }

    @Test func `a report shows what is over, for people and for scripts`() throws {
        let report = try GateReportTests.report(
            #"{"check 1x16": {"reads": 0.05}, "idle": {"waits": 0}}"#, [GateReportTests.reads])
        let lines = report.table.map(\.text)
        #expect(lines.count == 3)
        #expect(lines[1].contains("0.0625") && lines[1].contains("OVER"))
        #expect(lines[2].contains("not measured"))
        #expect(
            report.json.text.hasPrefix(
                #"{"kept":false,"lines":[{"scenario":"check 1x16","kind":"reads","#))
        #expect(report.json.text.contains(#""measured":null"#))
    }
}
