import Testing
import ToolSupport

@testable import entitlebench

@Suite struct GateRunTests {
    @Test func `a server that does not come up is a failure with its words`() async {
        let run = GateRun(program: "/bin/false", counter: "/nowhere", environment: [:]) { _ in }
        let failure = await #expect(throws: CommandFailure.self) { try await run.measure() }
        #expect(failure?.status == .failed)
        #expect(failure?.message.contains("/bin/false ended at its start") == true)
    }
}
