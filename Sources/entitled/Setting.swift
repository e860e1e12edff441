/// One setting: the row of the table from which parsing, `--help` and `--print-config` are made.
struct Setting: Sendable {
    /// Where the setting stands in the configuration file.
    let key: SettingKey
    let kind: SettingKind
    /// Whether several values may be given: a list in the file, a repeated flag, commas in the
    /// environment.
    var isList = false
    /// What holds when nothing is said, as it would be written in the file; empty for nothing.
    var standard: [String] = []
    /// The flag, without its dashes; `nil` for settings that only a file can hold.
    var flag: String?
    /// A file that holds a secret: also found in `$CREDENTIALS_DIRECTORY` under this name.
    var credential: String?
    /// A word for the value in `--help`.
    var placeholder = "VALUE"
    let help: String

    /// The environment variable: `ENTITLED_` and the flag in capitals.
    var environmentName: String? {
        flag.map { "ENTITLED_" + $0.uppercased().replacing("-", with: "_") }
    }
}

/// Where each setting stands in the configuration file. `[]` is any element of a list, `{}` any key
/// of an object whose keys are the operator's own.
enum SettingKey: String, CaseIterable, Hashable, Sendable {
    case config
    case bundleId = "apps[].bundleId"
    case appAppleId = "apps[].appAppleId"
    case environments = "apps[].environments"
    case productEntitlements = "apps[].products{}.entitlements"
    case productUnitCost = "apps[].products{}.unitCost"
    case productDuration = "apps[].products{}.duration"
    case productProratedRefund = "apps[].products{}.refunds.prorated"
    case roots = "apple.roots"
    case allowTestRoot = "apple.allowTestRoot"
    case v1SharedSecretFile = "apple.v1SharedSecretFile"
    case apiIssuerId = "apple.api.issuerId"
    case apiKeyId = "apple.api.keyId"
    case apiKeyFile = "apple.api.keyFile"
    case apiBaseUrl = "apple.api.baseUrl"
    case apiSandboxBaseUrl = "apple.api.sandboxBaseUrl"
    case apiCaFile = "apple.api.caFile"
    case apiHistoryRate = "apple.api.historyRate"
    case apiSweepInterval = "apple.api.sweepInterval"
    case apiBackfillInterval = "apple.api.backfillInterval"
    case apiThreads = "apple.api.threads"
    case familyCut = "family.cut"
    case identityConflict = "identity.onConflict"
    case metering
    case meteringInterval
    case data
    case dataSync
    case backupDir = "backup.dir"
    case listen
    case http
    case httpTlsCert = "httpTls.cert"
    case httpTlsKey = "httpTls.key"
    case insecure
    case tlsCert = "tls.cert"
    case tlsKey = "tls.key"
    case tlsClientCa = "tls.clientCa"
    case tlsMinVersion = "tls.minVersion"
    case authKeysFile = "auth.keysFile"
    case authOpenMetrics = "auth.openMetrics"
    case authAuditFile = "auth.auditFile"
    case authAuditSize = "auth.auditSize"
    case threads
    case workers
    case cacheSize
    case memtableSize
    case spinUs
    case maxFrame = "limits.maxFrame"
    case maxConnections = "limits.maxConnections"
    case maxConnectionsPerPeer = "limits.maxConnectionsPerPeer"
    case maxBuffered = "limits.maxBuffered"
    case maxInflight = "limits.maxInflight"
    case maxBatch = "limits.maxBatch"
    case maxHttpBody = "limits.maxHttpBody"
    case maxHttpConnections = "limits.maxHttpConnections"
    case defaultDeadline = "limits.defaultDeadline"
    case maxDeadline = "limits.maxDeadline"
    case shutdownGrace
    case logFormat = "log.format"
    case logLevel = "log.level"
}
