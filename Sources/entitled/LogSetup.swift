internal import EventLoop

/// Makes the log of a process from its configuration.
enum LogSetup {
    /// How lines look: as configured, or by who reads them.
    ///
    /// `isJournal`: stderr is the journal of systemd; it keeps the time and reads the priority.
    static func formatter(form: LogForm, isTerminal: Bool, isJournal: Bool) -> LogFormatter {
        switch form {
        case .json: .json
        case .text: isJournal ? .journal : .text
        case .auto: isJournal ? .journal : isTerminal ? .text : .json
        }
    }

    /// The log on this process's stderr.
    static func logger(_ configuration: Configuration, environment: [String: String]) -> Logger {
        Logger(
            level: configuration.logLevel,
            formatter: formatter(
                form: configuration.logForm, isTerminal: SystemCalls.isTerminal(.error),
                isJournal: SystemCalls.isJournal(environment["JOURNAL_STREAM"])),
            now: { WallClock.nowMilliseconds },
            write: { SystemCalls.write($0, to: .error) })
    }
}
