/// One line of the log. It never carries a payload, a token or a secret: callers log names and
/// numbers of what happened, not what was in it.
struct LogRecord: Equatable, Sendable {
    /// A value of a field.
    enum Value: Equatable, Sendable {
        case text(String)
        case integer(Int64)
    }

    /// One named value.
    struct Field: Equatable, Sendable {
        let name: String
        let value: Value

        init(_ name: String, _ text: String) {
            self.name = name
            value = .text(text)
        }

        init(_ name: String, _ number: some BinaryInteger) {
            self.name = name
            value = .integer(Int64(clamping: number))
        }
    }

    let level: LogLevel
    /// What happened; the same words each time, so that lines can be counted.
    let message: String
    /// What it happened to.
    var fields: [Field] = []
}

/// How records become lines, without their line feed.
enum LogFormatter: Sendable, Equatable {
    /// For people: time, level, message, then `name=value`.
    case text
    /// Text for journald: it keeps the time itself and reads the level from `<6>`.
    case journal
    /// One JSON object.
    case json

    /// The line of `record`, written at `milliseconds` since 1970.
    func line(for record: LogRecord, at milliseconds: Int64) -> String {
        switch self {
        case .text:
            let level = record.level.name
            let padding = String(repeating: " ", count: max(0, 5 - level.count))
            return "\(UTCTime.text(milliseconds)) \(level)\(padding) \(Self.text(of: record))"
        case .journal: return "<\(record.level.journalPriority)>\(Self.text(of: record))"
        case .json: return Self.json(of: record, at: milliseconds)
        }
    }

    private static func text(of record: LogRecord) -> String {
        var line = escaped(record.message)
        for field in record.fields {
            switch field.value {
            case .integer(let number): line += " \(field.name)=\(number)"
            case .text(let text): line += " \(field.name)=\(quotedIfNeeded(text))"
            }
        }
        return line
    }

    private static func json(of record: LogRecord, at milliseconds: Int64) -> String {
        var line = "{\"ts\":\"\(UTCTime.text(milliseconds))\",\"level\":\"\(record.level.name)\""
        line += ",\"msg\":\"\(escaped(record.message))\",\"logger\":\"entitled\""
        for field in record.fields {
            line += ",\"\(field.name)\":"
            switch field.value {
            case .integer(let number): line += String(number)
            case .text(let text): line += "\"\(escaped(text))\""
            }
        }
        return line + "}"
    }

    private static func quotedIfNeeded(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 != " " && $0 != "\"" && $0 != "=" && $0 != "\\" && $0.value > 0x20
                    && $0.value != 0x7f
            }
        return isPlain ? text : "\"\(escaped(text))\""
    }

    /// JSON's escapes. Control characters never reach the terminal of who reads the log.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
