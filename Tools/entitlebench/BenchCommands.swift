internal import ToolSupport

/// A command of this tool.
typealias BenchCommand = ToolCommand<Bench>

/// Every command there is, in the order of the help.
enum BenchCommands {
    /// The release; the server's is asked for by `entitlectl health`.
    static let version = "0.1.0"

    static let all: [BenchCommand] = [
        RunCommand.command,
        CalibrateCommand.command,
        SmokeCommand.command,
        SeedCommand.command,
        ScaleCommand.command,
        CompareCommand.command,
        CrashCommand.command,
        GateCommand.command { $0.call },
    ]

    /// The tool as a whole; without a command it runs the canonical workload.
    static let program = ToolProgram<Bench>(
        tool: "entitlebench", version: version, commands: all,
        globalFlags: ToolProgram<Bench>.usualFlags,
        frame: HelpPage.Frame(
            summary: "drives an entitled server, and checks every answer",
            example: "entitlebench run check-zipf --connections 16 --depth 64",
            closing: [
                "Without a command: entitlebench run \(Workloads.canonical), on an own server.",
                "Latency counts from the instant at which a request was meant to be sent. A wrong",
                "answer fails the run. Results go to stdout, everything else to stderr.",
                "Exit codes: 0 done and all answers right, 1 failed or a wrong answer, 2 usage,",
                "6 no server, 130 interrupted.",
            ]),
        wordsWhenNone: ["run"],
        context: { (call) throws(CommandFailure) in try Bench(call) })
}
