internal import FoundationEssentials
internal import Glibc

/// The tool: reads the command line, carries out one command, ends with its exit code.
@main
struct Main {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        let status = await run(
            Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment)
        exit(status.rawValue)
    }

    private static func run(
        _ arguments: [String], environment: [String: String]
    ) async -> ExitStatus {
        var console = Console(usesColour: false)
        do throws(CommandFailure) {
            let reader = try ArgumentReader(arguments)
            console = Console(
                usesColour: usesColour(reader.flags, environment),
                isQuiet: reader.flags["quiet"] != nil, isVerbose: reader.flags["verbose"] != nil)
            if let page = helpPage(reader) {
                console.page(page)
                return .success
            }
            if reader.flags["version"] != nil {
                try Invocation(
                    flags: reader.flags, operands: [], environment: environment, console: console
                ).printVersion()
                return .success
            }
            let (command, operands) = try reader.command()
            try check(operands, reader.flags, of: command)
            let invocation = try Invocation(
                flags: reader.flags, operands: operands, environment: environment,
                console: console)
            return try await command.body(invocation)
        } catch {
            console.fail(error)
            return error.status
        }
    }

    /// The page for `--help`, `help WORD`, or no word at all; nil when no help is asked for.
    private static func helpPage(_ reader: ArgumentReader) -> String? {
        let words = reader.words.first == "help" ? Array(reader.words.dropFirst()) : reader.words
        guard reader.flags["help"] != nil || reader.words.first == "help" else { return nil }
        if let command = CommandTable.all.first(where: { words.starts(with: $0.words) }) {
            return HelpPage.command(command)
        }
        if let first = words.first, CommandTable.all.contains(where: { $0.words[0] == first }) {
            return HelpPage.group(first)
        }
        return HelpPage.overview
    }

    private static func usesColour(
        _ flags: [String: String], _ environment: [String: String]
    ) -> Bool {
        flags["no-color"] == nil && environment["NO_COLOR", default: ""].isEmpty
            && environment["TERM", default: "dumb"] != "dumb"
            && SystemCalls.isTerminal(.output)
    }

    private static func check(
        _ operands: [String], _ flags: [String: String], of command: Command
    ) throws(CommandFailure) {
        let hint = "usage: entitlectl \(command.usage)"
        let known = Set((command.flags + CommandTable.globalFlags).map(\.name))
        if let stray = flags.keys.sorted().first(where: { !known.contains($0) }) {
            let nearest = NearestName.find(for: stray, among: command.flags.map(\.name))
            throw CommandFailure(
                .usage, "`\(command.name)` has no flag --\(stray)",
                hint: nearest.map { "did you mean --\($0)?" } ?? hint)
        }
        if operands.count < command.operandCountMin {
            throw CommandFailure(
                .usage, "`\(command.name)` needs \(command.operands[operands.count])", hint: hint)
        }
        if operands.count > command.operandCountMax {
            throw CommandFailure(
                .usage, "`\(command.name)` does not take `\(operands[command.operandCountMax])`",
                hint: hint)
        }
    }
}
