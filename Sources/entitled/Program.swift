internal import AppStore

/// A configuration and the content of the files that it names.
struct LoadedConfiguration {
    let configuration: Configuration
    let roots: [TrustedRoot]
    /// `nil`: version 1 notifications are refused.
    let v1SharedSecret: [UInt8]?
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
