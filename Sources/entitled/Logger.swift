internal import Synchronization

/// Writes the log: one line per event, repeats held back and counted.
///
/// Any thread. The lock is held while a line is written, so lines never mix; nothing on the path of
/// a check logs.
final class Logger: Sendable {
    /// How many records of one message and level are written in one window; the rest is counted.
    static let burstCountMax = 10
    /// The length of a window.
    static let windowMilliseconds: Int64 = 10_000
    /// How many different messages are watched for repeats. Messages are constant texts, so this
    /// bounds a mistake, not the normal case; beyond it lines are written without a limit.
    static let watchedCountMax = 512

    private struct Window {
        var startMilliseconds: Int64
        var count = 0
        var suppressedCount = 0
    }

    private struct Key: Hashable {
        let level: LogLevel
        let message: String
    }

    private struct State {
        var level: LogLevel
        var windows: [Key: Window] = [:]
    }

    private let state: Mutex<State>
    private let formatter: LogFormatter
    private let now: @Sendable () -> Int64
    private let write: @Sendable (String) -> Void

    /// `now` gives milliseconds since 1970; `write` takes one whole line with its line feed.
    init(
        level: LogLevel, formatter: LogFormatter, now: @escaping @Sendable () -> Int64,
        write: @escaping @Sendable (String) -> Void
    ) {
        state = Mutex(State(level: level))
        self.formatter = formatter
        self.now = now
        self.write = write
    }

    /// The least severe level that is written; may change while running.
    var level: LogLevel {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    func debug(_ message: String, _ fields: LogRecord.Field...) {
        log(LogRecord(level: .debug, message: message, fields: fields))
    }

    func info(_ message: String, _ fields: LogRecord.Field...) {
        log(LogRecord(level: .info, message: message, fields: fields))
    }

    func warn(_ message: String, _ fields: LogRecord.Field...) {
        log(LogRecord(level: .warn, message: message, fields: fields))
    }

    func error(_ message: String, _ fields: LogRecord.Field...) {
        log(LogRecord(level: .error, message: message, fields: fields))
    }

    /// Writes `record`, or counts it when its like filled the window.
    func log(_ record: LogRecord) {
        let time = now()
        state.withLock { state in
            guard record.level >= state.level else { return }
            reportEnded(&state, at: time, all: false)
            let key = Key(level: record.level, message: record.message)
            var window = state.windows[key] ?? Window(startMilliseconds: time)
            window.count += 1
            let isOver = window.count > Self.burstCountMax
            if isOver { window.suppressedCount += 1 }
            if state.windows[key] != nil || state.windows.count < Self.watchedCountMax {
                state.windows[key] = window
            }
            if !isOver { write(formatter.line(for: record, at: time) + "\n") }
        }
    }

    /// Writes the counts that are still held back; for the end of the process.
    func flush() {
        let time = now()
        state.withLock { reportEnded(&$0, at: time, all: true) }
    }

    /// Drops the windows that ended and says what they held back. A clock that was set back ends
    /// them as well.
    private func reportEnded(_ state: inout State, at time: Int64, all: Bool) {
        let ended = state.windows.filter { _, window in
            all || time >= window.startMilliseconds + Self.windowMilliseconds
                || time < window.startMilliseconds
        }
        for (key, window) in ended.sorted(by: { $0.key.message < $1.key.message }) {
            state.windows[key] = nil
            guard window.suppressedCount > 0 else { continue }
            let record = LogRecord(
                level: key.level, message: key.message,
                fields: [LogRecord.Field("repeats_not_shown", window.suppressedCount)])
            write(formatter.line(for: record, at: time) + "\n")
        }
    }
}
