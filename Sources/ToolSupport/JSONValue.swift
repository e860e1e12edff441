/// A JSON value to be written; members keep their order, so that a person can read it too.
package indirect enum JSONValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case natural(UInt64)
    /// Written with at most six decimals; what is no finite number is null.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])

    /// By their text.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        left.text == right.text
    }

    /// A string, or null when it is empty: the wire's empty text means that there is none.
    package static func optional(_ text: String) -> JSONValue {
        text.isEmpty ? .null : .string(text)
    }

    /// An instant as RFC 3339, or null.
    package static func instant(_ milliseconds: Int64?) -> JSONValue {
        milliseconds.map { .string(Instant.text($0)) } ?? .null
    }

    /// The JSON text, on one line.
    package var text: String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .natural(let value): "\(value)"
        case .number(let value): Self.decimal(value)
        case .string(let value): Self.quoted(value)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.map { Self.quoted($0.name) + ":" + $0.value.text }
                .joined(separator: ",") + "}"
        }
    }

    private static func decimal(_ value: Double) -> String {
        guard value.isFinite, value.magnitude < 9e12 else {
            return value.isFinite ? "\(value)" : "null"
        }
        let millionths = Int64((value * 1e6).rounded())
        let digits = String(millionths.magnitude)
        let padded = String(repeating: "0", count: max(0, 7 - digits.count)) + digits
        var fraction = padded.suffix(6)
        while fraction.last == "0" { fraction.removeLast() }
        let sign = millionths < 0 ? "-" : ""
        return sign + padded.dropLast(6) + (fraction.isEmpty ? "" : "." + fraction)
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
