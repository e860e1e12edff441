/// Why a file could not be read.
enum FileReadError: Error, Equatable, Sendable {
    case notFound
    case noPermission
    case other(String)

    /// For people, after the file's name.
    var text: String {
        switch self {
        case .notFound: "there is no such file"
        case .noPermission: "this process may not read it"
        case .other(let message): message
        }
    }
}

/// The outside world as far as the configuration reads it; tests give their own.
struct ConfigurationInputs: Sendable {
    /// What follows the program's name.
    var arguments: [String]
    var environment: [String: String]
    /// Reads a whole file of at most the given bytes (one more is read, so that a longer file is
    /// noticed).
    var readFile:
        @Sendable (_ path: String, _ byteCountMax: Int) throws(FileReadError) ->
            [UInt8]
    /// Whether there is a file at a path.
    var fileExists: @Sendable (_ path: String) -> Bool
}

/// Brings the sources together: command line, environment, credentials, file.
struct ConfigurationLoader {
    let arguments: CommandLineArguments
    /// The file that was read; `nil` when there was none.
    private(set) var file: ConfigurationFile?
    private(set) var resolved = ResolvedSettings()
    /// What is wrong, in the order of the sources.
    private(set) var problems: [ConfigurationProblem]
    private let inputs: ConfigurationInputs

    init(_ inputs: ConfigurationInputs) {
        self.inputs = inputs
        arguments = CommandLineArguments(inputs.arguments)
        let environment = EnvironmentVariables(inputs.environment)
        problems = arguments.problems + environment.problems
        readFile(environment: environment)
        let resolver = SettingsResolver(
            file: file, environment: environment, arguments: arguments, credentials: credentials)
        resolved = resolver.resolved
        problems += resolver.problems
    }

    /// The configuration as a whole.
    ///
    /// - Throws: everything that is wrong with it.
    func configuration() throws(ConfigurationFailure) -> Configuration {
        let (configuration, wholeProblems) = Configuration.make(from: resolved)
        let all = problems + (problems.isEmpty ? wholeProblems : [])
        guard all.isEmpty else { throw ConfigurationFailure(problems: all) }
        return configuration
    }

    private mutating func readFile(environment: EnvironmentVariables) {
        let named = (arguments.values[.config]?.last).flatMap { $0.isEmpty ? nil : $0 }
        let path = named ?? environment.values[.config] ?? SettingTable.configurationFile
        let isAskedFor =
            path != SettingTable.configurationFile || named != nil
            || environment.values[.config] != nil
        do throws(FileReadError) {
            let bytes = try inputs.readFile(path, ConfigurationFile.byteCountMax)
            file = ConfigurationFile(path: path, bytes: bytes)
        } catch {
            if error == .notFound, !isAskedFor { return }
            problems.append(
                ConfigurationProblem("the configuration file `\(path)`: \(error.text)"))
        }
    }

    /// The credentials of this service that systemd (or whoever sets the variable) hands over.
    private var credentials: [String: String] {
        guard let directory = inputs.environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else {
            return [:]
        }
        var paths: [String: String] = [:]
        for name in SettingTable.all.compactMap(\.credential) {
            let path = "\(directory)/\(name)"
            if inputs.fileExists(path) { paths[name] = path }
        }
        return paths
    }
}
