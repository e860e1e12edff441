internal import FoundationEssentials
internal import ToolSupport

/// `entitlebench gate`: what a server asks of its allocator and kernel, against thresholds.
enum GateCommand {
    /// Where thresholds are when nothing else is said, seen from the top of the project.
    static let usualThresholds = "Tools/Thresholds/6.3.json"
    /// The counter, beside this tool when nothing else is said.
    static let usualCounter = "libCCallCounter.so"

    /// The command, for a tool whose commands are given a `Context`; `call` takes what it needs
    /// from there.
    static func command<Context: Sendable>(
        _ call: @escaping @Sendable (Context) -> ToolProgram<Context>.Call
    ) -> ToolCommand<Context> {
        ToolCommand(
            words: ["gate"], operands: [],
            flags: [
                .value("server", "PATH", "the server's program [beside this tool, or in PATH]"),
                .value("counter", "PATH", "the library that counts [\(usualCounter) beside it]"),
                .value("thresholds", "FILE", "the most of each kind [\(usualThresholds)]"),
            ],
            summary: "count allocations and system calls of a server, and refuse too many",
            details: [
                "Starts a server of its own with a counter in it, hands in signed notifications,"
                    + " and asks in lock step on 1 and 16 connections with 1 and 16 requests in"
                    + " flight. Counts do not depend on how busy the machine is."
                    + " Every answer is checked.",
                "Exits with 1 when a threshold is passed.",
            ],
            examples: [("entitlebench gate --server .build/release/entitled", "before a merge")]
        ) { context throws(CommandFailure) in
            let call = call(context)
            return try await run(
                call.flags, call.environment, call.console, isJSON: try call.isJSON())
        }
    }

    private static func run(
        _ flags: [String: String], _ environment: [String: String], _ console: Console,
        isJSON: Bool
    ) async throws(CommandFailure) -> ExitStatus {
        let thresholds = try GateThresholds(path: flags["thresholds"] ?? usualThresholds)
        let program = try ServerPlace.findProgram(
            named: flags["server"], environment: environment)
        let run = GateRun(
            program: program, counter: try counter(flags["counter"]), environment: environment
        ) { console.note($0) }
        let report = GateReport(try await run.measure(), thresholds)
        if isJSON { console.print(report.json) } else { console.print(report.table) }
        if !report.isKept { console.note(GateReport.advice) }
        return report.isKept ? .success : .failed
    }

    /// The library's path.
    ///
    /// - Throws: `CommandFailure` that says where it was looked for.
    private static func counter(_ path: String?) throws(CommandFailure) -> String {
        let files = FileManager.default
        let tool = (try? files.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let directory = tool.split(separator: "/").dropLast().joined(separator: "/")
        let found = path ?? "/\(directory)/\(usualCounter)"
        guard files.fileExists(atPath: found) else {
            throw CommandFailure(
                .failed, "\(found): there is no such library",
                hint: "swift build --product CCallCounter, or name it with --counter PATH")
        }
        // The loader looks for a name without a slash elsewhere.
        return found.hasPrefix("/") ? found : files.currentDirectoryPath + "/" + found
    }
}

extension GateReport {
    /// For people.
    var table: [ToolSupport.Line] {
        var table = Table([
            .text("scenario"), .text("kind"), .number("for each"), .number("at most"),
            .text("verdict"),
        ])
        for line in lines {
            table.add([
                .init(line.scenario), .init(line.kind),
                .init(line.measured.map(Self.number) ?? "not measured"),
                .init(Self.number(line.limit)), .init(line.isKept ? "ok" : "OVER"),
            ])
        }
        return table.lines()
    }

    /// For scripts.
    var json: JSONValue {
        .object([
            ("kept", .boolean(isKept)),
            (
                "lines",
                .array(
                    lines.map { line in
                        .object([
                            ("scenario", .string(line.scenario)), ("kind", .string(line.kind)),
                            ("measured", line.measured.map(JSONValue.number) ?? .null),
                            ("limit", .number(line.limit)), ("kept", .boolean(line.isKept)),
                        ])
                    })
            ),
        ])
    }
}
