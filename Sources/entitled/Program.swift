internal import AppStore
internal import AppStoreServerAPI
internal import Authorization
internal import HTTP
internal import OpenSSL

/// A configuration and the content of the files that it names.
struct LoadedConfiguration {
    let configuration: Configuration
    let roots: [TrustedRoot]
    /// `nil`: version 1 notifications are refused.
    let v1SharedSecret: [UInt8]?
    /// What Apple knows this server by; `nil` where the App Store Server API is not configured.
    let appStoreKey: APIKey?
    /// PEM certificates of a stand-in for Apple.
    let appStoreAuthorities: [UInt8]?
    /// `nil`: the HTTP listener, where there is one, speaks plain text.
    let httpIdentity: HTTPServerIdentity?
    /// `nil`: the protocol's listeners speak plain text.
    let tls: TLSContext?
    /// Who may call; `nil`: everybody.
    let keys: KeysFile?
    /// Every setting with its source, to compare with when the configuration is read again.
    let resolved: ResolvedSettings

    /// Reads what the configuration names.
    ///
    /// - Throws: everything that is wrong.
    init(
        _ loader: ConfigurationLoader, inputs: ConfigurationInputs
    ) throws(ConfigurationFailure) {
        configuration = try loader.configuration()
        roots = try TrustedRoots.load(configuration, readFile: inputs.readFile)
        v1SharedSecret = try SharedSecret.load(configuration, readFile: inputs.readFile)
        let api = configuration.appStoreAPI
        appStoreKey = try api.map { (api) throws(ConfigurationFailure) in
            try NamedFile.appStoreKey(api, by: inputs.readFile)
        }
        appStoreAuthorities = try api?.caPath.map { (path) throws(ConfigurationFailure) in
            try NamedFile.pem("the authorities", at: path, by: inputs.readFile)
        }
        httpIdentity = try configuration.http?.tls.map { (files) throws(ConfigurationFailure) in
            try files.load(by: inputs.readFile)
        }
        tls = try configuration.tls.map { (files) throws(ConfigurationFailure) in
            try files.load(by: inputs.readFile)
        }
        keys = try configuration.auth.keysPath.map { (path) throws(ConfigurationFailure) in
            try KeysReload.read(path, by: inputs.readFile)
        }
        resolved = loader.resolved
    }
}

/// What one run of the program does, apart from serving: it reads the configuration, answers the
/// questions that `--help` and the like are, and says what is wrong.
struct Program {
    let inputs: ConfigurationInputs
    /// Takes what was asked for: whole lines.
    let writeOutput: (String) -> Void
    /// Takes everything else: whole lines.
    let writeError: (String) -> Void
    /// Serves until it is told to stop.
    let serve: (LoadedConfiguration) -> ExitCode

    /// Does it, and returns the process's exit code.
    func run() -> ExitCode {
        let loader = ConfigurationLoader(inputs)
        let arguments = loader.arguments
        if arguments.problems.isEmpty {
            switch arguments.action {
            case .help:
                writeOutput(HelpText.text)
                return .success
            case .version:
                writeOutput((arguments.isJSON ? Version.json : Version.text) + "\n")
                return .success
            case .printConfig:
                // Shown even when something is wrong: this is where one looks for it.
                writeOutput(
                    ConfigurationListing.text(of: loader.resolved, file: loader.file?.path))
            case .run, .checkConfig: break
            }
        }
        do throws(ConfigurationFailure) {
            let loaded = try LoadedConfiguration(loader, inputs: inputs)
            return arguments.action == .run ? serve(loaded) : .success
        } catch {
            for problem in error.problems { writeError("entitled: \(problem.message)\n") }
            if error.exitCode == .usage { writeError("entitled: see entitled --help\n") }
            return error.exitCode
        }
    }
}
