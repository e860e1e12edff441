import Testing
import ToolSupport

@Suite struct JournalTests {
    @Test func `lines are there when they were added, also after opening again`() throws {
        let directory = try ServerPlace.makeDirectory("journal-test")
        defer { ServerPlace.removeDirectory(directory) }
        let path = directory + "/journal"
        for lines in ["one\n", "one\none\n"] {
            try Journal(path).add("one")
            #expect(String(decoding: try SystemCalls.readFile(path), as: UTF8.self) == lines)
        }
    }

    @Test func `a place that does not exist is said`() {
        #expect(throws: CommandFailure.self) { try Journal("/nowhere/at/all") }
    }
}
