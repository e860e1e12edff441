/// A flag of the command line.
struct Flag: Equatable, Sendable {
    /// Without dashes.
    let name: String
    /// What its value is called in help; nil = it takes none.
    let value: String?
    let help: String
    /// The environment variable that stands in for it; nil = none.
    var variable: String?
    /// The one-letter form; nil = none.
    var letter: Character?

    /// A flag with a value.
    static func value(
        _ name: String, _ value: String, _ help: String, variable: String? = nil
    ) -> Flag {
        Flag(name: name, value: value, help: help, variable: variable)
    }

    /// A flag without one.
    static func toggle(_ name: String, _ help: String, letter: Character? = nil) -> Flag {
        Flag(name: name, value: nil, help: help, letter: letter)
    }
}

/// A command: its words, what may follow them, and what it does.
struct Command: Sendable {
    /// What carries it out.
    typealias Body = @Sendable (Invocation) async throws(CommandFailure) -> ExitStatus

    /// E.g. `["customer", "show"]`.
    let words: [String]
    /// What must follow, in upper case as help shows it; a "?" at the end makes it optional, "..."
    /// lets the last one come more than once.
    let operands: [String]
    let flags: [Flag]
    let summary: String
    /// Further sentences for its own help.
    let details: [String]
    /// A command line, and what it is for.
    let examples: [(line: String, purpose: String)]
    let body: Body

    /// Its words, as one writes them.
    var name: String { words.joined(separator: " ") }

    var operandCountMin: Int { operands.filter { !$0.hasSuffix("?") }.count }
    var operandCountMax: Int {
        operands.last?.hasSuffix("...") == true ? .max : operands.count
    }

    /// `check CUSTOMER [PRODUCT]`.
    var usage: String {
        ([name]
            + operands.map { $0.hasSuffix("?") ? "[\($0.dropLast())]" : $0 })
            .joined(separator: " ")
    }
}

/// Every command and every flag there is.
enum CommandTable {
    static let globalFlags = [
        Flag.value(
            "addr", "ADDRESS", "the server: host:port, [v6]:port or unix:PATH [127.0.0.1:7420]",
            variable: "ENTITLECTL_ADDR"),
        .value("bundle-id", "ID", "the app; the server's only one where it has one"),
        .value("environment", "NAME", "production or sandbox [production]"),
        .value(
            "timeout", "TIME", "how long a call may take, e.g. 500ms, 10s, 2m [10s; to Apple 1m]"),
        .value("output", "FORM", "table or json [table]"),
        .toggle("no-color", "no colours; also by NO_COLOR, TERM=dumb, or without a terminal"),
        .toggle("quiet", "no notes on stderr", letter: "q"),
        .toggle("verbose", "details on stderr", letter: "v"),
        .toggle("help", "this text, or that of a command", letter: "h"),
        .toggle("version", "the release of this tool"),
    ]

    static let customerHelp =
        "CUSTOMER is the app's own user id, or token:UUID, app-transaction:ID,"
        + " original-transaction:ID, customer:ID."

    static let all: [Command] = [
        CheckCommand.command, ExplainCommand.command, CustomerCommand.command,
        CustomersCommand.command, IngestCommand.command, LinkCommand.command,
        FamilyCommand.show, FamilyCommand.link, FamilyCommand.unlink, RebuildCommand.command,
        BackfillCommand.command, AuditCommand.command, RefundsCommand.command,
        ReconciliationCommand.command,
        TestNotificationCommand.command, HealthCommand.command, RehearseCommand.command, version,
    ]

    private static let version = Command(
        words: ["version"], operands: [], flags: [], summary: "the release of this tool",
        details: [], examples: [("entitlectl version", "which release is this?")],
        body: { (invocation) throws(CommandFailure) in
            invocation.printVersion()
            return .success
        })

    /// Flags by name, of whatever command; a name means the same kind everywhere.
    static let flagsByName: [String: Flag] = {
        var flags: [String: Flag] = [:]
        for flag in globalFlags + all.flatMap(\.flags) { flags[flag.name] = flag }
        return flags
    }()
}
