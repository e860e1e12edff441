import EntitledClient
import FoundationEssentials
import Glibc
import HTTP
import TestSupport
import Testing

/// The HTTP door of a real server, as Apple, a probe and Prometheus find it.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct HTTPTests {
    private let client: HTTPClient

    init() throws {
        client = try HTTPClient(options: HTTPClientOptions(userAgent: "test"))
    }

    private func start(_ flags: [String] = []) async throws -> TestServer {
        try await TestServer.start(flags: ["--http", "127.0.0.1:0"] + flags)
    }

    /// Where the server of `process` listens for HTTP.
    private func base(_ server: TestServer) throws -> String {
        let words = server.process.output.split(separator: "\n")[0].split(separator: " ")
        let address = try #require(words.last { $0.hasPrefix("http=") })
        return "http://" + address.dropFirst("http=".count)
    }

    /// Sends on a thread that may wait.
    private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let client = client
        return try await Task.detached { try client.send(request) }.value
    }

    private func post(_ body: [UInt8], to server: TestServer) async throws -> HTTPResponse {
        try await send(
            HTTPRequest(
                method: "POST", target: try base(server) + "/apple/notifications", body: body))
    }

    private func get(_ path: String, from server: TestServer) async throws -> String {
        let response = try await send(HTTPRequest(target: try base(server) + path))
        return "\(response.status) " + String(decoding: response.body, as: UTF8.self)
    }

    @Test func `the first line names the HTTP listener last, with the port that was chosen`()
        async throws
    {
        let server = try await start()
        let line = server.process.output
        #expect(line.hasPrefix("listening rpc=127.0.0.1:"))
        #expect(line.contains(" http=127.0.0.1:") && !line.hasSuffix(":0\n"))
        #expect(line.split(separator: " ").count == 3)
        #expect(try await server.stop() == .exit(0))
    }

    @Test func `no HTTP listener is opened unless it is asked for`() async throws {
        let server = try await TestServer.start()
        #expect(!server.process.output.contains("http="))
    }

    @Test(arguments: [1, 7, 40])
    func `what was answered 200 survives a kill at that moment`(count: Int) async throws {
        let server = try await start()
        for index in 0..<count {
            let body = try server.fixtures.posted("ONE_TIME_CHARGE", "\(9_000 + index)")
            #expect(try await post(body, to: server).status == 200)
        }
        server.process.send(SIGKILL)
        #expect(try await server.process.waitForEnd() == .signal(SIGKILL))
        let second = try await server.restart()
        let reader = try second.client()
        defer { reader.close() }
        for index in 0..<count {
            let answer = try await reader.checkAccess(
                .originalTransaction("\(9_000 + index)"), product: "meadow.lifetime")
            #expect(answer.isGranted, "purchase \(index) was answered 200 and is lost")
        }
    }

    @Test func `what was posted is seen by the next check on every connection`() async throws {
        let server = try await start(["--threads", "2"])
        let clients = try (0..<4).map { _ in try server.client() }
        defer { for client in clients { client.close() } }
        for (index, client) in clients.enumerated() {
            let bought = try server.fixtures.posted("ONE_TIME_CHARGE", "\(9_500 + index)")
            #expect(try await post(bought, to: server).status == 200)
            #expect(
                try await client.checkAccess(
                    .originalTransaction("\(9_500 + index)"), product: "meadow.lifetime"
                ).isGranted)
            let refunded = try server.fixtures.posted(
                "REFUND", "\(9_500 + index)", revoked: Dates.refunded)
            #expect(try await post(refunded, to: server).status == 200)
            #expect(
                try await !client.checkAccess(
                    .originalTransaction("\(9_500 + index)"), product: "meadow.lifetime"
                ).isGranted)
        }
    }

    @Test func `each kind of wrong is told apart`() async throws {
        let server = try await start()
        let stranger = SignedFixtures(authority: try TestCertificateAuthority())
        let otherApp = SignedFixtures(
            authority: server.fixtures.authority, bundleID: "com.example.other")
        let cases: [([UInt8], Int, String)] = [
            (try stranger.posted("REFUND", "1"), 400, "UNTRUSTED_CHAIN"),
            (try otherApp.posted("REFUND", "1"), 400, "WRONG_APP"),
            (Array("{\"signedPayload\":\"a.b.c\"}".utf8), 400, "MALFORMED_PAYLOAD"),
            ([], 400, "MALFORMED_PAYLOAD"),
            (
                Array("{\"notification_type\":\"REFUND\",\"password\":\"guess\"}".utf8), 401,
                "V1_UNAUTHENTICATED"
            ),
        ]
        for (body, status, reason) in cases {
            let response = try await post(body, to: server)
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == status && text.contains(reason), "\(text)")
            #expect(!text.contains("guess"))
        }
        let client = try server.client()
        #expect(try await client.serverInfo().revision == 0)
        client.close()
        let wrongMethod = try await send(
            HTTPRequest(method: "PUT", target: try base(server) + "/apple/notifications"))
        #expect(wrongMethod.status == 405 && wrongMethod.fields.value("allow") == "POST")
        #expect(try await get("/", from: server).hasPrefix("404 "))
    }

    @Test func `probes answer while the server serves, and the log is silent of them`() async throws
    {
        let server = try await start(["--log-level", "debug"])
        for path in ["/livez", "/readyz", "/healthz", "/startupz"] {
            #expect(try await get(path, from: server) == "200 ok\n")
        }
        #expect(try await get("/readyz?verbose", from: server).contains("[+] store"))
        #expect(!server.process.errorOutput.contains("livez"))
        #expect(try await server.stop() == .exit(0))
    }

    @Test func `a stop is told to probes while calls are under way`() async throws {
        let server = try await start()
        let client = try server.client()
        let call = Task {
            _ = try? await client.checkAccess(
                AccessQuestion(customer: .customer("u"), subject: .product("p"), minRevision: 5),
                timeout: .seconds(8))
        }
        // The call waits in the server for its revision, so the drain takes until its deadline.
        try await Task.sleep(for: .milliseconds(300))
        server.process.send(SIGTERM)
        let log = try await eventually("it drains") {
            server.process.errorOutput.contains("draining") ? true : nil
        }
        #expect(log)
        let ready = try? await get("/readyz", from: server)
        let posted = try? await post(
            try server.fixtures.posted("ONE_TIME_CHARGE", "1"), to: server)
        // Where the client gave its connection up first, the listener is gone already.
        #expect(ready?.hasPrefix("503 ") != false && posted?.status ?? 503 == 503)
        await call.value
        client.close()
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test func `a posted flood is answered whole, and a stop in it loses nothing`() async throws {
        let server = try await start()
        let bodies = try (0..<80).map {
            try server.fixtures.posted("ONE_TIME_CHARGE", "\(8_000 + $0)")
        }
        let answered = await withTaskGroup(of: Int?.self) { group in
            for (index, body) in bodies.enumerated() {
                group.addTask {
                    let response = try? await post(body, to: server)
                    if index == 30 { server.process.send(SIGTERM) }
                    return response?.status == 200 ? index : nil
                }
            }
            return await group.reduce(into: [Int]()) { if let index = $1 { $0.append(index) } }
        }
        #expect(try await server.process.waitForEnd() == .exit(0))
        let second = try await server.restart()
        let reader = try second.client()
        defer { reader.close() }
        for index in answered {
            let answer = try await reader.checkAccess(
                .originalTransaction("\(8_000 + index)"), product: "meadow.lifetime")
            #expect(answer.isGranted, "purchase \(index) was answered 200 and is lost")
        }
    }
}

// MARK: - Metrics

extension HTTPTests {
    /// The value of a series in a scrape.
    private func value(_ series: String, in text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
            .flatMap { Double($0.dropFirst(series.count + 1)) }
    }

    @Test func `metrics count what backends and Apple did`() async throws {
        let server = try await start()
        let client = try server.client()
        defer { client.close() }
        let body = try server.fixtures.posted("ONE_TIME_CHARGE", "1", uuid: "a")
        for _ in 0..<2 { #expect(try await post(body, to: server).status == 200) }
        for _ in 0..<5 {
            _ = try await client.checkAccess(.originalTransaction("1"), product: "meadow.lifetime")
        }
        _ = try await client.checkAccess(.customer("nobody"), product: "meadow.lifetime")
        let calls = "entitled_rpc_requests_total{method=\"CheckAccess\",code=\"OK\"}"
        // A call is counted when it is answered, its time once the answers have left.
        let times = "entitled_rpc_duration_seconds_count{method=\"CheckAccess\"}"
        let text = try await scrape(server) {
            value(calls, in: $0) == 6 && value(times, in: $0) == 6
        }
        let world = "app=\"com.example.meadow\",environment=\"production\""
        #expect(value("entitled_check_results_total{\(world),result=\"allowed\"}", in: text) == 5)
        #expect(value("entitled_check_results_total{\(world),result=\"denied\"}", in: text) == 1)
        #expect(
            value("entitled_check_denied_reason_total{reason=\"unknown_customer\"}", in: text) == 1)
        let ingested = "entitled_ingest_notifications_total{\(world),type=\"ONE_TIME_CHARGE\""
        #expect(value("\(ingested),outcome=\"applied\"}", in: text) == 1)
        #expect(value("\(ingested),outcome=\"duplicate\"}", in: text) == 1)
        #expect(value("entitled_revision", in: text) == 1)
        #expect(value("entitled_connections{listener=\"rpc\"}", in: text) == 1)
        #expect(value(times, in: text) == 6)
        #expect((value("process_resident_memory_bytes", in: text) ?? 0) > 1_000_000)
    }

    /// Scrapes until the loops have told what is waited for.
    private func scrape(
        _ server: TestServer, until isThere: (String) -> Bool
    ) async throws -> String {
        for _ in 0..<600 {
            let text = try await get("/metrics", from: server)
            if isThere(text) { return text }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await get("/metrics", from: server)
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool")))
    func `promtool finds nothing wrong with the metrics`() async throws {
        let server = try await start()
        let body = try server.fixtures.posted("REFUND", "1", revoked: Dates.refunded)
        #expect(try await post(body, to: server).status == 200)
        let text = try await get("/metrics", from: server)
        let path = try server.directory.write(
            Array(text.drop { $0 != "\n" && $0 != "#" }.utf8), to: "metrics.txt")
        let check = try ProgramRun(
            "/usr/bin/promtool", ["check", "metrics"], in: server.directory, inputPath: path)
        #expect(try await check.waitForEnd() == .exit(0), "\(check.errorOutput)")
    }
}
