internal import ToolSupport

/// A command of this tool.
typealias Command = ToolCommand<Invocation>

/// Every command and every flag there is.
enum CommandTable {
    static let globalFlags =
        [
            Flag.value(
                "addr", "ADDRESS", "the server: host:port, [v6]:port or unix:PATH [127.0.0.1:7420]",
                variable: "ENTITLECTL_ADDR"),
            .value(
                "key-file", "FILE", "the API key to show to the server; - is stdin",
                variable: "ENTITLECTL_KEY_FILE"),
            .value("bundle-id", "ID", "the app; the server's only one where it has one"),
            .value("environment", "NAME", "production or sandbox [production]"),
            .value(
                "timeout", "TIME",
                "how long a call may take, e.g. 500ms, 10s, 2m [10s; to Apple 1m]"),
        ] + TLSFlags.flags + ToolProgram<Invocation>.usualFlags

    static let customerHelp =
        "CUSTOMER is the app's own user id, or token:UUID, app-transaction:ID,"
        + " original-transaction:ID, customer:ID."

    static let all: [Command] = [
        CheckCommand.command, ExplainCommand.command, CustomerCommand.command,
        ForgetCommand.command, CustomersCommand.command, IngestCommand.command,
        LinkCommand.command,
        FamilyCommand.show, FamilyCommand.link, FamilyCommand.unlink, RebuildCommand.command,
        BackfillCommand.command, AuditCommand.command, RefundsCommand.command,
        ReconciliationCommand.command, BackupCommand.create, BackupShelfCommand.list,
        BackupShelfCommand.prune, VerifyCommand.backup, RestoreCommand.command,
        VerifyCommand.data, ExportCommand.command, ImportCommand.command,
        TestNotificationCommand.command, HealthCommand.command, RehearseCommand.command,
        KeyCommand.create, KeyCommand.list, KeyCommand.revoke, version,
    ]

    private static let version = Command(
        words: ["version"], operands: [], flags: [], summary: "the release of this tool",
        details: [], examples: [("entitlectl version", "which release is this?")],
        body: { (invocation) throws(CommandFailure) in
            try program.printVersion(invocation.call)
            return .success
        })

    /// The tool as a whole.
    static let program = ToolProgram<Invocation>(
        tool: "entitlectl", version: Invocation.version, commands: all, globalFlags: globalFlags,
        frame: HelpPage.Frame(
            summary: "asks and feeds an entitled server",
            example: "entitlectl check u-1001 meadow.plus",
            closing: [
                customerHelp,
                "Times are RFC 3339, such as 2026-03-08T10:00:05Z or 2026-03-08, or ms since 1970.",
                "Results go to stdout, everything else to stderr. --help of a command names the",
                "members of its JSON; they keep their names and meaning, new ones come at the end.",
                "Exit codes: 0 done, 1 failed, 2 usage, 3 denied (check --exit-code), 4 not found,",
                "5 no permission, 6 unavailable or too late, 7 conflict,"
                    + " 65 damaged data, 78 bad environment variable.",
            ]),
        context: { (call) throws(CommandFailure) in try Invocation(call) })
}
