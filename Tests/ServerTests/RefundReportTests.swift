import EntitledClient
import FoundationEssentials
import TestSupport
import Testing

/// What a real server has metered, in what the tool reports.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct RefundReportTests {
    private struct Report: Decodable {
        struct Leak: Decodable {
            var checks: Int
            var units: Int
            var periods: Int
        }
        struct Refund: Decodable {
            var transactionId: String
            var refundedAt: String
            var refundedMilliunits: Int
            var peopleWithAccess: Int
            var peopleServed: Int
            var leaked: Leak
        }
        var refunds: [Refund]
    }

    /// A purchase shared with Mary, and three checks of hers today.
    private func serve(_ server: TestServer) async throws {
        let client = try server.client()
        defer { client.close() }
        for (name, id, ownership) in [
            ("buyer", "1", "PURCHASED"), ("mary", "2", "FAMILY_SHARED"),
        ] {
            let link = try await server.tool(
                ["link", name, "--original-transaction-id", id, "--household", "h"])
            #expect(link.end == .exit(0), "\(link.errorOutput)")
            _ = try await client.ingestNotification(
                try server.fixtures.posted("ONE_TIME_CHARGE", id, ownership: ownership))
        }
        var question = AccessQuestion(
            customer: .customer("mary"), subject: .product("meadow.lifetime"))
        question.units = 2
        for _ in 0..<3 { #expect(try await client.checkAccess(question).isGranted) }
    }

    @Test func `what was served before a restart is on the bill of a refund after it`()
        async throws
    {
        let first = try await TestServer.start()
        try await serve(first)
        #expect(try await first.stop() == .exit(0))
        let server = try await first.restart()
        let refund = try server.fixtures.posted("REFUND", "1", revoked: Dates.refunded)
        #expect(try await server.tool(["ingest", "-"], input: refund).end == .exit(0))
        let json = try await server.tool(["refunds", "report", "--format", "json"])
        #expect(json.end == .exit(0), "\(json.errorOutput)")
        let report = try JSONDecoder().decode(Report.self, from: Data(json.output.utf8))
        let line = try #require(report.refunds.first)
        #expect(line.transactionId == "1" && line.refundedMilliunits == 9_990)
        #expect(line.refundedAt == "2024-03-09T16:00:00.000Z")
        #expect(line.peopleWithAccess == 2 && line.peopleServed == 1)
        // Refunded in 2024, learnt now: all of today's use has leaked, in both people's one period.
        #expect(line.leaked.checks == 3 && line.leaked.units == 6 && line.leaked.periods == 2)
        let csv = try await server.tool(["refunds", "report", "--by", "month", "--format", "csv"])
        #expect(csv.output.contains("\r\n2024-03,EUR,1,9990,2,1,0,0,0,0,"))
        let none = try await server.tool(["refunds", "report", "--from", "2024-04-01"])
        #expect(none.end == .exit(0) && none.output == "no payment was refunded in that time\n")
        let chart = server.directory.path + "/refunds.html"
        let drawn = try await server.tool(["refunds", "report", "--chart", chart])
        #expect(drawn.end == .exit(0) && drawn.output.hasPrefix("Refunds\n"))
        let page = try String(contentsOf: URL(filePath: chart), encoding: .utf8)
        #expect(page.contains("9.99 EUR paid back"))
        _ = try await server.stop()
    }

    @Test(
        arguments: [
            (["--by", "week"], 2, "`week`"), (["--format", "xml"], 2, "`xml`"),
            (["--chart", "a.png"], 2, "`a.png`"), (["--from", "soon"], 2, "`soon`"),
            (["--formt", "csv"], 2, "did you mean --format?"),
        ] as [([String], Int32, String)])
    func `a mistake ends with its code and says what to do`(
        arguments: [String], code: Int32, word: String
    ) async throws {
        let result = try await ToolResult.run(
            ["refunds", "report"] + arguments, in: TemporaryDirectory())
        #expect(result.end == .exit(code))
        #expect(result.errorOutput.contains(word), "\(result.errorOutput)")
        #expect(result.output.isEmpty)
    }
}
