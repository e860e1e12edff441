/// The App Store Server API as configured.
struct AppStoreAPISettings: Equatable, Sendable {
    var issuerID: String
    var keyID: String
    /// A `.p8` file.
    var keyPath: String
    var baseURL: BaseURL
    var sandboxBaseURL: BaseURL
    /// PEM certificates of a stand-in for Apple.
    var caPath: String?
    /// Requests a second for histories of one app.
    var historyRate: Int
    /// 0: no sweep.
    var sweepMilliseconds: Int64
    /// 0: no backfill by itself.
    var backfillMilliseconds: Int64
    var threadCount: Int

    /// What makes the API usable; all of them or none.
    private static let credentials: [SettingKey] = [.apiIssuerId, .apiKeyId, .apiKeyFile]

    /// Nil where the credentials are not complete.
    init?(_ reader: SettingReader) {
        guard Self.missing(reader).isEmpty,
            let baseURL = BaseURL(reader.text(.apiBaseUrl)),
            let sandboxBaseURL = BaseURL(reader.text(.apiSandboxBaseUrl))
        else { return nil }
        issuerID = reader.text(.apiIssuerId)
        keyID = reader.text(.apiKeyId)
        keyPath = reader.text(.apiKeyFile)
        self.baseURL = baseURL
        self.sandboxBaseURL = sandboxBaseURL
        caPath = reader.texts(.apiCaFile).first
        historyRate = Int(reader.integer(.apiHistoryRate))
        sweepMilliseconds = reader.integer(.apiSweepInterval)
        backfillMilliseconds = reader.integer(.apiBackfillInterval)
        threadCount = Int(reader.integer(.apiThreads))
    }

    private static func missing(_ reader: SettingReader) -> [SettingKey] {
        credentials.filter { reader.texts($0).isEmpty }
    }

    /// What does not go together.
    static func problems(_ reader: SettingReader) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        let missing = missing(reader)
        if !missing.isEmpty, missing.count < credentials.count {
            let names = missing.map { "`\($0.rawValue)`" }.joined(separator: " and ")
            problems.append(
                ConfigurationProblem(
                    "the App Store Server API needs issuerId, keyId and keyFile, all of them or "
                        + "none: \(names) not set"))
        }
        let allowsTests = reader.boolean(.allowTestRoot)
        for key in [SettingKey.apiBaseUrl, .apiSandboxBaseUrl] {
            guard let url = BaseURL(reader.text(key)), !url.isEncrypted, !url.isLoopback,
                !allowsTests
            else { continue }
            problems.append(
                ConfigurationProblem(
                    "`\(key.rawValue)` is `\(url.text)`: tokens for Apple leave this machine by "
                        + "https only"))
        }
        if !reader.texts(.apiCaFile).isEmpty, !allowsTests {
            problems.append(
                ConfigurationProblem(
                    "`apple.api.caFile` trusts another than Apple: it is for tests, with "
                        + "--allow-test-root, or `apple.allowTestRoot`"))
        }
        return problems
    }
}
