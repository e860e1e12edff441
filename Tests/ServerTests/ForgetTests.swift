import EntitledClient
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Somebody is forgotten by a real server, and looked for in its files.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct ForgetTests {
    private static let names: FixtureChanges = [
        "appAccountToken": .string("6f1e43c8-token-of-mary"),
        "appTransactionId": .string("70451-account-of-mary"),
    ]
    private static let texts = [
        "mary.smith@example.com", "6f1e43c8-token-of-mary", "70451-account-of-mary",
        "home-of-mary",
    ]

    /// What Apple POSTs of a purchase of hers.
    private func posted(
        _ server: TestServer, _ type: String, _ id: String, original: String? = nil,
        revoked: Int64? = nil
    ) throws -> [UInt8] {
        let jws = try server.fixtures.transaction(
            id, original: original, product: "meadow.lifetime", purchased: Dates.bought,
            revoked: revoked, signed: revoked, changes: Self.names)
        return SignedFixtures.body(
            try server.fixtures.notification(
                type, uuid: UUID().uuidString, signed: (revoked ?? Dates.bought) + 3_000,
                data: server.fixtures.notificationData(transaction: jws)))
    }

    /// Mary beside ten others, with what puts her names into every kind of record.
    private func makeMary(_ server: TestServer) async throws {
        let client = try server.client()
        defer { client.close() }
        for index in 0..<10 {
            _ = try await client.ingestNotification(
                try server.fixtures.posted("ONE_TIME_CHARGE", "\(7_000 + index)"))
        }
        _ = try await client.ingestNotification(try posted(server, "ONE_TIME_CHARGE", "8000"))
        let linked = try await server.tool([
            "link", Self.texts[0], "--original-transaction-id", "8000", "--household",
            "home-of-mary",
        ])
        #expect(linked.end == .exit(0), "\(linked.errorOutput)")
        _ = try await client.ingestNotification(
            try posted(server, "ONE_TIME_CHARGE", "8001", original: "8001"))
    }

    /// The files of the data directory in which a name of hers stands.
    private func files(_ server: TestServer) throws -> [String] {
        let data = server.directory.path + "/data"
        let names = try FileManager.default.subpathsOfDirectory(atPath: data)
        return names.filter { name in
            guard let content = FileManager.default.contents(atPath: data + "/" + name) else {
                return false
            }
            return Self.texts.contains { content.firstRange(of: Data($0.utf8)) != nil }
        }.sorted()
    }

    private func expectNoName(
        _ server: TestServer, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let left = try files(server)
        #expect(left == [], "\(left)", sourceLocation: location)
    }

    private func waitUntilErased(_ number: UInt64, _ client: Client) async throws {
        while try await !client.forgottenCustomer(number: number).isErased {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func verify(_ server: TestServer) async throws {
        let verified = try await server.tool(["verify", server.directory.path + "/data"])
        #expect(verified.end == .exit(0), "\(verified.output)\(verified.errorOutput)")
    }

    @Test(arguments: [false, true])
    func `no file of the data directory names her after the answer`(isReopened: Bool) async throws {
        var server = try await TestServer.start()
        try await makeMary(server)
        if isReopened {
            // A start moves the log into tables.
            try await server.stop()
            server = try await server.restart()
        }
        #expect(try !files(server).isEmpty)
        let dry = try await server.tool(["customer", "forget", Self.texts[0], "--dry-run"])
        #expect(dry.end == .exit(0) && dry.output.contains("customer_id:\(Self.texts[0])"))
        let asked = try await server.tool(["customer", "forget", Self.texts[0]])
        #expect(asked.end == .exit(2) && asked.errorOutput.contains("--yes"))
        #expect(try !files(server).isEmpty)
        let result = try await server.tool([
            "customer", "forget", Self.texts[0], "--yes", "--output", "json",
        ])
        #expect(result.end == .exit(0), "\(result.errorOutput)")
        #expect(result.output.contains("\"erased\":true"), "\(result.output)")
        #expect(result.output.contains("\"transactions\":2"), "\(result.output)")
        try expectNoName(server)
        let client = try server.client()
        let unknown = try await client.checkAccess(
            .customer(Self.texts[0]), product: "meadow.lifetime")
        #expect(unknown.reason == .unknownCustomer)
        // What Apple says of her later is counted, and leaves no name either.
        for id in ["8000", "8001"] {
            _ = try await client.ingestNotification(
                try posted(server, "REFUND", id, revoked: Dates.refunded))
        }
        let refunded = try await client.checkAccess(
            .originalTransaction("8000"), product: "meadow.lifetime")
        #expect(refunded.reason == .refunded)
        client.close()
        let again = try await server.tool(["customer", "forget", Self.texts[0], "--yes"])
        #expect(again.end == .exit(4) && again.errorOutput.contains("UNKNOWN_CUSTOMER"))
        let report = try await server.tool(["refunds", "report", "--output", "json"])
        #expect(report.end == .exit(0) && report.output.contains("\"8000\""))
        try expectNoName(server)
        try await server.stop()
        try expectNoName(server)
        try await verify(server)
    }

    @Test(arguments: [0, 1, 5, 20])
    func `a server that is killed meanwhile goes on at its next start`(delay: Int) async throws {
        let server = try await TestServer.start()
        try await makeMary(server)
        let client = try server.client()
        let told = try await client.forgetCustomer(.customer(Self.texts[0]))
        try await Task.sleep(for: .milliseconds(delay))
        server.process.send(SIGKILL)
        client.close()
        try await server.process.waitForEnd()
        let second = try await server.restart()
        let reader = try second.client()
        defer { reader.close() }
        try await waitUntilErased(told.number, reader)
        try expectNoName(second)
        let answer = try await reader.checkAccess(
            .originalTransaction("8001"), product: "meadow.lifetime")
        #expect(answer.isGranted)
        try await second.stop()
        try await verify(second)
    }

    @Test func `beside a stream of notifications for her nothing is left`() async throws {
        let server = try await TestServer.start()
        try await makeMary(server)
        let client = try server.client()
        let bodies = try (0..<150).map {
            try posted(server, "ONE_TIME_CHARGE", "\(9_000 + $0)", original: "8000")
        }
        let stream = Task {
            for body in bodies { _ = try await client.ingestNotification(body) }
        }
        try await Task.sleep(for: .milliseconds(50))
        let told = try await client.forgetCustomer(.customer(Self.texts[0]))
        try await stream.value
        try await waitUntilErased(told.number, client)
        let view = try await client.customer(.originalTransaction("8000"))
        #expect(view.transactions.count == 152)
        #expect(view.transactions.allSatisfy { $0.appAccountToken.isEmpty })
        client.close()
        try expectNoName(server)
        try await server.stop()
        try await verify(server)
    }

    @Test func `the audit of calls names whom by his number`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/keys.jsonl"
        let made = try await ToolResult.run(
            ["key", "create", "--name", "ops", "--roles", "admin", "--keys-file", path],
            in: directory)
        let key = try directory.write(Array(made.output.utf8), to: "ops.key")
        let server = try await TestServer.start(
            flags: ["--auth-keys-file", path], keeping: [directory])
        let environment = ["ENTITLECTL_KEY_FILE": key]
        _ = try await server.tool(
            ["link", Self.texts[0], "--original-transaction-id", "8000"],
            environment: environment)
        let result = try await server.tool(
            ["customer", "forget", Self.texts[0], "--yes"], environment: environment)
        #expect(result.end == .exit(0), "\(result.errorOutput)")
        try await server.stop()
        let audit = FileManager.default.contents(
            atPath: server.directory.path + "/data/audit.jsonl")
        let lines = String(decoding: audit ?? Data(), as: UTF8.self).split(separator: "\n")
            .filter { $0.contains("ForgetCustomer") }
        #expect(lines.contains { $0.contains("\"target\":\"number:1\"") }, "\(lines)")
        #expect(lines.allSatisfy { !$0.contains(Self.texts[0]) && $0.contains("ops") })
    }
}
