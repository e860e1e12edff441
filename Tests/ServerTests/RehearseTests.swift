import EntitledClient
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The fire drill itself.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct RehearseTests {
    @Test func `the drill is right from beginning to end and leaves nothing behind`() async throws {
        let directory = try TemporaryDirectory()
        let result = try await ToolResult.run(["rehearse", "--output", "json"], in: directory)
        #expect(result.end == .exit(0), "\(result.errorOutput)")
        #expect(result.output.contains("\"right\":true,\"steps\":98,\"answers\":686,\"wrong\":0"))
        #expect(result.output.contains("\"leftOut\":[],"))
        let rest = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(rest.allSatisfy { !$0.hasPrefix("entitled-rehearsal") })
    }

    @Test func `it plays into the Sandbox of a running server, again and again`() async throws {
        let directory = try TemporaryDirectory()
        let root = directory.path + "/drill.pem"
        let written = try await ToolResult.run(["rehearse", "--write-root", root], in: directory)
        #expect(written.end == .exit(0))
        let attributes = try FileManager.default.attributesOfItem(atPath: root + ".key")
        #expect(attributes[.posixPermissions] as? UInt == 0o600)
        let again = try await ToolResult.run(["rehearse", "--write-root", root], in: directory)
        #expect(again.end == .exit(1))
        let server = try await TestServer.start(flags: ["--apple-root", root])
        for _ in 0..<2 {
            let result = try await server.tool(
                ["rehearse", "--into", server.address, "--root", root, "-q"])
            #expect(result.end == .exit(0), "\(result.errorOutput)")
            #expect(result.output.contains("All right: 11 acts, 58 steps, 406 answers"))
            // Nobody may kill this server, or be Apple to it.
            let titles = result.output.split(separator: "left out").last?.split(separator: "\n")
            #expect(titles?.dropFirst().count == 7)
            #expect(result.output.contains("  The power fails"))
        }
        let client = try server.client()
        let info = try await client.serverInfo()
        #expect(info.customerCount == 14)
        client.close()
        #expect(try await server.stop() == .exit(0))
    }

    @Test func `a server that does not know the root is found wrong`() async throws {
        let directory = try TemporaryDirectory()
        let root = directory.path + "/drill.pem"
        _ = try await ToolResult.run(["rehearse", "--write-root", root], in: directory)
        let server = try await TestServer.start()
        let result = try await server.tool(["rehearse", "--into", server.address, "--root", root])
        #expect(result.end == .exit(1))
        #expect(result.output.contains("WRONG") && result.output.contains("UNTRUSTED_CHAIN"))
    }

    @Test func `Ctrl-C ends the server and removes what was written`() async throws {
        // On a busy machine a drill may be over before the signal comes: then once more.
        for _ in 0..<10 {
            let directory = try TemporaryDirectory()
            let process = try ProgramRun(Programs.tool, ["rehearse"], in: directory)
            let line = try await process.firstLine()
            process.send(SIGINT)
            let end = try await process.waitForEnd()
            let number = line.split(separator: " ").drop { $0 != "pid" }.dropFirst().first
            let id = try #require(number.flatMap { Int32($0.filter(\.isNumber)) })
            #expect(kill(id, 0) != 0, "the server still runs")
            let rest = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(rest.allSatisfy { !$0.hasPrefix("entitled-rehearsal") })
            if end == .exit(130) { return }
            #expect(end == .exit(0), "\(process.errorOutput)")
        }
        Issue.record("no drill was interrupted")
    }
}
