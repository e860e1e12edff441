internal import Entitlements
internal import EventLoop

/// What the server runs with: every setting read, checked and in its unit.
struct Configuration: Equatable, Sendable {
    /// One app and what is sold in it.
    struct App: Equatable, Sendable {
        var bundleID: String
        /// Apple's number of the app; `nil` only where Production is not served.
        var appAppleID: Int64?
        var environments: Set<AppEnvironment>
        var catalog: Catalog
    }

    /// How the memory for verdicts and records is given.
    enum CacheSize: Equatable, Sendable {
        case bytes(Int64)
        /// Of the memory that this process may use.
        case percent(Int64)
    }

    /// The bounds on what a client can ask of the server.
    struct ClientLimits: Equatable, Sendable {
        var frameByteCountMax: Int
        var connectionCountMax: Int
        /// `nil`: half of `connectionCountMax` for other machines, no bound for this one.
        var connectionCountMaxPerPeer: Int?
        var bufferedByteCountMax: Int
        var inflightCountMax: Int
        var batchCountMax: Int
        var defaultDeadlineMilliseconds: Int64
        var deadlineMillisecondsMax: Int64
    }

    var apps: [App]
    /// Files of PEM or DER.
    var rootPaths: [String]
    var allowsTestRoot: Bool
    var v1SharedSecretPath: String?
    var dataDirectory: String
    /// Whether a write is answered only when it would survive a power cut.
    var syncsEveryCommit: Bool
    /// `nil`: no backups are made.
    var backupDirectory: String?
    var listenAddresses: [SocketAddress]
    /// `nil`: plain text on every listener.
    var tls: TLSSettings?
    /// `nil`: no HTTP listener.
    var http: HTTPSettings?
    /// `nil`: nothing is fetched from Apple.
    var appStoreAPI: AppStoreAPISettings?
    /// Who may call, and where it is written down.
    var auth: AuthSettings
    /// Whether purchases of another named customer move to whoever hands them in.
    var transfersOnConflict: Bool
    /// How often what was metered is stored; `nil`: nothing is metered.
    var meteringMilliseconds: Int64?
    /// 0: one per processor.
    var threadCount: Int
    /// 0: one per processor.
    var workerCount: Int
    var cacheSize: CacheSize
    /// Of all keyspaces together.
    var memtableByteCountMax: Int
    var spinMicroseconds: Int64
    var limits: ClientLimits
    var shutdownGraceMilliseconds: Int64
    var logForm: LogForm
    var logLevel: LogLevel
}

/// Reads values that the table's kinds and defaults guarantee; a missing one is a bug in the table.
struct SettingReader {
    let settings: [SettingKey: ResolvedSetting]

    func values(_ key: SettingKey) -> [SettingValue] { settings[key]?.values ?? [] }

    func texts(_ key: SettingKey) -> [String] {
        values(key).compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    func text(_ key: SettingKey) -> String { texts(key).first ?? "" }

    func integer(_ key: SettingKey) -> Int64 {
        if case .integer(let value)? = values(key).first { value } else { 0 }
    }

    func boolean(_ key: SettingKey) -> Bool { values(key).first == .boolean(true) }
}

extension Configuration {
    /// The configuration that `resolved` describes, and what is wrong with the whole.
    static func make(
        from resolved: ResolvedSettings
    ) -> (configuration: Configuration, problems: [ConfigurationProblem]) {
        let reader = SettingReader(settings: resolved.settings)
        let configuration = Configuration(resolved, reader: reader)
        let problems =
            configuration.problems(isInsecure: reader.boolean(.insecure))
            + TLSSettings.problems(reader) + HTTPSettings.problems(reader)
            + AppStoreAPISettings.problems(reader)
        return (configuration, problems)
    }

    private init(_ resolved: ResolvedSettings, reader: SettingReader) {
        let familyCut: FamilyCut =
            switch reader.text(.familyCut) {
            case "off": .off
            case "matched": .matched
            default: .declared
            }
        apps = resolved.apps.map { App($0, familyCut: familyCut) }
        rootPaths = reader.texts(.roots)
        allowsTestRoot = reader.boolean(.allowTestRoot)
        v1SharedSecretPath = reader.texts(.v1SharedSecretFile).first
        dataDirectory = reader.text(.data)
        syncsEveryCommit = reader.text(.dataSync) == "always"
        backupDirectory = reader.texts(.backupDir).first
        listenAddresses = reader.texts(.listen).compactMap { try? SocketAddress($0) }
        tls = TLSSettings(reader)
        http = HTTPSettings(reader)
        appStoreAPI = AppStoreAPISettings(reader)
        auth = AuthSettings(reader)
        transfersOnConflict = reader.text(.identityConflict) == "transfer"
        meteringMilliseconds = reader.boolean(.metering) ? reader.integer(.meteringInterval) : nil
        threadCount = Int(reader.integer(.threads))
        workerCount = Int(reader.integer(.workers))
        cacheSize =
            if let share = reader.texts(.cacheSize).first {
                .percent(Quantity.wholeNumber(String(share.dropLast())) ?? 0)
            } else {
                .bytes(reader.integer(.cacheSize))
            }
        memtableByteCountMax = Int(reader.integer(.memtableSize))
        spinMicroseconds = reader.integer(.spinUs)
        limits = ClientLimits(
            frameByteCountMax: Int(reader.integer(.maxFrame)),
            connectionCountMax: Int(reader.integer(.maxConnections)),
            connectionCountMaxPerPeer: Self.perPeer(reader.integer(.maxConnectionsPerPeer)),
            bufferedByteCountMax: Int(reader.integer(.maxBuffered)),
            inflightCountMax: Int(reader.integer(.maxInflight)),
            batchCountMax: Int(reader.integer(.maxBatch)),
            defaultDeadlineMilliseconds: reader.integer(.defaultDeadline),
            deadlineMillisecondsMax: reader.integer(.maxDeadline))
        shutdownGraceMilliseconds = reader.integer(.shutdownGrace)
        logForm = LogForm(rawValue: reader.text(.logFormat)) ?? .auto
        logLevel = LogLevel(name: reader.text(.logLevel)) ?? .info
    }

    private static func perPeer(_ count: Int64) -> Int? { count > 0 ? Int(count) : nil }

    private func problems(isInsecure: Bool) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        func refuse(_ message: String) { problems.append(ConfigurationProblem(message)) }
        if apps.isEmpty {
            refuse("no app is configured: name one with --bundle-id, or `apps` in the file")
        }
        for app in apps { problems += app.problems }
        var seen: Set<ExactName> = []
        for app in apps where !seen.insert(ExactName(app.bundleID)).inserted {
            refuse("the app `\(app.bundleID)` stands in `apps` twice; list both environments once")
        }
        if rootPaths.isEmpty {
            refuse(
                "no Apple root certificate is configured, so nothing could be verified: get "
                    + "AppleRootCA-G3.cer from https://www.apple.com/certificateauthority/ and "
                    + "name it with --apple-root, or `apple.roots` in the file")
        }
        if let backupDirectory, Self.isInside(backupDirectory, dataDirectory) {
            refuse(
                "`backup.dir` lies in `data`, where nothing but the store may be; name another "
                    + "directory, best on the same file system")
        }
        for address in listenAddresses where !address.isLocal && tls == nil && !isInsecure {
            refuse(
                "`\(address)` can be reached from other machines in plain text: set `tls.cert` "
                    + "and `tls.key`, listen on loopback or on a Unix socket, or say --insecure")
        }
        if limits.defaultDeadlineMilliseconds > limits.deadlineMillisecondsMax {
            refuse("`limits.defaultDeadline` is longer than `limits.maxDeadline`")
        }
        return problems
    }
}

extension Configuration {
    /// Whether a path is `directory` or below it, as written.
    private static func isInside(_ path: String, _ directory: String) -> Bool {
        let (path, directory) = (path.split(separator: "/"), directory.split(separator: "/"))
        return path.starts(with: directory)
    }
}

extension Configuration.App {
    fileprivate init(_ app: ResolvedSettings.App, familyCut: FamilyCut) {
        let reader = SettingReader(settings: app.settings)
        bundleID = reader.text(.bundleId)
        appAppleID = app.settings[.appAppleId] == nil ? nil : reader.integer(.appAppleId)
        let names = reader.texts(.environments)
        environments = names.isEmpty ? [.production] : Set(names.compactMap(AppEnvironment.init))
        var products: [ExactName: Catalog.Product] = [:]
        for product in app.products {
            let reader = SettingReader(settings: product.settings)
            products[ExactName(product.id)] = Catalog.Product(
                entitlements: reader.texts(.productEntitlements),
                policy: ProductPolicy(
                    duration: reader.integer(.productDuration),
                    keepsProratedRefunds: reader.text(.productProratedRefund) == "keep"),
                unitCostMicros: reader.integer(.productUnitCost))
        }
        catalog = Catalog(products: products, familyCut: familyCut)
    }

    fileprivate var problems: [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        if bundleID.isEmpty {
            problems.append(
                ConfigurationProblem("an app has no bundle id: say --bundle-id, or `bundleId`"))
        }
        if environments.contains(.production), appAppleID == nil {
            problems.append(
                ConfigurationProblem(
                    "`\(bundleID)` serves Production and has no Apple ID: without it a "
                        + "notification of another app could not be told apart; say "
                        + "--app-apple-id, or `appAppleId`"))
        }
        return problems
    }
}
