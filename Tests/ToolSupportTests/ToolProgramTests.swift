import Synchronization
import Testing

@testable import ToolSupport

@Suite struct ToolProgramTests {
    /// What ran, with what.
    private final class Runs: Sendable {
        let all = Mutex<[String]>([])
    }

    private func program(
        _ runs: Runs, wordsWhenNone: [String] = []
    ) -> ToolProgram<ToolProgram<Int>.Call> {
        let command = ToolCommand<ToolProgram<Int>.Call>(
            words: ["run"], operands: ["A", "B?"], flags: [.value("at", "T", "when")],
            summary: "runs", details: [], examples: [("tool run a", "p")],
            body: { call in
                let words = call.operands + call.flags.values
                runs.all.withLock { $0.append(words.joined(separator: ",")) }
                return .denied
            })
        return ToolProgram(
            tool: "tool", version: "1", commands: [command],
            globalFlags: ToolProgram<Int>.usualFlags,
            frame: HelpPage.Frame(summary: "s", example: "e", closing: []),
            wordsWhenNone: wordsWhenNone,
            context: { call in
                ToolProgram<Int>.Call(
                    flags: call.flags, operands: call.operands, environment: call.environment,
                    console: call.console)
            })
    }

    @Test func `a command gets its operands and flags, and its exit code is the tool's`() async {
        let runs = Runs()
        let status = await program(runs).run(["run", "x", "--at", "5", "-q"], environment: [:])
        #expect(status == .denied)
        #expect(runs.all.withLock { $0 }.first?.split(separator: ",").sorted() == ["5", "x"])
    }

    @Test(arguments: [
        ["run", "-q"], ["run", "a", "b", "c"], ["nothing"], [], ["run", "a", "--output", "xml"],
    ])
    func `a wrong line of words runs nothing`(arguments: [String]) async {
        let runs = Runs()
        // The last one fails only when a command asks for the form of its output.
        let status = await program(runs).run(arguments, environment: [:])
        if arguments.contains("xml") {
            #expect(status == .denied)
        } else {
            #expect(status == .usage)
            #expect(runs.all.withLock { $0 }.isEmpty)
        }
    }

    @Test func `a tool may have a command for no words at all`() async {
        let runs = Runs()
        let status = await program(runs, wordsWhenNone: ["run", "all"]).run(
            ["--at", "7"], environment: [:])
        #expect(status == .denied)
        #expect(runs.all.withLock { $0 } == ["all,7"])
    }
}
