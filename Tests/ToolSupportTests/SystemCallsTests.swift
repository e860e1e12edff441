import Testing

@testable import ToolSupport

@Suite struct SystemCallsTests {
    @Test func `a file is written whole and read again`() throws {
        let directory = try ServerPlace.makeDirectory("tool-support-tests")
        defer { ServerPlace.removeDirectory(directory) }
        try SystemCalls.writeFile(directory + "/a", [1, 2, 3])
        try SystemCalls.writeFile(directory + "/a", [4])
        #expect(try SystemCalls.readFile(directory + "/a") == [4])
    }

    @Test func `a file that cannot be had is named with the reason`() throws {
        let directory = try ServerPlace.makeDirectory("tool-support-tests")
        defer { ServerPlace.removeDirectory(directory) }
        let path = directory + "/none"
        #expect(throws: CommandFailure(.failed, "\(path): there is no such file")) {
            try SystemCalls.readFile(path)
        }
        #expect(throws: CommandFailure.self) { try SystemCalls.readFile(directory) }
        #expect(throws: CommandFailure(.failed, "\(path)/x: it cannot be written")) {
            try SystemCalls.writeFile(path + "/x", [])
        }
    }
}
