import EntitledClient
import FoundationEssentials
import TestSupport
import Testing

/// `entitlectl export` from a real server.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct ExportTests {
    private func server() async throws -> TestServer {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        for id in ["7000", "7001"] {
            _ = try await client.ingestNotification(
                try server.fixtures.posted("ONE_TIME_CHARGE", id))
        }
        _ = try await client.ingestNotification(
            try server.fixtures.posted("REFUND", "7000", revoked: Dates.refunded))
        _ = try await server.tool(["link", "=cmd", "--original-transaction-id", "7001"])
        return server
    }

    private func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: true)
    }

    @Test func `each table has its rows, in both formats`() async throws {
        let server = try await server()
        for (table, count) in [
            ("customers", 2), ("transactions", 2), ("events", 3), ("refunds", 1),
        ] {
            let jsonl = try await server.tool(["export", "--what", table])
            #expect(jsonl.end == .exit(0), "\(jsonl.errorOutput)")
            #expect(lines(jsonl.output).count == count, "\(table): \(jsonl.output)")
            #expect(lines(jsonl.output).allSatisfy { $0.hasPrefix("{\"customer_id\":") })
            let csv = try await server.tool(["export", "--what", table, "--format", "csv"])
            #expect(csv.end == .exit(0) && csv.output.hasPrefix("customer_id,"))
            #expect(csv.output.split(separator: "\r\n").count == count + 1, "\(csv.output)")
        }
        let transactions = try await server.tool(["export", "--what", "transactions"])
        #expect(transactions.output.contains("\"signed_payload\":\"eyJ"))
        let customers = try await server.tool(["export", "--what", "customers", "--format", "csv"])
        #expect(customers.output.contains("\r\n'=cmd,"), "\(customers.output)")
        try await server.stop()
    }

    @Test func `instants divide, and mistakes are named`() async throws {
        let server = try await server()
        for (flags, count) in [
            (["--since", "\(Dates.bought)"], 2), (["--since", "\(Dates.bought + 1)"], 0),
            (["--until", "\(Dates.bought)"], 0), (["--until", "\(Dates.bought + 1)"], 2),
        ] {
            let result = try await server.tool(["export", "--what", "transactions"] + flags)
            #expect(lines(result.output).count == count, "\(flags)")
        }
        for arguments in [
            [], ["--what", "secrets"], ["--what", "events", "--format", "xml"],
            ["--what", "customers", "--since", "2026-01-01"],
        ] {
            let result = try await server.tool(["export"] + arguments)
            #expect(result.end == .exit(2) && result.output.isEmpty, "\(arguments)")
        }
        try await server.stop()
    }
}
