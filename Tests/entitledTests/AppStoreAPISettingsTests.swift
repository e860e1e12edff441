import Testing

@testable import entitled

@Suite struct AppStoreAPISettingsTests {
    private let credentials = [
        "--apple-api-issuer-id", "57246542-96fe-1a63-e053-0824d011072a", "--apple-api-key-id",
        "2X9R4HXF34", "--apple-api-key-file", "/k.p8",
    ]

    private func api(
        _ arguments: [String], environment: [String: String] = [:],
        files: [String: [UInt8]] = [:]
    ) throws -> AppStoreAPISettings? {
        try ConfigurationLoader(
            inputs(leastArguments + arguments, environment: environment, files: files)
        ).configuration().appStoreAPI
    }

    private func problems(_ arguments: [String]) throws -> [String] {
        try #require(throws: ConfigurationFailure.self) { try api(arguments) }
            .problems.map(\.message)
    }

    @Test func `nothing is fetched from Apple unless there are credentials`() throws {
        #expect(try api([]) == nil)
        #expect(try api(["--apple-api-history-rate", "5"]) == nil)
    }

    @Test func `three values make the API, with the documented defaults`() throws {
        let api = try #require(try api(credentials))
        #expect(api.issuerID == "57246542-96fe-1a63-e053-0824d011072a")
        #expect(api.keyID == "2X9R4HXF34" && api.keyPath == "/k.p8")
        #expect(api.baseURL.text == "https://api.storekit.apple.com")
        #expect(api.sandboxBaseURL.text == "https://api.storekit-sandbox.apple.com")
        #expect(api.caPath == nil)
        #expect(api.historyRate == 40 && api.threadCount == 2)
        #expect(api.sweepMilliseconds == 86_400_000 && api.backfillMilliseconds == 900_000)
    }

    @Test func `all of them or none`() throws {
        for (index, name) in ["issuerId", "keyId", "keyFile"].enumerated() {
            var some = credentials
            some.removeSubrange(2 * index..<2 * index + 2)
            #expect(try problems(some).contains { $0.contains("`apple.api.\(name)` not set") })
        }
        #expect(
            try problems(Array(credentials.prefix(2)))[0].hasSuffix(
                "`apple.api.keyId` and `apple.api.keyFile` not set"))
    }

    @Test func `the key comes as a credential of the service manager as well`() throws {
        let api = try api(
            Array(credentials.prefix(4)), environment: ["CREDENTIALS_DIRECTORY": "/c"],
            files: ["/c/apple-api-key": []])
        #expect(api?.keyPath == "/c/apple-api-key")
    }

    @Test(arguments: ["http://127.0.0.1:8", "http://localhost:8", "http://[::1]:8", "https://x/y/"])
    func `a stand-in is asked in plain text only on this machine`(url: String) throws {
        for flag in ["--apple-api-base-url", "--apple-api-sandbox-base-url"] {
            #expect(try api(credentials + [flag, url]) != nil)
        }
    }

    @Test(arguments: ["--apple-api-base-url", "--apple-api-sandbox-base-url"])
    func `plain text that leaves this machine is for tests`(flag: String) throws {
        let arguments = credentials + [flag, "http://stand-in.example.com"]
        #expect(try problems(arguments)[0].contains("by https only"))
        #expect(try api(arguments + ["--allow-test-root"]) != nil)
    }

    @Test func `another authority is for tests`() throws {
        let arguments = credentials + ["--apple-api-ca-file", "/ca.pem"]
        #expect(try problems(arguments)[0].contains("--allow-test-root"))
        #expect(try api(arguments + ["--allow-test-root"])?.caPath == "/ca.pem")
    }

    @Test(arguments: [
        ["--apple-api-history-rate", "0"], ["--apple-api-history-rate", "1001"],
        ["--apple-api-sweep-interval", "366d"], ["--apple-api-sweep-interval", "24"],
        ["--apple-api-backfill-interval", "8d"], ["--apple-api-threads", "0"],
        ["--apple-api-threads", "65"], ["--apple-api-base-url", "api.storekit.apple.com"],
    ])
    func `values out of bounds are refused`(arguments: [String]) throws {
        #expect(try problems(credentials + arguments).count == 1)
    }

    @Test func `the last values within bounds are taken`() throws {
        let api = try #require(
            try api(
                credentials + [
                    "--apple-api-history-rate", "1", "--apple-api-sweep-interval", "0s",
                    "--apple-api-backfill-interval", "7d", "--apple-api-threads", "64",
                ]))
        #expect(api.historyRate == 1 && api.threadCount == 64)
        #expect(api.sweepMilliseconds == 0 && api.backfillMilliseconds == 7 * 86_400_000)
    }
}
