import Testing
import ToolSupport

@testable import entitlebench

@Suite struct WorkloadTests {
    @Test func `every workload has a name of its own`() {
        let names = Workloads.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.contains(Workloads.canonical))
        #expect(Workloads.all.allSatisfy { !$0.summary.isEmpty })
    }

    @Test func `a name finds its workload, and a mistyped one the nearest`() throws {
        #expect(try Workloads.named("check-hot").name == "check-hot")
        #expect(
            throws: CommandFailure(
                .usage, "unknown workload `chek-hot`", hint: "did you mean `check-hot`?")
        ) { try Workloads.named("chek-hot") }
    }
}
