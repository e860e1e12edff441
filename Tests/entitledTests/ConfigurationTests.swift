import Entitlements
import EventLoop
import Testing

@testable import entitled

/// The smallest arguments that make a configuration.
let leastArguments = [
    "--bundle-id", "com.example.meadow", "--app-apple-id", "1600000001", "--apple-root", "/r",
]

/// Inputs that know only these files.
func inputs(
    _ arguments: [String] = [], environment: [String: String] = [:],
    files: [String: [UInt8]] = [:], unreadable: [String: FileReadError] = [:]
) -> ConfigurationInputs {
    ConfigurationInputs(
        arguments: arguments, environment: environment,
        readFile: { (path, _) throws(FileReadError) in
            if let error = unreadable[path] { throw error }
            guard let bytes = files[path] else { throw .notFound }
            return bytes
        },
        fileExists: { files[$0] != nil })
}

@Suite struct ConfigurationTests {
    private func configuration(
        _ arguments: [String], file: String? = nil
    ) throws(ConfigurationFailure) -> Configuration {
        let files = file.map { ["/e.json5": Array($0.utf8)] } ?? [:]
        let named = file == nil ? [] : ["--config", "/e.json5"]
        return try ConfigurationLoader(inputs(named + arguments, files: files)).configuration()
    }

    private func problems(_ arguments: [String], file: String? = nil) throws -> [String] {
        try #require(throws: ConfigurationFailure.self) {
            try configuration(arguments, file: file)
        }.problems.map(\.message)
    }

    @Test func `the least that is said makes a configuration with the documented defaults`() throws
    {
        let least = try configuration(leastArguments)
        #expect(
            least.apps == [
                Configuration.App(
                    bundleID: "com.example.meadow", appAppleID: 1_600_000_001,
                    environments: [.production], catalog: Catalog())
            ])
        #expect(least.dataDirectory == "/var/lib/entitled")
        #expect(least.syncsEveryCommit)
        #expect(least.listenAddresses.map(\.description) == ["127.0.0.1:7420"])
        #expect(least.cacheSize == .percent(25))
        #expect(least.memtableByteCountMax == 64 << 20)
        #expect(least.limits.frameByteCountMax == 1 << 20)
        #expect(least.limits.connectionCountMax == 10_000)
        #expect(least.limits.inflightCountMax == 1_024)
        #expect(least.limits.batchCountMax == 1_000)
        #expect(least.limits.defaultDeadlineMilliseconds == 5_000)
        #expect(least.limits.deadlineMillisecondsMax == 60_000)
        #expect(least.shutdownGraceMilliseconds == 20_000)
        #expect(least.spinMicroseconds == 0)
        #expect(least.logForm == .auto)
        #expect(least.logLevel == .info)
        #expect(!least.allowsTestRoot)
        #expect(least.http == nil && least.appStoreAPI == nil)
        #expect(!least.transfersOnConflict)
        #expect(least.meteringMilliseconds == 10_000)
    }

    @Test func `the catalog of the file becomes the catalog`() throws {
        let file = """
            { apps: [{ bundleId: "a", appAppleId: 1, environments: ["Production", "Sandbox"],
                products: {
                  "plus.month": { entitlements: ["plus", "basic"], unitCost: 0.02 },
                  season: { duration: "90d", refunds: { prorated: "keep" }, entitlements: "plus" },
                } }, { bundleId: "b", environments: "Sandbox" }],
              apple: { roots: ["r"] }, family: { cut: "off" }, cacheSize: "64MiB" }
            """
        let whole = try configuration([], file: file)
        #expect(whole.apps.count == 2)
        #expect(whole.apps[0].environments == [.production, .sandbox])
        #expect(whole.apps[0].catalog.productIDsByEntitlement["plus"] == ["plus.month", "season"])
        let season = whole.apps[0].catalog.policy(for: "season")
        #expect(season.duration == 90 * 86_400_000)
        #expect(season.keepsProratedRefunds)
        #expect(season.familyCut == .off)
        #expect(whole.apps[0].catalog.policy(for: "another").familyCut == .off)
        #expect(!whole.apps[0].catalog.policy(for: "plus.month").keepsProratedRefunds)
        #expect(whole.apps[0].catalog.products["plus.month"]?.unitCostMicros == 20_000)
        #expect(whole.apps[0].catalog.products["season"]?.unitCostMicros == 0)
        #expect(whole.apps[1].environments == [.sandbox])
        #expect(whole.apps[1].appAppleID == nil)
        #expect(whole.cacheSize == .bytes(64 << 20))
        #expect(whole.rootPaths == ["/r"])
    }

    @Test func `no app is refused`() throws {
        let found = try problems(["--apple-root", "/r"])
        #expect(found.count == 1)
        #expect(found[0].hasPrefix("no app is configured"))
    }

    @Test(arguments: [[], ["--apple-root="], ["--allow-test-root"]])
    func `no root is refused: nothing could be verified`(more: [String]) throws {
        let found = try problems(Array(leastArguments.prefix(4)) + more)
        #expect(found.count == 1)
        #expect(found[0].hasPrefix("no Apple root certificate is configured"))
    }

    @Test func `an empty list of roots is refused`() throws {
        let found = try problems(
            Array(leastArguments.prefix(4)), file: "{ apple: { roots: [] } }")
        #expect(found.count == 1)
    }

    @Test func `Production without the app's Apple ID is refused, Sandbox is not`() throws {
        let without = ["--bundle-id", "a", "--apple-root", "/r"]
        let found = try problems(without)
        #expect(found.count == 1)
        #expect(found[0].hasPrefix("`a` serves Production and has no Apple ID"))
        #expect(
            try problems(without + ["--environment", "Sandbox", "--environment", "Production"])
                == found)
        _ = try configuration(without + ["--environment", "Sandbox"])
    }

    @Test(arguments: ["0", "-1", "x", "9223372036854775808", "1.5"])
    func `an Apple ID that is none is refused`(id: String) throws {
        #expect(try problems(["--bundle-id", "a", "--app-apple-id", id]).count == 1)
    }

    @Test func `an app without a bundle id is refused`() throws {
        let found = try problems(
            ["--apple-root", "/r"], file: "{ apps: [{ appAppleId: 1 }, { bundleId: '' }] }")
        #expect(found.filter { $0.hasPrefix("an app has no bundle id") }.count == 2)
    }

    @Test func `an app that stands twice is refused`() throws {
        let found = try problems(
            ["--apple-root", "/r"],
            file: "{ apps: [{ bundleId: 'a', appAppleId: 1 }, { bundleId: 'a', appAppleId: 2 }] }")
        #expect(found == ["the app `a` stands in `apps` twice; list both environments once"])
    }

    @Test(arguments: ["0.0.0.0:7420", "192.168.1.5:7420", "[::]:7420", "[2001:db8::1]:0"])
    func `an address that others can reach needs to be asked for`(address: String) throws {
        let found = try problems(leastArguments + ["--listen", address])
        #expect(found.count == 1)
        #expect(found[0].contains("--insecure"))
        _ = try configuration(leastArguments + ["--listen", address, "--insecure"])
    }

    @Test(arguments: ["127.0.0.1:0", "127.9.9.9:1", "[::1]:7420", "localhost:1", "unix:/s"])
    func `an address of this machine needs nothing`(address: String) throws {
        _ = try configuration(leastArguments + ["--listen", address])
    }

    @Test func `a default deadline beyond the longest is refused`() throws {
        let found = try problems(leastArguments + ["--limits-max-deadline", "4s"])
        #expect(found == ["`limits.defaultDeadline` is longer than `limits.maxDeadline`"])
        _ = try configuration(leastArguments + ["--limits-max-deadline", "5s"])
    }
}

extension ConfigurationTests {
    @Test func `names that look alike and differ in their bytes are two names`() throws {
        let file = """
            { apps: [{ bundleId: "a", appAppleId: 1, products: {
                "caf\u{e9}": { duration: "1d" }, "cafe\u{301}": { duration: "2d" } } }],
              apple: { roots: ["r"] } }
            """
        let loader = ConfigurationLoader(
            inputs(["--config", "/c"], files: ["/c": Array(file.utf8)]))
        let catalog = try loader.configuration().apps[0].catalog
        #expect(catalog.policy(for: "caf\u{e9}").duration == 86_400_000)
        #expect(catalog.policy(for: "cafe\u{301}").duration == 2 * 86_400_000)
    }
}

extension ConfigurationTests {
    /// The cost of a unit as the file says it, in millionths.
    private func unitCost(_ text: String) throws -> Int64? {
        let file = """
            { apps: [{ bundleId: "a", appAppleId: 1, products: { p: { unitCost: \(text) } } }],
              apple: { roots: ["r"] } }
            """
        return try configuration([], file: file).apps[0].catalog.products["p"]?.unitCostMicros
    }

    @Test(
        arguments: [
            ("0", 0), ("0.000001", 1), ("1", 1_000_000), ("0.1", 100_000), ("'0.30'", 300_000),
            ("1.005", 1_005_000), ("9007199254.740993", 9_007_199_254_740_993),
            ("9223372036854.775807", .max), (".5", 500_000),
        ] as [(String, Int64)])
    func `a cost is exact to the millionth, not what a binary fraction makes of it`(
        text: String, micros: Int64
    ) throws {
        #expect(try unitCost(text) == micros)
    }

    @Test(arguments: [
        "-1", "0.0000001", "9223372036854.775808", "1e13", "Infinity", "NaN", "true", "'x'",
    ])
    func `a cost that cannot be kept exactly is refused`(text: String) throws {
        #expect(throws: ConfigurationFailure.self) { try unitCost(text) }
    }

    @Test(arguments: ["true", "on", "yes", "1"])
    func `metering is on, and stored as often as said`(word: String) throws {
        let arguments = leastArguments + ["--metering=\(word)", "--metering-interval", "100ms"]
        #expect(try configuration(arguments).meteringMilliseconds == 100)
    }

    @Test func `metering can be turned off`() throws {
        #expect(try configuration(leastArguments + ["--metering=off"]).meteringMilliseconds == nil)
        #expect(
            try configuration(leastArguments, file: "{ metering: 'off' }").meteringMilliseconds
                == nil)
        #expect(throws: ConfigurationFailure.self) {
            try configuration(leastArguments + ["--metering-interval", "99ms"])
        }
    }

    @Test func `a conflict is refused unless the operator lets it transfer`() throws {
        #expect(
            try configuration(leastArguments + ["--identity-on-conflict", "transfer"])
                .transfersOnConflict)
        #expect(throws: ConfigurationFailure.self) {
            try configuration(leastArguments + ["--identity-on-conflict", "merge"])
        }
    }
}
