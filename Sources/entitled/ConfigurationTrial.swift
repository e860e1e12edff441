/// Reads a configuration as the server does at its start, without a process around it: what came of
/// it is text. For who judges configurations from outside, the fuzzers among them.
package struct ConfigurationTrial: Sendable {
    /// What `--print-config` would write; an empty text where something is wrong.
    package let listing: String
    /// What is wrong, in the order of the sources; empty where the server would start.
    package let problems: [String]

    /// Reads the sources; the only file that there is, is the configuration file.
    ///
    /// - Parameters:
    ///   - file: The bytes of the configuration file; nil: there is none.
    ///   - arguments: What follows the program's name.
    ///   - environment: The process's environment.
    package init(
        file: [UInt8]?, arguments: [String] = [], environment: [String: String] = [:]
    ) {
        let loader = ConfigurationLoader(
            ConfigurationInputs(
                arguments: arguments, environment: environment,
                readFile: { (_, byteCountMax) throws(FileReadError) in
                    guard let file else { throw .notFound }
                    return Array(file.prefix(byteCountMax + 1))
                },
                fileExists: { _ in false }))
        do throws(ConfigurationFailure) {
            _ = try loader.configuration()
            listing = ConfigurationListing.text(of: loader.resolved, file: loader.file?.path)
            problems = []
        } catch {
            listing = ""
            problems = error.problems.map(\.message)
        }
    }
}
