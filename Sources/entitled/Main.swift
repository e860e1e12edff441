internal import FoundationEssentials
internal import Glibc

/// The program: hands the outside world to `Program`, and serves.
@main
struct Main {
    static func main() {
        SystemCalls.prepareSignals()
        let inputs = ConfigurationInputs(
            arguments: Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment,
            readFile: { (path, byteCountMax) throws(FileReadError) in
                try SystemCalls.readFile(path, byteCountMax: byteCountMax)
            },
            fileExists: SystemCalls.fileExists)
        let program = Program(
            inputs: inputs,
            writeOutput: { SystemCalls.write($0, to: .output) },
            writeError: { SystemCalls.write($0, to: .error) },
            serve: { serve($0, inputs: inputs) })
        exit(program.run().rawValue)
    }

    private static func serve(
        _ loaded: LoadedConfiguration, inputs: ConfigurationInputs
    ) -> ExitCode {
        let daemon = Daemon(
            loaded: loaded,
            logger: LogSetup.logger(loaded.configuration, environment: inputs.environment),
            environment: inputs.environment,
            reload: { () throws(ConfigurationFailure) in
                try LoadedConfiguration(ConfigurationLoader(inputs), inputs: inputs)
            })
        return daemon.run()
    }
}
