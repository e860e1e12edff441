/// Writes the few flat objects that the endpoints answer with.
enum JSONText {
    /// One object of texts, in the order given.
    static func object(_ members: KeyValuePairs<String, String>) -> [UInt8] {
        let parts = members.map { "\(quoted($0.key)):\(quoted($0.value))" }
        return Array("{\(parts.joined(separator: ","))}\n".utf8)
    }

    /// A text in quotes (RFC 8259 section 7).
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{00}"..."\u{1F}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
