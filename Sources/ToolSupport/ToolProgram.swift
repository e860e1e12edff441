internal import Glibc

/// A tool as a whole: reads a command line, carries out one command, gives its exit code.
package struct ToolProgram<Context: Sendable>: Sendable {
    /// One run of a command, before the tool has looked at it.
    package struct Call: Sendable {
        /// Values of flags by name; "" for one that takes none.
        package let flags: [String: String]
        /// The words behind the command.
        package let operands: [String]
        /// The environment variables.
        package let environment: [String: String]
        /// Where results and words go.
        package let console: Console

        /// Whether results are one JSON object.
        ///
        /// - Throws: `CommandFailure` with `.usage` where `--output` is neither table nor json.
        package func isJSON() throws(CommandFailure) -> Bool {
            switch flags["output"] {
            case nil, "table": return false
            case "json": return true
            case let other?:
                throw CommandFailure(.usage, "--output: `\(other)` is not table or json")
            }
        }
    }

    private let grammar: CommandGrammar
    private let commands: [ToolCommand<Context>]
    private let help: HelpPage
    private let version: String
    private let wordsWhenNone: [String]
    private let context: @Sendable (Call) throws(CommandFailure) -> Context

    /// - Parameters:
    ///   - tool: its name.
    ///   - version: its release.
    ///   - commands: in the order of the help.
    ///   - globalFlags: flags of every command; `output`, `no-color`, `quiet`, `verbose`, `help`
    ///     and `version` among them.
    ///   - frame: what frames the list of commands in the help.
    ///   - wordsWhenNone: the command that runs when none is named; empty = naming one is needed.
    ///   - context: makes what commands are given.
    package init(
        tool: String, version: String, commands: [ToolCommand<Context>], globalFlags: [Flag],
        frame: HelpPage.Frame, wordsWhenNone: [String] = [],
        context: @escaping @Sendable (Call) throws(CommandFailure) -> Context
    ) {
        grammar = CommandGrammar(
            tool: tool, commands: commands.map(\.shape), globalFlags: globalFlags)
        self.commands = commands
        help = HelpPage(grammar, frame)
        self.version = version
        self.wordsWhenNone = wordsWhenNone
        self.context = context
    }

    /// Flags that every tool has, for the end of its list.
    package static var usualFlags: [Flag] {
        [
            .value("output", "FORM", "table or json [table]"),
            .toggle("no-color", "no colours; also by NO_COLOR, TERM=dumb, or without a terminal"),
            .toggle("quiet", "no notes on stderr", letter: "q"),
            .toggle("verbose", "details on stderr", letter: "v"),
            .toggle("help", "this text, or that of a command", letter: "h"),
            .toggle("version", "the release of this tool"),
        ]
    }

    /// Carries out one command line; `arguments` follow the program's name.
    package func run(
        _ arguments: [String], environment: [String: String]
    ) async -> ExitStatus {
        // A reader that went away makes writes fail, which ends the tool quietly.
        signal(SIGPIPE, SIG_IGN)
        var console = Console(tool: grammar.tool, usesColour: false)
        do throws(CommandFailure) {
            let reader = try ArgumentReader(arguments, grammar)
            console = Console(
                tool: grammar.tool, usesColour: usesColour(reader.flags, environment),
                isQuiet: reader.flags["quiet"] != nil, isVerbose: reader.flags["verbose"] != nil)
            if let page = helpPage(reader) {
                console.page(page)
                return .success
            }
            if reader.flags["version"] != nil {
                try printVersion(
                    Call(
                        flags: reader.flags, operands: [], environment: environment,
                        console: console))
                return .success
            }
            let (index, operands) = try command(reader)
            try check(operands, reader.flags, of: grammar.commands[index])
            let call = Call(
                flags: reader.flags, operands: operands, environment: environment,
                console: console)
            return try await commands[index].body(try context(call))
        } catch {
            console.fail(error)
            return error.status
        }
    }

    private func command(
        _ reader: ArgumentReader
    ) throws(CommandFailure) -> (index: Int, operands: [String]) {
        if reader.words.isEmpty,
            let index = grammar.commands.firstIndex(where: {
                !wordsWhenNone.isEmpty && wordsWhenNone.starts(with: $0.words)
            })
        {
            return (index, Array(wordsWhenNone.dropFirst(grammar.commands[index].words.count)))
        }
        return try reader.command()
    }

    /// The release, in the form that was asked for.
    ///
    /// - Throws: `CommandFailure` when `--output` is wrong.
    package func printVersion(_ call: Call) throws(CommandFailure) {
        if try call.isJSON() {
            call.console.print(
                JSONValue.object([("name", .string(grammar.tool)), ("version", .string(version))]))
        } else {
            call.console.print(Line("\(grammar.tool) \(version)"))
        }
    }

    /// The page for `--help`, `help WORD`, or no word at all; nil when no help is asked for.
    private func helpPage(_ reader: ArgumentReader) -> String? {
        let words = reader.words.first == "help" ? Array(reader.words.dropFirst()) : reader.words
        guard reader.flags["help"] != nil || reader.words.first == "help" else { return nil }
        if let command = grammar.commands.first(where: { words.starts(with: $0.words) }) {
            return help.command(command)
        }
        if let first = words.first, grammar.commands.contains(where: { $0.words[0] == first }) {
            return help.group(first)
        }
        return help.overview
    }

    private func usesColour(
        _ flags: [String: String], _ environment: [String: String]
    ) -> Bool {
        flags["no-color"] == nil && environment["NO_COLOR", default: ""].isEmpty
            && environment["TERM", default: "dumb"] != "dumb"
            && SystemCalls.isTerminal(.output)
    }

    private func check(
        _ operands: [String], _ flags: [String: String], of command: CommandShape
    ) throws(CommandFailure) {
        let hint = "usage: \(grammar.tool) \(command.usage)"
        let known = Set((command.flags + grammar.globalFlags).map(\.name))
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
