internal import EntitledClient
internal import ToolSupport

/// `health`: does the server answer, and what does it serve?
enum HealthCommand {
    static let command = Command(
        words: ["health"], operands: [], flags: [],
        summary: "does the server answer, and what does it serve?",
        details: [
            "Exit code 0 when it answers, 6 when it does not.",
            "JSON: address, version, commit, protocolVersion, uptimeMilliseconds, revision,",
            "customers, transactions, appStoreAPIConfigured, scopes.",
        ],
        examples: [("entitlectl health --timeout 1s", "for a health check")],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let info = try await invocation.withClient { (client) throws(ClientError) in
            try await client.serverInfo()
        }
        if invocation.isJSON {
            invocation.console.print(json(info, invocation.address))
        } else {
            invocation.console.print(lines(info, invocation.address))
        }
        return .success
    }

    private static func lines(_ info: ServerInfo, _ address: String) -> [Line] {
        let commit = info.commit.isEmpty ? "" : " (\(info.commit))"
        let scopes = info.scopes.map { "\($0.bundleID) \($0.environment.name.lowercased())" }
        return [Line("serving", .good).adding("  \(address)")]
            + Table.pairs(
                [
                    ("version", .init("\(info.version)\(commit)")),
                    ("protocol", .init("\(info.protocolVersion)")),
                    ("up for", .init(TimeSpan.text(milliseconds: info.uptimeMilliseconds))),
                    ("revision", .init("\(info.revision)")),
                    ("customers", .init("\(info.customerCount)")),
                    ("transactions", .init("\(info.transactionCount)")),
                    ("App Store API", .init(info.isAppStoreAPIConfigured ? "yes" : "no")),
                ] + scopes.map { ("serves", .init($0)) }, indent: 2)
    }

    private static func json(_ info: ServerInfo, _ address: String) -> JSONValue {
        .object([
            ("address", .string(address)), ("version", .string(info.version)),
            ("commit", .optional(info.commit)),
            ("protocolVersion", .integer(Int64(info.protocolVersion))),
            ("uptimeMilliseconds", .natural(info.uptimeMilliseconds)),
            ("revision", .natural(info.revision)), ("customers", .natural(info.customerCount)),
            ("transactions", .natural(info.transactionCount)),
            ("appStoreAPIConfigured", .boolean(info.isAppStoreAPIConfigured)),
            (
                "scopes",
                .array(
                    info.scopes.map {
                        .object([
                            ("bundleId", .string($0.bundleID)),
                            ("environment", .string($0.environment.name)),
                        ])
                    })
            ),
        ])
    }
}
