import Authorization
import EntitledClient
import FoundationEssentials
import Glibc
import HTTP
import TestSupport
import Testing
import Wire

/// A real server that knows some callers, and the tool that makes their keys.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct KeysTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/keys.jsonl" }

    init() throws { directory = try TemporaryDirectory() }

    private func tool(_ arguments: [String]) async throws -> ToolResult {
        try await ToolResult.run(
            ["key"] + arguments, environment: ["ENTITLECTL_KEYS_FILE": path], in: directory)
    }

    /// Makes a key with the tool; the file that holds it.
    private func make(_ name: String, _ roles: String, _ more: [String] = []) async throws -> String
    {
        let result = try await tool(["create", "--name", name, "--roles", roles] + more)
        #expect(result.end == .exit(0), "\(result.errorOutput)")
        return try directory.write(Array(result.output.utf8), to: name + ".key")
    }

    private func key(_ file: String) throws -> String {
        directory.text(of: String(file.split(separator: "/").last ?? ""))
            .replacing("\n", with: "")
    }

    private func start(_ flags: [String] = []) async throws -> TestServer {
        try await TestServer.start(
            flags: ["--auth-keys-file", path, "--http", "127.0.0.1:0"] + flags,
            keeping: [directory])
    }

    private func reason(_ server: TestServer, _ key: String) async throws -> String? {
        var configuration = ClientConfiguration()
        configuration.apiKey = key
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        return await Refusals.reason { () async throws(ClientError) in
            try await client.checkAccess(.customer("u"), product: "p")
        }
    }

    /// Tells the server to read again, and waits until it has said so.
    private func hangUp(_ server: TestServer) async throws -> String {
        let before = server.process.errorOutput.count
        server.process.send(SIGHUP)
        return try await eventually("the server has read again") {
            let log = String(server.process.errorOutput.dropFirst(before))
            let isRead = log.contains("configuration reloaded") || log.contains("not reloaded")
            return isRead && log.hasSuffix("\n") ? log : nil
        }
    }

    private func metrics(_ server: TestServer, _ key: String?) async throws -> HTTPResponse {
        let words = server.process.output.split(separator: "\n")[0].split(separator: " ")
        let address = try #require(words.last { $0.hasPrefix("http=") }).dropFirst(5)
        let fields = key.map { [HTTPField("Authorization", "Bearer \($0)")] } ?? []
        return try await Task.detached {
            let client = try HTTPClient(options: HTTPClientOptions(userAgent: "test"))
            return try client.send(
                HTTPRequest(target: "http://\(address)/metrics", fields: fields))
        }.value
    }

    @Test func `whoever has a key is answered, and the tools show it`() async throws {
        let check = try await make("check", "check")
        let admin = try await make("admin", "admin")
        let server = try await start()
        #expect(try await reason(server, "") == "KEY_MISSING")
        #expect(try await reason(server, "entk_x_y") == "KEY_UNKNOWN")
        #expect(try await reason(server, try key(check)) == nil)
        let without = try await server.tool(["check", "u", "p"])
        #expect(without.end == .exit(5) && without.errorOutput.contains("--key-file"))
        #expect(try await server.tool(["check", "u", "p", "--key-file", check]).end == .exit(0))
        let linked = ["link", "u", "--household", "h"]
        #expect(try await server.tool(linked + ["--key-file", check]).end == .exit(5))
        let done = try await server.tool(linked, environment: ["ENTITLECTL_KEY_FILE": admin])
        #expect(done.end == .exit(0))
        #expect(try await server.stop() == .exit(0))
        // What the admin did, and who was refused, stands in the audit once the server has ended.
        let audit = server.directory.text(of: "data/audit.jsonl")
        #expect(audit.contains("\"name\":\"admin\""))
        #expect(audit.contains("\"method\":\"LinkCustomer\",\"target\":\"customer:u\",\"code\":0"))
        #expect(audit.contains("\"reason\":\"ROLE_MISSING\"") && audit.contains("KEY_MISSING"))
        #expect(!audit.contains("entk_"))
        #expect(!server.process.errorOutput.contains("entk_"))
    }

    @Test func `a key that is revoked ends on open connections once the file is read`() async throws
    {
        let file = try await make("a", "check")
        let other = try await make("b", "check")
        let server = try await start()
        var configuration = ClientConfiguration()
        configuration.apiKey = try key(file)
        configuration.connectionCountMax = 1
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        func ask() async -> String? {
            await Refusals.reason { () async throws(ClientError) in
                try await client.checkAccess(.customer("u"), product: "p")
            }
        }
        #expect(await ask() == nil)
        let id = configuration.apiKey.split(separator: "_")[1]
        #expect(try await tool(["revoke", String(id)]).end == .exit(2))
        #expect(try await tool(["revoke", String(id), "--yes"]).end == .exit(0))
        #expect(await ask() == nil)
        #expect(try await hangUp(server).contains("keys reloaded"))
        #expect(await ask() == "KEY_REVOKED")
        #expect(try await reason(server, try key(other)) == nil)
        // A bad file is named and changes nothing, neither for those who are known nor for others.
        _ = try directory.write(Array("junk\n".utf8), to: "keys.jsonl")
        let log = try await hangUp(server)
        #expect(log.contains("keys not reloaded") && log.contains("line 1: "))
        #expect(await ask() == "KEY_REVOKED")
        #expect(try await reason(server, try key(other)) == nil)
        _ = unsafe unlink(path)
        #expect(try await hangUp(server).contains("there is no such file"))
        #expect(try await reason(server, try key(other)) == nil)
    }

    @Test func `metrics ask for their role, probes for nothing`() async throws {
        let check = try await make("check", "check")
        let scraper = try await make("scraper", "metrics")
        let limited = try await make("limited", "admin", ["--apps", "com.example.meadow"])
        let server = try await start()
        #expect(try await metrics(server, nil).status == 401)
        #expect(try await metrics(server, "entk_x_y").status == 401)
        #expect(try await metrics(server, try key(check)).status == 403)
        #expect(try await metrics(server, try key(limited)).status == 403)
        _ = try await reason(server, "")
        let page = try await metrics(server, try key(scraper))
        #expect(page.status == 200)
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(text.contains("entitled_rpc_rejected_total{reason=\"auth\"} 1\n"))
        let id = try key(scraper).split(separator: "_")[1]
        let used = "entitled_key_last_used_timestamp_seconds{key=\"\(id)\"} "
        #expect(text.contains(used + "1") || text.contains(used + "2"))
        let open = try await start(["--auth-open-metrics"])
        #expect(try await metrics(open, nil).status == 200)
    }

    @Test func `a missing or wrong keys file keeps the server from starting`() async throws {
        let root = try directory.write(
            RehearsalAuthority(try TestCertificateAuthority()).rootPEM, to: "root.pem")
        let contents: [(String?, ProgramRun.End)] = [
            (nil, .exit(78)), ("{\"id\":\"a\"}\n", .exit(78)), ("# nobody\n", .exit(0)),
        ]
        for (content, end) in contents {
            if let content { _ = try directory.write(Array(content.utf8), to: "keys.jsonl") }
            let process = try ProgramRun(
                Programs.server,
                [
                    "--data", directory.path + "/d", "--bundle-id", "a", "--auth-keys-file", path,
                    "--environment", "Sandbox", "--apple-root", root, "--allow-test-root",
                    "--check-config",
                ], in: directory)
            #expect(try await process.waitForEnd() == end, "\(process.errorOutput)")
            let isNamed = process.errorOutput.contains("the keys file `\(path)`: ")
            #expect(isNamed == (end == .exit(78)), "\(process.errorOutput)")
        }
        _ = try directory.write([], to: "keys.jsonl")
        let server = try await start()
        #expect(server.process.errorOutput.contains("the keys file is empty: nobody may call"))
        #expect(try await reason(server, "entk_x_y") == "KEY_UNKNOWN")
    }

    @Test func `keys that others may read are warned of`() async throws {
        _ = try await make("a", "check")
        _ = unsafe chmod(path, 0o644)
        let server = try await start()
        #expect(server.process.errorOutput.contains("\"mode\":\"644\""))
    }
}

// MARK: - As an enemy

extension KeysTests {
    private func frame(_ id: UInt64, _ key: String, customer: String = "u") throws -> [UInt8] {
        var check = Message.CheckAccessRequest(
            customer: .customerID(Text(customer)), subject: .product("p"))
        check.scope = Message.Scope(bundleID: "com.example.meadow")
        var request = Request(id: id, call: .checkAccess(check))
        request.apiKey = Text(key)
        var output = OutputBuffer()
        try request.encodeFrame(into: &output, in: MessageArena(), frameByteCountMax: 1 << 20)
        return Text(copying: output.bytes).bytes
    }

    @Test func `ten thousand pipelined checks of two callers are each judged by their key`()
        async throws
    {
        let good = try key(try await make("a", "check"))
        let poor = try key(try await make("b", "ingest"))
        let server = try await start()
        let connection = try RawConnection(to: server.address)
        var expected: [UInt64: String] = [:]
        var bytes: [UInt8] = []
        var state: UInt64 = 1
        for id in 1...10_000 as ClosedRange<UInt64> {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let isGood = state >> 60 > 2
            expected[id] = isGood ? "" : "ROLE_MISSING"
            bytes += try frame(id, isGood ? good : poor)
        }
        async let answers = connection.answersUntilClose()
        try await connection.send(bytes)
        connection.shutdownWrites()
        for response in try await answers {
            #expect(response.reason.description == expected.removeValue(forKey: response.id))
        }
        #expect(expected.isEmpty)
    }

    @Test func `a guesser's connection is closed, a good one goes on`() async throws {
        let good = try key(try await make("a", "check"))
        let server = try await start()
        let guesser = try RawConnection(to: server.address)
        let honest = try RawConnection(to: server.address)
        try await honest.send(try frame(1, good))
        #expect(try await honest.answers(1).map(\.reason) == [""])
        var bytes: [UInt8] = []
        for id in 1...200 as ClosedRange<UInt64> { bytes += try frame(id, good + "\(id)") }
        try await guesser.send(bytes)
        let refused = try await guesser.answersUntilClose()
        #expect(refused.map(\.reason) == Array(repeating: "KEY_UNKNOWN", count: 32))
        try await honest.send(try frame(2, good))
        #expect(try await honest.answers(1).map(\.reason) == [""])
        // A key as long as a frame may be is refused like any other, and the connection goes on.
        let long = String(repeating: "k", count: 1_000_000)
        let last = try RawConnection(to: server.address)
        try await last.send(try frame(3, long) + (try frame(4, good)))
        #expect(try await last.answers(2).map(\.reason) == ["KEY_UNKNOWN", ""])
    }

    @Test func `two who change the file at once lose nothing`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<6 {
                group.addTask { _ = try await make("k\(index)", "check") }
            }
            try await group.waitForAll()
        }
        let records = try KeysFile(Array(directory.text(of: "keys.jsonl").utf8)).records
        #expect(Set(records.map(\.name)) == Set((0..<6).map { "k\($0)" }))
        let list = try await tool(["list", "--output", "json"])
        #expect(list.output.split(separator: "\n").count == 6)
        #expect(!list.output.contains("entk_") && !list.output.contains("sha256"))
    }
}
