import EntitledClient
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import Wire

/// How the server starts, says so, and ends.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct StartTests {
    @Test func `the first line names every listener, and each one answers`() async throws {
        let server = try await TestServer.start(listen: ["127.0.0.1:0", "[::1]:0", "unix"])
        #expect(
            server.process.output == "listening "
                + server.addresses.map { "rpc=\($0)" }.joined(separator: " ") + "\n")
        for index in server.addresses.indices {
            let client = try server.client(at: index)
            let info = try await client.serverInfo()
            #expect(info.scopes.map(\.bundleID) == ["com.example.meadow", "com.example.meadow"])
            #expect(info.protocolVersion == 1 && info.revision == 0)
            client.close()
        }
        #expect(try await server.stop() == .exit(0))
        #expect(!FileManager.default.fileExists(atPath: server.directory.path + "/s"))
    }

    private static let wrong: [([String], Int32, String)] = [
        (["--lisen", "127.0.0.1:0"], 64, "--listen"),
        (["--listen", "example.com:1"], 64, "example.com:1"),
        (["--bundle-id", "b"], 78, "apple"),
        (["--config", "/nonexistent.json5"], 78, "/nonexistent.json5"),
    ]

    @Test(arguments: wrong)
    func `a wrong command line ends with its code and says what is wrong`(
        sample: (arguments: [String], code: Int32, word: String)
    ) async throws {
        let directory = try TemporaryDirectory()
        let process = try ProgramRun(
            Programs.server, ["--data", directory.path + "/data"] + sample.arguments, in: directory)
        #expect(try await process.waitForEnd() == .exit(sample.code))
        #expect(process.errorOutput.contains(sample.word))
        #expect(process.output.isEmpty)
    }

    @Test func `a second server on the same data is refused`() async throws {
        let server = try await TestServer.start()
        await #expect(throws: (any Error).self) { try await server.restart() }
        let second = try ProgramRun(
            Programs.server,
            [
                "--data", server.directory.path + "/data", "--listen", "127.0.0.1:0",
                "--bundle-id", "com.example.meadow", "--app-apple-id", "1600000001",
                "--apple-root", server.directory.path + "/root0.pem", "--allow-test-root",
            ], in: server.directory)
        #expect(try await second.waitForEnd() == .exit(73))
        #expect(second.output.isEmpty)
        let client = try server.client()
        #expect(try await client.serverInfo().revision == 0)
        client.close()
    }

    @Test func `an address in use is refused`() async throws {
        let server = try await TestServer.start()
        let directory = try TemporaryDirectory()
        let second = try ProgramRun(
            Programs.server,
            [
                "--data", directory.path + "/data", "--listen", server.address, "--bundle-id",
                "com.example.meadow", "--app-apple-id", "1600000001", "--apple-root",
                server.directory.path + "/root0.pem", "--allow-test-root",
            ], in: directory)
        #expect(try await second.waitForEnd() == .exit(71))
        #expect(second.errorOutput.contains(server.address))
    }

    @Test func `a test root is refused unless it is allowed`() async throws {
        let directory = try TemporaryDirectory()
        let root = try directory.write(
            try RehearsalAuthority().rootPEM, to: "root.pem")
        let process = try ProgramRun(
            Programs.server,
            [
                "--data", directory.path + "/data", "--listen", "127.0.0.1:0", "--bundle-id", "b",
                "--app-apple-id", "1", "--apple-root", root,
            ], in: directory)
        #expect(try await process.waitForEnd() == .exit(78))
    }

    @Test func `a stop answers what is under way, and what was answered is there afterwards`()
        async throws
    {
        let server = try await TestServer.start()
        let connection = try RawConnection(to: server.address)
        var frames: [UInt8] = []
        for id in 1...120 as ClosedRange<UInt64> {
            let body = try server.fixtures.posted("ONE_TIME_CHARGE", "8\(1_000 + id)")
            var request = Request(id: id, call: .ingestNotification(.init(payload: body)))
            request.timeoutMilliseconds = 60_000
            frames += try RawConnection.frame(request)
        }
        try await connection.send(frames)
        var answers = try await connection.answers(1)
        server.process.send(SIGTERM)
        answers += try await connection.answersUntilClose()
        #expect(try await server.process.waitForEnd() == .exit(0))
        // Nobody is left with a closed connection and no answer.
        #expect(answers.map(\.id).sorted() == Array(1...120))
        #expect(answers.allSatisfy { $0.status == .ok || $0.reason == "DRAINING" })
        let second = try await server.restart()
        let reader = try second.client()
        for answer in answers where answer.status == .ok {
            let answer = try await reader.checkAccess(
                .originalTransaction("8\(1_000 + answer.id)"), product: "meadow.lifetime")
            #expect(answer.isGranted)
        }
        reader.close()
        #expect(try await second.stop() == .exit(0))
    }

    @Test func `a call that waits for a revision is answered when the server stops`() async throws {
        let server = try await TestServer.start()
        let connection = try RawConnection(to: server.address)
        var waiting = Message.CheckAccessRequest(
            customer: .customerID("u"), subject: .product("p"))
        let other = waiting
        waiting.minRevision = 5
        // The answer of the second tells that the first was read.
        try await connection.send(
            RawConnection.frame(Request(id: 1, call: .checkAccess(waiting)))
                + RawConnection.frame(Request(id: 2, call: .checkAccess(other))))
        #expect(try await connection.answers(1).map(\.id) == [2])
        server.process.send(SIGTERM)
        let answers = try await connection.answersUntilClose()
        #expect(answers.map(\.id) == [1])
        let reason = try #require(answers.first?.reason)
        #expect(["DRAINING", "REVISION_NOT_REACHED"].contains(reason))
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
