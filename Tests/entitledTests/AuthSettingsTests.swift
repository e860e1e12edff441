import Testing

@testable import entitled

@Suite struct AuthSettingsTests {
    private func settings(_ arguments: [String] = []) throws -> AuthSettings {
        try ConfigurationLoader(inputs(leastArguments + arguments)).configuration().auth
    }

    @Test func `unless said otherwise everybody may call and nothing is written down`() throws {
        let settings = try settings()
        #expect(settings.keysPath == nil && !settings.hasOpenMetrics)
        #expect(settings.auditFile(inDataDirectory: "/d") == nil)
        #expect(settings.auditByteCountMax == 64 << 20)
    }

    @Test func `with keys the audit is where the data are, or where it is said to be`() throws {
        let keyed = try settings(["--auth-keys-file", "/k", "--auth-open-metrics"])
        #expect(keyed.keysPath == "/k" && keyed.hasOpenMetrics)
        #expect(keyed.auditFile(inDataDirectory: "/d") == "/d/audit.jsonl")
        let named = try settings(["--auth-audit-file", "/a", "--auth-audit-size", "1MiB"])
        #expect(named.auditFile(inDataDirectory: "/d") == "/a")
        #expect(named.auditByteCountMax == 1 << 20)
    }
}
