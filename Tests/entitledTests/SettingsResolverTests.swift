import Testing

@testable import entitled

@Suite struct SettingsResolverTests {
    fileprivate func resolve(
        file: String? = nil, path: String = "/etc/e/e.json5", environment: [String: String] = [:],
        arguments: [String] = [], credentials: [String: String] = [:]
    ) -> SettingsResolver {
        SettingsResolver(
            file: file.map { ConfigurationFile(path: path, bytes: Array($0.utf8)) },
            environment: EnvironmentVariables(environment),
            arguments: CommandLineArguments(arguments), credentials: credentials)
    }

    @Test func `names that only look the same are two names`() throws {
        let resolver = resolve(
            file: "{ apps: [{ products: { p: { entitlements: ['\u{e9}', 'e\u{301}'] } } }] }")
        #expect(resolver.problems.isEmpty)
        let product = try #require(resolver.resolved.apps.first?.products.first)
        #expect(product.settings[.productEntitlements]?.values.count == 2)
    }

    /// One value for a setting by each source, all different.
    struct Spellings: Sendable, CustomTestStringConvertible {
        let key: SettingKey
        let file: String
        let environment: String
        let flag: String
        let fileValue: SettingValue
        let environmentValue: SettingValue
        let flagValue: SettingValue

        var testDescription: String { key.rawValue }

        init(_ key: SettingKey, _ texts: (String, String, String)) throws {
            let kind = SettingTable[key].kind
            self.key = key
            (file, environment, flag) = texts
            fileValue = try kind.parse(.text(texts.0))
            environmentValue = try kind.parse(.text(texts.1))
            flagValue = try kind.parse(.text(texts.2))
        }
    }

    /// A value triple for each kind; every setting that has a flag is tried with those of its kind.
    static func spellings() throws -> [Spellings] {
        try SettingTable.all.filter { setting in
            setting.flag != nil && setting.key != .config
        }.map { setting in
            let texts: (String, String, String) =
                switch setting.kind {
                case .text: ("file.id", "environment.id", "flag.id")
                case .path: ("/file", "/environment", "/flag")
                case .url: ("https://a.example", "https://b.example", "https://c.example")
                case .address, .hostAddress: ("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3")
                case .boolean: ("true", "false", "true")
                case .integer: ("11", "12", "13")
                case .duration: ("101ms", "102ms", "103ms")
                case .size(let range):
                    (
                        "\(range.lowerBound + 1_024)", "\(range.lowerBound + 2_048)",
                        "\(range.lowerBound + 3_072)"
                    )
                case .memory: ("11MiB", "12MiB", "13MiB")
                case .choice(let words): (words[0], words[1], words[0])
                case .amount: ("1", "2", "3")
                }
            return try Spellings(setting.key, texts)
        }
    }

    private func value(_ resolver: SettingsResolver, _ key: SettingKey) -> ResolvedSetting? {
        key.rawValue.hasPrefix("apps[]")
            ? resolver.resolved.apps.first?.settings[key] : resolver.resolved.settings[key]
    }

    private func fileText(_ key: SettingKey, _ value: String) -> String {
        let steps = key.rawValue.split(separator: ".")
        let opening = steps.map { $0 == "apps[]" ? "{ apps: [" : "{ \($0): " }.joined()
        let closing = steps.reversed().map { $0 == "apps[]" ? "] }" : " }" }.joined()
        return opening + "\"\(value)\"" + closing
    }

    @Test(arguments: try spellings())
    func `a flag wins over the environment, that over the file, that over the default`(
        spellings: Spellings
    ) throws {
        let key = spellings.key
        let setting = SettingTable[key]
        let flag = try #require(setting.flag)
        let variable = try #require(setting.environmentName)
        let file = fileText(key, spellings.file)
        let environment = [variable: spellings.environment]
        let arguments = ["--\(flag)=\(spellings.flag)"]

        let byDefault = value(resolve(), key)
        if key.rawValue.hasPrefix("apps[]") || setting.standard.isEmpty {
            #expect(byDefault == nil)
        } else {
            #expect(byDefault?.source == .standard)
        }
        #expect(
            value(resolve(file: file), key)
                == ResolvedSetting(
                    values: [spellings.fileValue],
                    source: .file(path: "/etc/e/e.json5", line: 1)))
        #expect(
            value(resolve(file: file, environment: environment), key)
                == ResolvedSetting(
                    values: [spellings.environmentValue], source: .environment(name: variable)))
        #expect(
            value(resolve(file: file, environment: environment, arguments: arguments), key)
                == ResolvedSetting(values: [spellings.flagValue], source: .flag(name: flag)))
        #expect(
            value(resolve(file: file, arguments: arguments), key)?.values
                == [spellings.flagValue])
    }

    @Test(arguments: try spellings())
    func `an empty value is not set in any source`(spellings: Spellings) throws {
        let setting = SettingTable[spellings.key]
        let flag = try #require(setting.flag)
        let variable = try #require(setting.environmentName)
        let empty = resolve(
            file: fileText(spellings.key, ""), environment: [variable: ""],
            arguments: ["--\(flag)="])
        #expect(empty.problems.isEmpty)
        #expect(value(empty, spellings.key) == value(resolve(), spellings.key))
    }

    @Test func `a list is a list in the file, commas in the environment, a repeated flag`() {
        let file = "{ listen: ['127.0.0.1:1', 'unix:/s'] }"
        let two: [SettingValue] = [.text("127.0.0.1:1"), .text("unix:/s")]
        #expect(resolve(file: file).resolved.settings[.listen]?.values == two)
        #expect(
            resolve(environment: ["ENTITLED_LISTEN": "127.0.0.1:1, unix:/s"])
                .resolved.settings[.listen]?.values == two)
        #expect(
            resolve(arguments: ["--listen", "127.0.0.1:1", "--listen", "unix:/s"])
                .resolved.settings[.listen]?.values == two)
        #expect(
            resolve(file: file, arguments: ["--listen", "127.0.0.1:9"])
                .resolved.settings[.listen]?.values == [.text("127.0.0.1:9")])
    }

    @Test func `a path in the file is relative to the file`() {
        let roots = "{ apple: { roots: ['a.cer', '/b.cer', 'sub/c.cer'] } }"
        #expect(
            resolve(file: roots).resolved.settings[.roots]?.values
                == [.text("/etc/e/a.cer"), .text("/b.cer"), .text("/etc/e/sub/c.cer")])
        #expect(
            resolve(file: "{ data: 'd' }", path: "e.json5").resolved.settings[.data]?.values
                == [.text("d")])
        #expect(
            resolve(arguments: ["--data", "d"]).resolved.settings[.data]?.values == [.text("d")])
    }

    @Test func `flags change the only app of the file and leave its catalog`() {
        let resolver = resolve(
            file: "{ apps: [{ bundleId: 'a', appAppleId: 1, products: { p: {} } }] }",
            arguments: ["--bundle-id", "b", "--environment", "Sandbox"])
        #expect(resolver.problems.isEmpty)
        #expect(resolver.resolved.apps.count == 1)
        #expect(resolver.resolved.apps[0].settings[.bundleId]?.values == [.text("b")])
        #expect(resolver.resolved.apps[0].settings[.appAppleId]?.values == [.integer(1)])
        #expect(resolver.resolved.apps[0].products.map(\.id) == ["p"])
    }

    @Test func `flags cannot say which of several apps they mean`() {
        let resolver = resolve(
            file: "{ apps: [{ bundleId: 'a' }, { bundleId: 'b' }] }",
            arguments: ["--bundle-id", "c"])
        #expect(
            resolver.problems == [
                ConfigurationProblem(
                    "flag --bundle-id does not say which of the 2 apps of the configuration file "
                        + "it means", exitCode: .usage)
            ])
    }

    @Test func `a credential stands between the default and the file`() {
        let credentials = ["v1-shared-secret": "/run/c/v1-shared-secret"]
        #expect(
            resolve(credentials: credentials).resolved.settings[.v1SharedSecretFile]
                == ResolvedSetting(
                    values: [.text("/run/c/v1-shared-secret")],
                    source: .credential(name: "v1-shared-secret")))
        #expect(
            resolve(file: "{ apple: { v1SharedSecretFile: '/f' } }", credentials: credentials)
                .resolved.settings[.v1SharedSecretFile]?.values == [.text("/f")])
    }

    @Test(
        arguments: [
            (
                "{ threads: 'x' }", [], [], ExitCode.configuration,
                "`threads` (/etc/e/e.json5:1) must be a whole number from 0 to 256, not `x`"
            ),
            (
                "{}", ["ENTITLED_THREADS=257"], [], .configuration,
                "`threads` (environment ENTITLED_THREADS) must be a whole number from 0 to 256, "
                    + "not `257`"
            ),
            (
                "{}", [], ["--threads", "-1"], .usage,
                "`threads` (flag --threads) must be a whole number from 0 to 256, not `-1`"
            ),
            (
                "{ shutdownGrace: 30 }", [], [], .configuration,
                "`shutdownGrace` (/etc/e/e.json5:1) must be a duration such as 250ms, 30s, 5m or "
                    + "90d, from 0s to 10m, not `30`"
            ),
            (
                "{ data: ['a', 'b'] }", [], [], .configuration,
                "`data` (/etc/e/e.json5:1) must be a path, not a list"
            ),
            (
                "{ listen: ['127.0.0.1:1', '127.0.0.1:1'] }", [], [], .configuration,
                "`listen` (/etc/e/e.json5:1) names a value twice"
            ),
            (
                "{ family: { cut: 'all' } }", [], [], .configuration,
                "`family.cut` (/etc/e/e.json5:1) must be declared or matched or off, not `all`"
            ),
            (
                "{ apps: [{ environments: ['Xcode'] }] }", [], [], .configuration,
                "`apps[].environments` (/etc/e/e.json5:1) must be Production or Sandbox, "
                    + "not `Xcode`"
            ),
        ] as [(String, [String], [String], ExitCode, String)])
    func `a bad value is refused with its setting, its place and what is right`(
        file: String, environment: [String], arguments: [String], exitCode: ExitCode,
        message: String
    ) {
        var variables: [String: String] = [:]
        for assignment in environment {
            let parts = assignment.split(separator: "=").map(String.init)
            variables[parts[0]] = parts[1]
        }
        let resolver = resolve(file: file, environment: variables, arguments: arguments)
        #expect(resolver.problems == [ConfigurationProblem(message, exitCode: exitCode)])
    }
}

extension SettingsResolverTests {
    @Test(arguments: [
        ("{ threads: 1 }", "{ threads: 2, data: '/x' }", ["data", "threads"]),
        ("{ threads: 1 }", "{ threads: 1 }", []), ("{}", "{ threads: 0 }", []),
        ("{ apps: [{ bundleId: 'a' }] }", "{ apps: [{ bundleId: 'b' }] }", ["apps"]),
        ("{ apps: [{}] }", "{ apps: [{}, {}] }", ["apps"]),
        ("{ apps: [{ products: { p: {} } }] }", "{ apps: [{ products: { q: {} } }] }", ["apps"]),
        (
            "{ apps: [{ products: { p: { duration: '1d' } } }] }",
            "{ apps: [{ products: { p: { duration: '24h' } } }] }", []
        ),
        (
            "{ apps: [{ products: { p: { duration: '1d' } } }] }",
            "{ apps: [{ products: { p: { duration: '2d' } } }] }", ["apps"]
        ),
    ])
    func `what changed between two configurations is named, whatever its source`(
        old: String, new: String, keys: [String]
    ) {
        #expect(
            resolve(file: new).resolved.keysThatDiffer(from: resolve(file: old).resolved) == keys)
    }
}
