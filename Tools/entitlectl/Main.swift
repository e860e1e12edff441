internal import FoundationEssentials
internal import Glibc
internal import ToolSupport

/// The tool: reads the command line, carries out one command, ends with its exit code.
@main
struct Main {
    static func main() async {
        let status = await CommandTable.program.run(
            Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment)
        exit(status.rawValue)
    }
}
