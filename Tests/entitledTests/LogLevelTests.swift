import Testing

@testable import entitled

@Suite struct LogLevelTests {
    @Test func `levels are ordered by severity`() {
        #expect(LogLevel.allCases.sorted() == [.debug, .info, .warn, .error])
        #expect(
            LogLevel.allCases.map(\.journalPriority)
                == LogLevel.allCases.map(\.journalPriority).sorted(by: >))
    }

    @Test(arguments: ["", "INFO", "warning", "fatal"])
    func `what is no level is none`(name: String) {
        #expect(LogLevel(name: name) == nil)
    }
}
