import Testing

@testable import entitled

@Suite struct LogSetupTests {
    @Test(
        arguments: [
            (.auto, true, false, .text), (.auto, false, false, .json),
            (.auto, false, true, .journal),
            (.text, false, false, .text), (.text, true, false, .text),
            (.text, false, true, .journal),
            (.json, true, false, .json), (.json, false, true, .json),
        ] as [(LogForm, Bool, Bool, LogFormatter)])
    func `the form follows the setting, then who reads`(
        form: LogForm, isTerminal: Bool, isJournal: Bool, formatter: LogFormatter
    ) {
        #expect(
            LogSetup.formatter(form: form, isTerminal: isTerminal, isJournal: isJournal)
                == formatter)
    }

    @Test(arguments: [nil, "", "0:0", "nonsense"])
    func `a stream that is not stderr is not taken for the journal`(variable: String?) {
        #expect(!SystemCalls.isJournal(variable))
    }
}
