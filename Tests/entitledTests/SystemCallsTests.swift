import FoundationEssentials
import Testing

@testable import entitled

@Suite struct SystemCallsTests {
    @Test func `a file is read whole, and one byte beyond the limit at most`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/f"
            try Data([1, 2, 3]).write(to: URL(filePath: path))
            #expect(try SystemCalls.readFile(path, byteCountMax: 3) == [1, 2, 3])
            #expect(try SystemCalls.readFile(path, byteCountMax: 1) == [1, 2])
            #expect(SystemCalls.fileExists(path))
            #expect(!SystemCalls.fileExists(path + "x"))
        }
    }

    @Test func `why a file cannot be read is told`() throws {
        try withTemporaryDirectory { directory in
            #expect(throws: FileReadError.notFound) {
                try SystemCalls.readFile(directory + "/none", byteCountMax: 1)
            }
            #expect(throws: FileReadError.other("it is a directory")) {
                try SystemCalls.readFile(directory, byteCountMax: 1)
            }
        }
    }

    @Test func `the machine has processors and memory`() {
        #expect(SystemCalls.processorCount >= 1)
        #expect(SystemCalls.physicalMemoryByteCount > 1 << 20)
    }

    @Test(arguments: ["", "/", "relative", "@", "/" + String(repeating: "x", count: 200)])
    func `an address that is no socket is no crash`(address: String) {
        #expect(!SystemCalls.notifyServiceManager("READY=1", at: address))
    }

    @Test func `nobody listening is no crash`() throws {
        try withTemporaryDirectory { directory in
            #expect(!SystemCalls.notifyServiceManager("READY=1", at: directory + "/none"))
            #expect(!SystemCalls.notifyServiceManager("READY=1", at: "@entitled-none"))
        }
    }
}
