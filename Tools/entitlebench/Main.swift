internal import FoundationEssentials
internal import Glibc
internal import ToolSupport

/// The load-testing harness: reads the command line, carries out one command, ends with its exit
/// code.
@main
struct Main {
    static func main() async {
        let status = await BenchCommands.program.run(
            Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment)
        exit(status.rawValue)
    }
}
