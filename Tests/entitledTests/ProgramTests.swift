import Synchronization
import Testing

@testable import entitled

/// A run of the program in this process.
private final class Run: Sendable {
    private struct State {
        var output = ""
        var error = ""
        var served = 0
    }
    private let state = Mutex(State())
    let exitCode = Mutex<ExitCode?>(nil)

    var output: String { state.withLock { $0.output } }
    var error: String { state.withLock { $0.error } }
    var served: Int { state.withLock { $0.served } }

    init(
        _ arguments: [String], environment: [String: String] = [:],
        files: [String: [UInt8]] = [:], serve: ExitCode = .success
    ) {
        let program = Program(
            inputs: inputs(arguments, environment: environment, files: files),
            writeOutput: { text in self.state.withLock { $0.output += text } },
            writeError: { text in self.state.withLock { $0.error += text } },
            serve: { _ in
                self.state.withLock { $0.served += 1 }
                return serve
            })
        let code = program.run()
        exitCode.withLock { $0 = code }
    }

    var code: ExitCode? { exitCode.withLock { $0 } }
}

@Suite struct ProgramTests {
    private func goodFiles() throws -> [String: [UInt8]] { ["/r": try testRoot().der] }
    private let good = leastArguments + ["--allow-test-root"]

    @Test func `a right configuration serves, and the exit code is that of serving`() throws {
        let run = Run(good, files: try goodFiles(), serve: .cannotCreate)
        #expect(run.served == 1)
        #expect(run.code == .cannotCreate)
        #expect(run.output.isEmpty && run.error.isEmpty)
    }

    @Test func `help goes to stdout and does nothing else`() {
        let run = Run(["--help"])
        #expect(run.code == .success && run.served == 0)
        #expect(run.output == HelpText.text && run.error.isEmpty)
    }

    @Test func `the version goes to stdout, in one line`() {
        #expect(Run(["--version"]).output == Version.text + "\n")
        #expect(Run(["--version", "--json"]).output == Version.json + "\n")
        #expect(Run(["--version"]).code == .success)
    }

    @Test func `checking a right configuration exits 0 and does not serve`() throws {
        let run = Run(good + ["--check-config"], files: try goodFiles())
        #expect(run.code == .success && run.served == 0)
        #expect(run.output.isEmpty && run.error.isEmpty)
    }

    @Test func `checking finds what is wrong with the roots as well`() throws {
        let run = Run(leastArguments + ["--check-config"], files: try goodFiles())
        #expect(run.code == .configuration)
        #expect(run.error.contains("is not Apple Root CA - G3"))
        #expect(Run(good + ["--check-config"]).code == .configuration)
    }

    @Test func `printing shows the values also when something is wrong, and says what`() throws {
        let wrong = Run(["--print-config", "--threads", "3"])
        #expect(wrong.code == .configuration)
        #expect(wrong.output.contains("threads: 3, // flag --threads"))
        #expect(wrong.error.contains("no app is configured"))
        let right = Run(good + ["--print-config"], files: try goodFiles())
        #expect(right.code == .success && right.error.isEmpty && right.served == 0)
        #expect(right.output.contains("bundleId: \"com.example.meadow\", // flag --bundle-id"))
    }

    @Test func `a wrong command line exits 64, points to the help and does nothing it asks`() {
        let run = Run(["--print-config", "--dta", "/x"])
        #expect(run.code == .usage)
        #expect(run.output.isEmpty && run.served == 0)
        #expect(
            run.error == """
                entitled: unknown flag `--dta`; did you mean `--data`?
                entitled: see entitled --help

                """)
    }

    @Test func `a wrong file or environment exits 78`() throws {
        let file = Run(good + ["--config", "/c"], files: ["/c": Array("{ dta: 1 }".utf8)])
        #expect(file.code == .configuration && file.served == 0)
        #expect(file.error == "entitled: unknown key `dta` (/c:1); did you mean `data`?\n")
        let variable = Run(good, environment: ["ENTITLED_DTA": "1"], files: try goodFiles())
        #expect(variable.code == .configuration && variable.served == 0)
    }
}
