import EntitledClient
import FoundationEssentials
import TestSupport
import Testing

/// `entitlectl verify` on the data of a real server.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct VerifyTests {
    /// A server that has stopped, with its data in tables: a start moves the log into them.
    private func stopped() async throws -> (server: TestServer, data: String) {
        let server = try await TestServer.start()
        let client = try server.client()
        for index in 0..<10 {
            _ = try await client.ingestNotification(
                try server.fixtures.posted("ONE_TIME_CHARGE", "\(7_000 + index)"))
        }
        _ = try await client.ingestNotification(
            try server.fixtures.posted("REFUND", "7000", revoked: Dates.refunded))
        client.close()
        let linked = try await server.tool([
            "link", "u-1", "--original-transaction-id", "7001", "--household", "h-1",
        ])
        #expect(linked.end == .exit(0), "\(linked.errorOutput)")
        try await server.stop()
        try await server.restart().stop()
        return (server, server.directory.path + "/data")
    }

    @Test func `sound data are told from what is in use and what is nothing`() async throws {
        let (server, data) = try await stopped()
        let sound = try await server.tool(["verify", data, "--output", "json"])
        #expect(sound.end == .exit(0), "\(sound.output)\(sound.errorOutput)")
        #expect(sound.output.contains("\"findings\":0,\"revision\":12"), "\(sound.output)")
        let running = try await server.restart()
        let refused = try await running.tool(["verify", data])
        #expect(refused.end == .exit(7) && refused.errorOutput.contains("in use"))
        try await running.stop()
        let nothing = try await server.tool(["verify", server.directory.path])
        #expect(nothing.end == .exit(4), "\(nothing.errorOutput)")
    }

    @Test func `a changed byte in any table is found`() async throws {
        let (server, data) = try await stopped()
        let names = try FileManager.default.contentsOfDirectory(atPath: data + "/store")
            .filter { $0.hasSuffix(".sst") }
        #expect(names.count >= 8)
        for name in names {
            let path = data + "/store/" + name
            let whole = try Data(contentsOf: URL(filePath: path))
            var changed = whole
            // Records come first in a table.
            changed[20] ^= 1
            try changed.write(to: URL(filePath: path))
            let result = try await server.tool(["verify", data])
            #expect(result.end == .exit(65), "\(name): \(result.output)\(result.errorOutput)")
            try whole.write(to: URL(filePath: path))
        }
        let sound = try await server.tool(["verify", data])
        #expect(sound.end == .exit(0), "\(sound.output)\(sound.errorOutput)")
    }

    @Test func `data of a newer release are refused by both numbers`() async throws {
        let (server, data) = try await stopped()
        try Data("entitled data format 3\n".utf8).write(to: URL(filePath: data + "/FORMAT"))
        let result = try await server.tool(["verify", data])
        #expect(result.end == .exit(65))
        #expect(result.errorOutput.contains("format 3") && result.errorOutput.contains("to 2"))
        let process = try ProgramRun(
            Programs.server,
            [
                "--data", data, "--listen", "127.0.0.1:0", "--bundle-id", "com.example.meadow",
                "--environment", "Sandbox", "--allow-test-root", "--apple-root",
                server.directory.path + "/root0.pem",
            ], in: server.directory)
        #expect(try await process.waitForEnd() == .exit(65))
        #expect(process.errorOutput.contains("format 3") && process.errorOutput.contains("to 2"))
    }
}
