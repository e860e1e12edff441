/// How severe a line of the log is.
enum LogLevel: Int, CaseIterable, Comparable, Sendable {
    case debug
    case info
    case warn
    case error

    /// As the setting and the log write it.
    var name: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warn: "warn"
        case .error: "error"
        }
    }

    /// The level of this name.
    init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    /// The priority of syslog(3) that journald understands in front of a line.
    var journalPriority: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .warn: 4
        case .error: 3
        }
    }

    static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// The form of the log, as configured.
enum LogForm: String, CaseIterable, Sendable {
    /// Text on a terminal and under journald, else JSON.
    case auto
    case text
    case json
}
