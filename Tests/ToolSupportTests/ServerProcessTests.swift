import FoundationEssentials
import Testing

@testable import ToolSupport

/// Programs of a few lines stand in for a server: what is tested is how one is started and ended.
@Suite(.serialized) struct ServerProcessTests {
    /// A shell script that is started as a server, in a directory of its own.
    private func launch(
        _ lines: String, processors: [Int] = []
    ) throws -> ServerProcess.Launch {
        let directory = try ServerPlace.makeDirectory("tool-support-tests")
        let path = directory + "/server"
        try SystemCalls.writeFile(path, Array("#!/bin/sh\n\(lines)\n".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        var launch = ServerProcess.Launch(
            // Not the script itself: a file just written cannot be executed while another test's
            // child still has it open.
            program: "/bin/sh", arguments: [path, "--data", "x"], directory: directory,
            environment: [
                "PATH": "/usr/bin:/bin", "ENTITLED_LISTEN": "no", "HTTP_PROXY": "no", "KEPT": "yes",
            ])
        launch.processors = processors
        return launch
    }

    @Test func `its addresses are read from its first line, and it ends in order`() async throws {
        let launch = try launch(
            """
            echo "listening rpc=$4 http=127.0.0.1:9"
            echo "$@ kept=$KEPT listen=$ENTITLED_LISTEN proxy=$HTTP_PROXY" >"$(dirname "$0")/seen"
            trap 'exit 0' TERM
            while :; do sleep 0.01; done
            """)
        defer { ServerPlace.removeDirectory(launch.directory) }
        let server = try await ServerProcess(launch, listen: "127.0.0.1:7")
        #expect(server.address == "127.0.0.1:7")
        #expect(server.httpAddress == "127.0.0.1:9")
        // The first line is written before the second.
        while !FileManager.default.fileExists(atPath: launch.directory + "/seen") {
            try await Task.sleep(for: .milliseconds(2))
        }
        try await server.stop()
        let seen = String(
            decoding: try SystemCalls.readFile(launch.directory + "/seen"), as: UTF8.self)
        #expect(seen == "--data x --listen 127.0.0.1:7 kept=yes listen= proxy=\n")
        // It starts again at the same place, with what is asked for besides.
        try await server.start(["--extra"])
        #expect(server.address == "127.0.0.1:7")
        await server.kill()
        #expect(await server.end() == .exit(0))
    }

    @Test func `one that ends at its start is quoted`() async throws {
        let launch = try launch("echo 'no such root' >&2; exit 3")
        defer { ServerPlace.removeDirectory(launch.directory) }
        let failure = await #expect(throws: CommandFailure.self) {
            try await ServerProcess(launch)
        }
        #expect(failure?.message.contains("ended at its start: exit(3)") == true)
        #expect(failure?.hint == "no such root")
    }

    @Test func `one that ends badly is told`() async throws {
        let launch = try launch(
            """
            echo "listening rpc=127.0.0.1:7"
            trap 'echo lost it >&2; exit 9' TERM
            while :; do sleep 0.01; done
            """)
        defer { ServerPlace.removeDirectory(launch.directory) }
        let server = try await ServerProcess(launch)
        let failure = await #expect(throws: CommandFailure.self) { try await server.stop() }
        #expect(failure?.message == "the server ended with exit(9)")
    }

    @Test func `it runs on its processors, and the tool on its own again`() async throws {
        let own = Processors.available
        let last = try #require(own.last)
        let launch = try launch(
            """
            grep Cpus_allowed_list /proc/self/status | cut -f2 >"$(dirname "$0")/seen"
            echo "listening rpc=127.0.0.1:7"
            trap 'exit 0' TERM
            while :; do sleep 0.01; done
            """, processors: [last])
        defer { ServerPlace.removeDirectory(launch.directory) }
        let server = try await ServerProcess(launch)
        #expect(Processors.available == own)
        try await server.stop()
        let seen = try SystemCalls.readFile(launch.directory + "/seen")
        #expect(String(decoding: seen, as: UTF8.self) == "\(last)\n")
    }

    @Test func `a program that is not there is told where it was looked for`() {
        #expect(throws: CommandFailure(.failed, "/none: there is no such program")) {
            try ServerPlace.findProgram(named: "/none", environment: [:])
        }
        #expect(throws: Never.self) {
            try ServerPlace.findProgram(named: "/bin/sh", environment: [:])
        }
    }
}
