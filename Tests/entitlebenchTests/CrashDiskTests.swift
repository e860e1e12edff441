import Testing
import ToolSupport

@testable import entitlebench

@Suite struct CrashDiskTests {
    @Test(arguments: ["/proc", "/there/is/none"])
    func `a file system that is nobody's to fill is refused`(path: String) {
        #expect(throws: CommandFailure.self) { try CrashDisk(path) }
    }
}
