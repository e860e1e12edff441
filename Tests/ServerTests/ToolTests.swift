import EntitledClient
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// `entitlectl` as scripts and people meet it.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct ToolTests {
    private static let mistakes: [([String], Int32, String)] = [
        ([], 2, "no command"), (["chek", "u", "p"], 2, "did you mean `check`?"),
        (["customer"], 2, "customer show"), (["customer", "shwo", "u"], 2, "customer show"),
        (["check"], 2, "CUSTOMER"), (["check", "u"], 2, "PRODUCT"),
        (["check", "u", "p", "q"], 2, "`q`"),
        (["check", "u", "p", "--entitlement", "e"], 2, "one of"),
        (["check", "u", "p", "--tineout", "1s"], 2, "did you mean --timeout?"),
        (["check", "u", "p", "--timeout"], 2, "needs a value"),
        (["check", "u", "p", "--timeout", "soon"], 2, "`soon`"),
        (["check", "u", "p", "--timeout", "1s", "--timeout", "2s"], 2, "twice"),
        (["check", "u", "p", "--transfer"], 2, "has no flag --transfer"),
        (["check", "u", "p", "--at", "2026-02-30"], 2, "2026-02-30"),
        (["check", "u", "p", "--output", "xml"], 2, "`xml`"),
        (["check", "u", "p", "--environment", "test"], 2, "`test`"),
        (["check", "u", "p", "-x"], 2, "-x"), (["check", "token:", "p"], 2, "names no customer"),
        (["check", "u", "p", "--quiet=yes"], 2, "takes no value"),
        (["link", "u"], 2, "nothing to link"),
        (["link", "token:x", "--household", "h"], 2, "Apple"),
        (["link", "u", "--household", "h", "--leave-household"], 2, "contradict"),
        (["rehearse", "--root", "r"], 2, "--into"),
        (["rehearse", "--into", "x", "--keep"], 2, "--keep"),
        (["rebuild"], 2, "--all"), (["rebuild", "u", "--all"], 2, "not both"),
        (["rebuild", "u", "--rate", "5/s"], 2, "--all"),
        (["rebuild", "--all", "--rate", "0/s"], 2, "`0/s`"),
        (["backfill"], 2, "--from"), (["backfill", "--resume", "1:2:some:t"], 2, "no token"),
        (["backfill", "--resume", "2:2:all:t"], 2, "no token"),
        (["backfill", "--resume", "1:2:all:t", "--from", "2026-01-01"], 2, "leave the other"),
        (["backfill", "--from", "2026-03-01", "--to", "2026-03-01"], 2, "not before"),
        (["family"], 2, "family show"), (["family", "show"], 2, "CUSTOMER"),
        (["family", "show", "u", "--household", "h"], 2, "one of them"),
        (["family", "link", "u"], 2, "--household"), (["family", "unlink"], 2, "CUSTOMER"),
        (["family", "unlink", "token:x"], 2, "Apple"),
        (["customers", "list", "--limit", "0"], 2, "`0`"),
        (["apple", "test-notification", "--wait", "soon"], 2, "`soon`"),
        (["backup"], 2, "backup create"), (["backup", "prune", "x"], 2, "--keep"),
        (["backup", "prune", "x", "--keep", "0"], 2, "--keep"), (["backup", "list"], 2, "DIR"),
        (["restore", "x"], 2, "--to"), (["restore", "/nonexistent", "--to", "x"], 4, "MANIFEST"),
        (["verify", "/nonexistent"], 4, "no such directory"),
        (["backup", "verify", "/nonexistent"], 4, "MANIFEST"),
        (["ingest", "/nonexistent"], 1, "no such file"),
        (["health", "--addr", "example.com:1"], 2, "--addr"),
        (["health", "--addr", "127.0.0.1:1"], 6, "127.0.0.1:1"),
    ]

    @Test(arguments: mistakes)
    func `a mistake ends with its code and says what to do`(
        sample: (arguments: [String], code: Int32, word: String)
    ) async throws {
        let result = try await ToolResult.run(sample.arguments, in: TemporaryDirectory())
        #expect(result.end == .exit(sample.code))
        #expect(result.errorOutput.contains(sample.word), "\(result.errorOutput)")
        #expect(result.output.isEmpty)
    }

    @Test func `a wrong environment variable is bad configuration`() async throws {
        let result = try await ToolResult.run(
            ["health"], environment: ["ENTITLECTL_ADDR": "nowhere"], in: TemporaryDirectory())
        #expect(result.end == .exit(78) && result.errorOutput.contains("ENTITLECTL_ADDR"))
    }

    @Test(arguments: [
        ["--help"], ["help"], ["-h"], ["check", "--help"], ["customer", "--help"],
        ["help", "link"],
        ["explain", "--help"], ["ingest", "--help"], ["rebuild", "--help"], ["health", "--help"],
        ["rehearse", "--help"], ["version", "--help"], ["family", "--help"], ["audit", "--help"],
        ["backfill", "--help"], ["reconciliation", "--help"], ["customers", "--help"],
        ["apple", "--help"], ["backup", "--help"], ["restore", "--help"], ["verify", "--help"],
    ])
    func `help goes to stdout and has an example`(arguments: [String]) async throws {
        let result = try await ToolResult.run(arguments, in: TemporaryDirectory())
        #expect(result.end == .exit(0) && result.errorOutput.isEmpty)
        #expect(result.output.contains("  entitlectl "))
    }

    @Test func `check says yes or no, and as exit code where asked`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        _ = try await client.ingestTransactions(
            TransactionUpload(
                customerID: "u", signedTransactions: [try server.fixtures.signedText("1")]))
        let yes = try await server.tool(["check", "u", "meadow.lifetime"])
        #expect(yes.end == .exit(0) && yes.output.hasPrefix("granted  ACTIVE\n"))
        #expect(!yes.output.contains("\u{1B}"))
        let json = try await server.tool(["check", "u", "meadow.lifetime", "--output", "json"])
        #expect(
            json.output == """
                {"customer":"u","product":"meadow.lifetime","at":null,"granted":true,\
                "reason":"ACTIVE","ownership":"PURCHASED","validUntil":null,\
                "productId":"meadow.lifetime","transactionId":"1","originalTransactionId":"1",\
                "revision":1}

                """)
        let no = try await server.tool(["check", "other", "meadow.lifetime"])
        #expect(no.end == .exit(0) && no.output.hasPrefix("denied  UNKNOWN_CUSTOMER\n"))
        for (arguments, code) in [
            (["check", "u", "meadow.lifetime", "--exit-code"], Int32(0)),
            (["check", "other", "meadow.lifetime", "--exit-code"], 3),
            (["check", "original-transaction:1", "meadow.lifetime", "--exit-code"], 0),
            (["check", "u", "meadow.lifetime", "--at", "2001-01-01", "--exit-code"], 3),
            (["check", "u", "meadow.lifetime", "--environment", "sandbox", "--exit-code"], 3),
            (["check", "u", "p", "--bundle-id", "com.other"], 1),
            (["customer", "show", "nobody"], 4), (["rebuild", "nobody"], 4),
            (["rebuild", "u", "--source", "app-store"], 7),
            (["link", "v", "--original-transaction-id", "1"], 7),
            (["link", "v", "--original-transaction-id", "1", "--transfer"], 0),
        ] {
            let result = try await server.tool(arguments)
            #expect(result.end == .exit(code), "\(arguments): \(result.errorOutput)")
        }
    }

    @Test func `ingest takes one body, or many, one a line`() async throws {
        let server = try await TestServer.start()
        let bodies = try (0..<100).map {
            try server.fixtures.posted("ONE_TIME_CHARGE", "4\(100 + $0)")
        }
        let single = try await server.tool(["ingest", "-"], input: bodies[0])
        #expect(single.end == .exit(0) && single.output.hasPrefix("APPLIED  ONE_TIME_CHARGE"))
        let pretty = Array("{\n \"signedPayload\":\n".utf8) + bodies[1].dropFirst(17)
        #expect(try await server.tool(["ingest", "-"], input: pretty).end == .exit(0))
        let all = Array(bodies.joined(separator: [0x0A]))
        let many = try await server.tool(["ingest", "-", "--output", "json"], input: all)
        #expect(many.end == .exit(0))
        let lines = many.output.split(separator: "\n")
        #expect(lines.count == 100)
        #expect(lines.filter { $0.contains("\"disposition\":\"APPLIED\"") }.count == 98)
        #expect(lines.filter { $0.contains("\"disposition\":\"DUPLICATE\"") }.count == 2)
        let mixed = bodies[0] + [0x0A] + Array("{\"signedPayload\":\"x\"}\n".utf8) + bodies[2]
        let partly = try await server.tool(["ingest", "-"], input: mixed)
        #expect(partly.end == .exit(1) && partly.errorOutput.contains("line 2"))
        #expect(partly.errorOutput.contains("2 of 3"))
        #expect(try await server.tool(["ingest", "-"], input: []).end == .exit(1))
    }

    @Test func `what a server sends cannot steer the terminal`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        let name = "u\u{1B}]0;owned\u{7}\u{9B}2J\n\u{202E}x"
        _ = try await client.ingestTransactions(
            TransactionUpload(
                customerID: name, signedTransactions: [try server.fixtures.signedText("1")]))
        for arguments in [
            ["customer", "show", "original-transaction:1"],
            ["customer", "show", "original-transaction:1", "--output", "json"],
            ["explain", "original-transaction:1", "meadow.lifetime"],
            ["check", name, "meadow.lifetime", "--output", "json"],
        ] {
            let result = try await server.tool(arguments)
            #expect(result.end == .exit(0))
            #expect(result.output.contains("owned"))
            #expect(
                result.output.unicodeScalars.allSatisfy {
                    $0 == "\n"
                        || ($0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
                            && $0.value != 0x202E)
                })
        }
    }

    @Test func `explain tells refund from departure, and how sure it is`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        let fixtures = server.fixtures
        func post(_ type: String, _ id: String, _ ownership: String, revoked: Int64?) async throws {
            _ = try await client.ingestNotification(
                try fixtures.posted("ONE_TIME_CHARGE", id, ownership: ownership))
            let signed = revoked == nil ? Dates.refunded : nil
            _ = try await client.ingestNotification(
                try fixtures.posted(
                    type, id, ownership: ownership, revoked: revoked, signed: signed))
        }
        try await post("REFUND", "1", "PURCHASED", revoked: Dates.refunded)
        try await post("REVOKE", "2", "FAMILY_SHARED", revoked: Dates.refunded)
        try await post("REVOKE", "3", "FAMILY_SHARED", revoked: nil)
        for (id, cause, isReversed, isCertain, words) in [
            ("1", "REFUND", true, true, "A payment went back to this customer."),
            ("2", "REFUND", true, false, "Most likely the person who paid got the money back."),
            ("3", "DEPARTURE", false, true, "No payment went back to anybody."),
            ("4", "NOTHING_BOUGHT", false, true, "no purchase has arrived"),
        ] {
            let result = try await server.tool([
                "explain", "original-transaction:\(id)", "meadow.lifetime", "--output", "json",
            ])
            #expect(result.end == .exit(0))
            for member in [
                "\"cause\":\"\(cause)\"", "\"paymentReversed\":\(isReversed)",
                "\"causeCertain\":\(isCertain)", words,
            ] {
                #expect(result.output.contains(member), "\(member) in \(result.output)")
            }
        }
    }

    @Test func `a dry run shows the difference and changes nothing`() async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        _ = try await client.ingestTransactions(
            TransactionUpload(
                customerID: "u", signedTransactions: [try server.fixtures.signedText("1")]))
        let revision = try await client.serverInfo().revision
        let result = try await server.tool(["rebuild", "u", "--dry-run"])
        #expect(result.end == .exit(0))
        #expect(result.output.contains("read 1 transaction from the stored facts"))
        #expect(result.output.contains("nothing would change"))
        #expect(try await client.serverInfo().revision == revision)
    }
}
