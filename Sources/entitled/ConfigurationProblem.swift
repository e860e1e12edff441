/// One thing that is wrong with the configuration, in words for the operator.
struct ConfigurationProblem: Error, Equatable, Sendable {
    /// Names the setting and its place, what was found and what is expected. Never a secret.
    let message: String
    /// `.usage` for the command line, `.configuration` for everything else.
    let exitCode: ExitCode

    init(_ message: String, exitCode: ExitCode = .configuration) {
        self.message = message
        self.exitCode = exitCode
    }

    /// "unknown WHAT `prefix+name`", with the nearest of `candidates` when one is near; the prefix
    /// takes no part in the comparison.
    static func unknown(
        _ what: String, prefix: String, _ name: String, place: String = "",
        among candidates: [String], exitCode: ExitCode = .configuration
    ) -> ConfigurationProblem {
        let suggestion = NearestName.find(for: name, among: candidates)
            .map { "; did you mean `\(prefix)\($0)`?" }
        return ConfigurationProblem(
            "unknown \(what) `\(prefix)\(name)`\(place)\(suggestion ?? "")", exitCode: exitCode)
    }
}

/// Everything that is wrong with the configuration: an operator mends it in one go.
struct ConfigurationFailure: Error, Equatable, Sendable {
    /// Not empty, in the order of the sources.
    let problems: [ConfigurationProblem]

    /// That of the command line when it has a part in it.
    var exitCode: ExitCode {
        problems.contains { $0.exitCode == .usage } ? .usage : .configuration
    }
}
