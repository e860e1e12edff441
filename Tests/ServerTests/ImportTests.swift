import EntitledClient
import FoundationEssentials
import TestSupport
import Testing

/// `entitlectl import` of what `entitlectl export` wrote, between real servers.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct ImportTests {
    /// A buyer, his family, somebody who left, somebody moved, and a name that is a formula.
    private func fill(_ server: TestServer) async throws {
        let client = try server.client()
        defer { client.close() }
        let fixtures = server.fixtures
        let bodies = [
            try fixtures.posted("ONE_TIME_CHARGE", "7000"),
            try fixtures.posted("REFUND", "7000", revoked: Dates.refunded),
            try fixtures.posted("ONE_TIME_CHARGE", "7001", ownership: "FAMILY_SHARED"),
            try fixtures.posted("ONE_TIME_CHARGE", "7002", ownership: "FAMILY_SHARED"),
            try fixtures.posted("REVOKE", "7002", ownership: "FAMILY_SHARED", signed: 1 << 41),
            try fixtures.posted("ONE_TIME_CHARGE", "7003", account: "A3"),
            try fixtures.posted("ONE_TIME_CHARGE", "7004", account: "A4"),
        ]
        for body in bodies { _ = try await client.ingestNotification(body) }
        let links = [
            CustomerLink(
                customerID: "=buyer", identity: .originalTransaction("7000"),
                household: .join("h \"1\"")),
            CustomerLink(
                customerID: "member", identity: .originalTransaction("7001"),
                household: .join("h \"1\"")),
            CustomerLink(customerID: "'left", identity: .originalTransaction("7002")),
            CustomerLink(customerID: "first", identity: .originalTransaction("7003")),
            CustomerLink(
                customerID: "second", identity: .originalTransaction("7003"),
                transfersOwnership: true),
            CustomerLink(customerID: "nul\u{0}and,\r\n", identity: .appAccountToken("t t")),
            CustomerLink(customerID: "bare", household: .leave),
        ]
        for link in links { _ = try await client.linkCustomer(link) }
        _ = try await client.ingestTransactions(
            TransactionUpload(
                customerID: "renewing",
                signedTransactions: [
                    String(
                        decoding: try fixtures.transaction(
                            "8000", product: "meadow.plus", purchased: Dates.bought,
                            expires: Dates.bought + 1_000), as: UTF8.self)
                ],
                signedRenewals: [
                    String(
                        decoding: try fixtures.renewal(
                            "8000", product: "meadow.plus", renewal: Dates.bought,
                            signed: Dates.bought,
                            changes: [
                                "gracePeriodExpiresDate": .integer(Dates.bought + 86_400_000)
                            ]), as: UTF8.self)
                ]))
    }

    private let people = [
        CustomerReference.customer("=buyer"), .customer("member"), .customer("'left"),
        .customer("first"), .customer("second"), .customer("nul\u{0}and,\r\n"),
        .customer("renewing"), .customer("bare"), .customer("nobody"), .appTransaction("A4"),
        .originalTransaction("7004"), .appAccountToken("t t"),
    ]

    private func verdicts(_ server: TestServer) async throws -> [String] {
        let client = try server.client()
        defer { client.close() }
        var verdicts: [String] = []
        for person in people {
            for product in ["meadow.lifetime", "meadow.plus"] {
                for instant in [
                    Dates.bought - 1, Dates.bought, Dates.bought + 5_000, Dates.refunded,
                    Dates.refunded + 10_000, 1 << 42,
                ] {
                    var answer = try await client.checkAccess(
                        AccessQuestion(
                            customer: person, subject: .product(product), atMilliseconds: instant))
                    answer.revision = 0
                    verdicts.append("\(person) \(product) \(instant): \(answer)")
                }
            }
        }
        return verdicts
    }

    /// A server that trusts the same authority.
    private func target(like source: TestServer) async throws -> TestServer {
        try await TestServer.start(authorities: [source.fixtures.authority])
    }

    @Test(arguments: ["jsonl", "csv"])
    func `export and import give the same answers`(format: String) async throws {
        let source = try await TestServer.start()
        try await fill(source)
        let expected = try await verdicts(source)
        #expect(Set(expected.map { $0.contains("isGranted: true") }) == [true, false])
        let target = try await target(like: source)
        for table in ["customers", "transactions"] {
            let exported = try await source.tool(
                ["export", "--what", table, "--format", format])
            #expect(exported.end == .exit(0), "\(exported.errorOutput)")
            let input = Array(exported.output.utf8)
            let dry = try await target.tool(["import", "-", "--dry-run"], input: input)
            #expect(dry.end == .exit(0), "\(dry.errorOutput)")
            // The same once more does no harm, and says so.
            for repeated in [false, true] {
                let result = try await target.tool(
                    ["import", "-", "--what", table, "--output", "json"], input: input)
                #expect(result.end == .exit(0), "\(result.errorOutput) \(result.output)")
                let isNothing =
                    result.output.contains("\"learnt\":0,")
                    && result.output.contains("\"links\":0,")
                #expect(isNothing == repeated, "\(table): \(result.output)")
            }
        }
        let found = try await verdicts(target)
        for (found, expected) in zip(found, expected) { #expect(found == expected) }
        #expect(found.count == expected.count)
        // What is exported from there says the same of whom it concerns.
        for table in ["customers", "transactions"] {
            var cells: [Set<String>] = []
            for server in [source, target] {
                let exported = try await server.tool(["export", "--what", table])
                cells.append(
                    Set(
                        exported.output.split(separator: "\n").map { line in
                            String(
                                line.replacing(/"revision":[0-9]+/, with: "")
                                    .replacing(/[0-9]+@/, with: "@"))
                        }))
            }
            #expect(cells[0] == cells[1] && !cells[0].isEmpty)
        }
        try await source.stop()
        try await target.stop()
    }

    @Test func `hostile lines are refused by their number and cost nobody else`() async throws {
        let source = try await TestServer.start()
        try await fill(source)
        let exported = try await source.tool(["export", "--what", "transactions"])
        let texts = exported.output.split(separator: "\n").map { String($0) }
        let lines = texts.map { Array($0.utf8) }
        let payload = "\"signed_payload\":\""
        let parts = texts[1].split(separator: payload, maxSplits: 1)
        let end = try #require(parts[1].firstIndex(of: "\""))
        let unsigned = parts[0] + payload + parts[1][end...]
        let damaged = texts[1].replacing(payload + "eyJ", with: payload + "eyK")
        var bytes: [UInt8] = [0xEF, 0xBB, 0xBF]
        let newline: [UInt8] = [0x0D, 0x0A]
        bytes += lines[0] + newline
        bytes += [0xFF, 0x00] + newline
        bytes += Array("{\"transaction_id\":\"1\"}".utf8) + newline
        bytes += Array(unsigned.utf8) + newline + Array(damaged.utf8) + newline
        bytes += [UInt8](repeating: UInt8(ascii: "x"), count: 100 << 20) + newline
        for line in lines.dropFirst() { bytes += line + newline }
        let target = try await target(like: source)
        let result = try await target.tool(["import", "-", "--output", "json"], input: bytes)
        #expect(result.end == .exit(1))
        let refused = result.output.split(separator: "\n").filter { $0.hasPrefix("{\"line\"") }
        let reasons = [
            "MALFORMED_LINE", "MISSING_COLUMN", "SIGNED_PAYLOAD_MISSING", "MALFORMED_PAYLOAD",
            "LINE_TOO_LONG",
        ]
        #expect(refused.count == 5, "\(refused)")
        for (number, reason) in reasons.enumerated() {
            #expect(
                refused.contains {
                    $0.hasPrefix("{\"line\":\(number + 2),") && $0.contains("\"\(reason)\"")
                }, "\(number + 2) \(reason): \(refused)")
        }
        #expect(result.output.contains("\"learnt\":\(lines.count + 1),"), "\(result.output)")
        for (arguments, word) in [
            (["import", "-"], "MISSING_COLUMN"), (["import", "-", "--what", "events"], "events"),
            (["import", "-", "--format", "xml"], "xml"), (["import", "/nonexistent"], "no such"),
            (["import", "-", "--rate", "0"], "`0`"),
        ] {
            let result = try await target.tool(arguments, input: Array("a,b\n1,2\n".utf8))
            #expect(result.end != .exit(0) && result.output.isEmpty)
            #expect(result.errorOutput.contains(word), "\(result.errorOutput)")
        }
        try await source.stop()
        try await target.stop()
    }
}
