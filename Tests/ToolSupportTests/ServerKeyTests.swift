import Testing

@testable import ToolSupport

@Suite struct ServerKeyTests {
    private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let directory = try ServerPlace.makeDirectory("server-key-tests")
        defer { ServerPlace.removeDirectory(directory) }
        try SystemCalls.writeFile(directory + "/key", bytes)
        try body(directory + "/key")
    }

    @Test func `a key is a line of a file, whoever names it`() throws {
        try withFile(Array("entk_a_b-C_1\r\n".utf8)) { (path) throws in
            #expect(try ServerKey.read(path, nil) == "entk_a_b-C_1")
            #expect(try ServerKey.read(nil, path) == "entk_a_b-C_1")
            #expect(try ServerKey.read(path, "/none") == "entk_a_b-C_1")
        }
        #expect(try ServerKey.read(nil, nil) == "")
        #expect(try ServerKey.read(nil, "") == "")
    }

    @Test(
        arguments: [
            [], Array("\n".utf8), Array("k\u{E9}y".utf8), [0x6B, 0x00], [0xFF],
            [UInt8](repeating: 0x61, count: 2_000),
        ] as [[UInt8]])
    func `what is no key is refused and not shown`(bytes: [UInt8]) throws {
        try withFile(bytes) { (path) throws in
            #expect(throws: CommandFailure(.failed, "\(path): this holds no API key")) {
                try ServerKey.read(path, nil)
            }
        }
    }

    @Test func `a file that is not there is named`() {
        #expect(throws: CommandFailure(.failed, "/none/k: there is no such file")) {
            try ServerKey.read("/none/k", nil)
        }
    }
}
