import FoundationEssentials
import Glibc
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

    @Test
    func `a file is replaced with the permissions that it had, and nothing is left beside it`()
        throws
    {
        let directory = try ServerPlace.makeDirectory("tool-support-tests")
        defer { ServerPlace.removeDirectory(directory) }
        let path = directory + "/keys"
        func mode() -> UInt16 {
            var status = stat()
            return unsafe stat(path, &status) == 0 ? UInt16(status.st_mode & 0o777) : 0
        }
        try SystemCalls.replaceFile(path, [1])
        #expect(mode() & 0o137 == 0)
        _ = unsafe chmod(path, 0o600)
        try SystemCalls.replaceFile(path, [2, 3])
        #expect(mode() == 0o600)
        #expect(try SystemCalls.readFile(path) == [2, 3])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["keys"])
        #expect(throws: CommandFailure.self) {
            try SystemCalls.replaceFile(directory + "/none/keys", [])
        }
    }

    @Test func `a file is read piece by piece`() throws {
        let directory = try ServerPlace.makeDirectory("tool-support-tests")
        defer { ServerPlace.removeDirectory(directory) }
        try SystemCalls.writeFile(directory + "/a", [1, 2, 3])
        let descriptor = try SystemCalls.open(directory + "/a")
        defer { SystemCalls.close(descriptor) }
        #expect(SystemCalls.isReadable(descriptor, within: 0))
        #expect(try SystemCalls.read(descriptor, byteCountMax: 2) == [1, 2])
        #expect(try SystemCalls.read(descriptor, byteCountMax: 2) == [3])
        #expect(try SystemCalls.read(descriptor, byteCountMax: 2).isEmpty)
        #expect(throws: CommandFailure(.failed, "\(directory)/b: there is no such file")) {
            try SystemCalls.open(directory + "/b")
        }
        let folder = try SystemCalls.open(directory)
        defer { SystemCalls.close(folder) }
        #expect(throws: CommandFailure(.failed, "it is a directory")) {
            try SystemCalls.read(folder, byteCountMax: 2)
        }
        #expect(try SystemCalls.open("-") == 0)
    }

    @Test func `one at a time has the lock`() async throws {
        let directory = try ServerPlace.makeDirectory("tool-support-tests")
        defer { ServerPlace.removeDirectory(directory) }
        let path = directory + "/count"
        try SystemCalls.writeFile(path, [0])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10 {
                        try? SystemCalls.locking(path) { () throws(CommandFailure) in
                            let count = try SystemCalls.readFile(path)[0]
                            try SystemCalls.replaceFile(path, [count + 1])
                        }
                    }
                }
            }
        }
        #expect(try SystemCalls.readFile(path) == [40])
    }
}
