/// A JSON value to be written; members keep their order, so that a person can read it too.
indirect enum JSONValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case natural(UInt64)
    case string(String)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])

    static func == (left: JSONValue, right: JSONValue) -> Bool { left.text == right.text }

    /// A string, or null when it is empty: the wire's empty text means that there is none.
    static func optional(_ text: String) -> JSONValue { text.isEmpty ? .null : .string(text) }

    /// An instant as RFC 3339, or null.
    static func instant(_ milliseconds: Int64?) -> JSONValue {
        milliseconds.map { .string(Instant.text($0)) } ?? .null
    }

    /// The JSON text, on one line.
    var text: String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .natural(let value): "\(value)"
        case .string(let value): Self.quoted(value)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.map { Self.quoted($0.name) + ":" + $0.value.text }
                .joined(separator: ",") + "}"
        }
    }

    /// Also escaped: what a terminal would obey. It means the same to a program.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where Console.isUnsafe(scalar):
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
