import Testing

@testable import entitled

@Suite struct ConfigurationProblemTests {
    @Test func `the prefix takes no part in the search for the nearest name`() {
        let near = ConfigurationProblem.unknown("flag", prefix: "--", "dta", among: ["data"])
        #expect(near.message == "unknown flag `--dta`; did you mean `--data`?")
        let far = ConfigurationProblem.unknown(
            "key", prefix: "a.very.long.place.", "abc", place: " (f:1)", among: ["xyz"])
        #expect(far.message == "unknown key `a.very.long.place.abc` (f:1)")
    }

    @Test func `one mistake on the command line makes it a matter of usage`() {
        let file = ConfigurationProblem("a")
        let flag = ConfigurationProblem("b", exitCode: .usage)
        #expect(ConfigurationFailure(problems: [file]).exitCode == .configuration)
        #expect(ConfigurationFailure(problems: [file, flag]).exitCode == .usage)
    }
}
