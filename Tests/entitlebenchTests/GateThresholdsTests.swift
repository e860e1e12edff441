import Testing
import ToolSupport

@testable import entitlebench

@Suite struct GateThresholdsTests {
    static func thresholds(_ json: String) throws -> GateThresholds {
        try GateThresholds(json: Array(json.utf8), path: "6.3.json")
    }

    @Test func `a file says limits by scenario and kind`() throws {
        let thresholds = try Self.thresholds(#"{"idle": {"reads": 0, "waits": 1.5}}"#)
        #expect(thresholds.limits == ["idle": ["reads": 0, "waits": 1.5]])
    }

    @Test(arguments: ["", "[]", "{}", #"{"idle": {}}"#, #"{"idle": {"reads": "0"}}"#])
    func `a file that limits nothing is refused`(json: String) {
        #expect(throws: CommandFailure.self) { try Self.thresholds(json) }
    }

    @Test func `a file that is not there is refused by its name`() {
        let failure = #expect(throws: CommandFailure.self) {
            try GateThresholds(path: "/nowhere/6.3.json")
        }
        #expect(failure?.message == "/nowhere/6.3.json: there is no such file")
        #expect(failure?.status == .usage)
    }
}
