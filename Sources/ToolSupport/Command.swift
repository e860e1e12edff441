/// A flag of the command line.
package struct Flag: Equatable, Sendable {
    /// Without dashes.
    package let name: String
    /// What its value is called in help; nil = it takes none.
    package let value: String?
    /// One line for help.
    package let help: String
    /// The environment variable that stands in for it; nil = none.
    package var variable: String?
    /// The one-letter form; nil = none.
    package var letter: Character?

    /// A flag with a value.
    package static func value(
        _ name: String, _ value: String, _ help: String, variable: String? = nil
    ) -> Flag {
        Flag(name: name, value: value, help: help, variable: variable)
    }

    /// A flag without one.
    package static func toggle(
        _ name: String, _ help: String, letter: Character? = nil
    ) -> Flag {
        Flag(name: name, value: nil, help: help, letter: letter)
    }
}

/// A command as the command line and its help see it: its words, and what may follow them.
package struct CommandShape: Sendable {
    /// E.g. `["customer", "show"]`.
    package let words: [String]
    /// What must follow, in upper case as help shows it; a "?" at the end makes it optional, "..."
    /// lets the last one come more than once.
    package let operands: [String]
    /// Those of this command alone.
    package let flags: [Flag]
    /// One line for help.
    package let summary: String
    /// Further sentences for its own help.
    package let details: [String]
    /// A command line, and what it is for.
    package let examples: [(line: String, purpose: String)]

    /// Its words, as one writes them.
    package var name: String { words.joined(separator: " ") }

    /// How many operands it needs.
    var operandCountMin: Int { operands.filter { !$0.hasSuffix("?") }.count }
    /// How many it takes.
    var operandCountMax: Int {
        operands.last?.hasSuffix("...") == true ? .max : operands.count
    }

    /// `check CUSTOMER [PRODUCT]`.
    package var usage: String {
        ([name]
            + operands.map { $0.hasSuffix("?") ? "[\($0.dropLast())]" : $0 })
            .joined(separator: " ")
    }
}

/// A command, and what it does. `Context` is what the tool gives to each: flags, operands, console.
package struct ToolCommand<Context: Sendable>: Sendable {
    /// What carries it out.
    package typealias Body = @Sendable (Context) async throws(CommandFailure) -> ExitStatus

    /// Its words, and what may follow them.
    package let shape: CommandShape
    let body: Body

    /// A command; see `CommandShape` for what each means.
    package init(
        words: [String], operands: [String], flags: [Flag], summary: String, details: [String],
        examples: [(line: String, purpose: String)], body: @escaping Body
    ) {
        shape = CommandShape(
            words: words, operands: operands, flags: flags, summary: summary, details: details,
            examples: examples)
        self.body = body
    }
}

/// Every word and flag that a tool knows.
package struct CommandGrammar: Sendable {
    /// The tool's name.
    package let tool: String
    /// Its commands, in the order of its help.
    package let commands: [CommandShape]
    /// Flags that every command takes.
    package let globalFlags: [Flag]
    /// Flags by name, of whatever command: for those that come before the command's own words.
    let flagsByName: [String: Flag]

    /// The grammar of a tool.
    package init(tool: String, commands: [CommandShape], globalFlags: [Flag]) {
        self.tool = tool
        self.commands = commands
        self.globalFlags = globalFlags
        var flags: [String: Flag] = [:]
        for flag in globalFlags + commands.flatMap(\.flags) { flags[flag.name] = flag }
        flagsByName = flags
    }
}
