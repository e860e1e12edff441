import Testing

@testable import entitled

@Suite struct CommandLineArgumentsTests {
    @Test func `a flag takes its value after a space or an equals sign`() {
        let arguments = CommandLineArguments(["--data", "/a", "--threads=3", "--data-sync=a=b"])
        #expect(arguments.problems.isEmpty)
        #expect(arguments.values == [.data: ["/a"], .threads: ["3"], .dataSync: ["a=b"]])
        #expect(arguments.action == .run)
    }

    @Test func `a repeatable flag collects its values in order`() {
        let arguments = CommandLineArguments([
            "--listen", "127.0.0.1:1", "--listen=unix:/s", "--environment", "Sandbox",
        ])
        #expect(arguments.problems.isEmpty)
        #expect(arguments.values[.listen] == ["127.0.0.1:1", "unix:/s"])
        #expect(arguments.values[.environments] == ["Sandbox"])
    }

    @Test func `a boolean flag needs no value and takes none after a space`() {
        let arguments = CommandLineArguments(["--insecure", "--allow-test-root=false"])
        #expect(arguments.problems.isEmpty)
        #expect(arguments.values == [.insecure: ["true"], .allowTestRoot: ["false"]])
        #expect(CommandLineArguments(["--insecure", "true"]).problems.count == 1)
    }

    @Test(
        arguments: [
            (["--help"], CommandLineArguments.Action.help), (["-h"], .help),
            (["--version"], .version), (["--check-config"], .checkConfig),
            (["--print-config"], .printConfig), (["--check-config", "--help"], .help),
            (["--help", "--version"], .help), (["--check-config", "--version"], .version),
            (["--check-config", "--check-config"], .checkConfig), ([], .run),
        ] as [([String], CommandLineArguments.Action)])
    func `the action is read`(flags: [String], action: CommandLineArguments.Action) {
        let arguments = CommandLineArguments(flags)
        #expect(arguments.problems.isEmpty)
        #expect(arguments.action == action)
    }

    @Test func `json goes with version only`() {
        #expect(CommandLineArguments(["--version", "--json"]).problems.isEmpty)
        #expect(CommandLineArguments(["--json", "--version"]).isJSON)
        #expect(CommandLineArguments(["--json"]).problems.count == 1)
    }

    @Test(
        arguments: [
            (["--dta", "/x"], "unknown flag `--dta`; did you mean `--data`?"),
            (["--dta=/x"], "unknown flag `--dta`; did you mean `--data`?"),
            (["--apple-roots", "f"], "unknown flag `--apple-roots`; did you mean `--apple-root`?"),
            (["--chek-config"], "unknown flag `--chek-config`; did you mean `--check-config`?"),
            (["--frobnicate"], "unknown flag `--frobnicate`"),
            (["--help=yes"], "unknown flag `--help`"), (["--"], "unknown flag `--`"),
            (["-d"], "unknown flag `-d`; flags have two dashes, see --help"),
            (["serve"], "`serve` is no flag; every setting is a flag, see --help"),
            (["-"], "`-` is no flag; every setting is a flag, see --help"),
            (["--data"], "--data needs a value: a path"),
            (["--data", "--insecure"], "--data needs a value: a path"),
            (["--data", "a", "--data", "b"], "--data is given twice"),
            (
                ["--check-config", "--print-config"],
                "--check-config and --print-config do not go together"
            ),
        ] as [([String], String)])
    func `a mistake is named`(flags: [String], message: String) {
        let arguments = CommandLineArguments(flags)
        #expect(
            arguments.problems == [ConfigurationProblem(message, exitCode: .usage)])
    }

    @Test func `every mistake is reported, not only the first`() {
        #expect(CommandLineArguments(["--dta", "x", "y", "--zzz"]).problems.count == 3)
    }

    @Test func `an empty value stays for the resolver, which takes it as not set`() {
        let arguments = CommandLineArguments(["--data="])
        #expect(arguments.problems.isEmpty)
        #expect(arguments.values == [.data: [""]])
    }
}
