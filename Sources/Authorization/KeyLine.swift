/// One line of the keys file as JSON: an object of strings, whole numbers, flags and lists of
/// strings, which is all that a record needs.
///
/// The reader of the configuration takes whole documents, and lives above the tools; a line of JSON
/// can be edited, compared and appended by itself.
struct KeyLine {
    enum Value: Equatable {
        case text(String)
        case number(Int64)
        case flag(Bool)
        case texts([String])
    }

    /// What is wrong with a line.
    struct Failure: Error {
        let message: String
    }

    /// The members in their order; no name stands twice.
    private(set) var members: [(name: String, value: Value)] = []

    private let scalars: [Unicode.Scalar]
    private var index = 0

    /// Reads a line.
    init(_ line: String) throws(Failure) {
        scalars = Array(line.unicodeScalars)
        try expect("{")
        if !accept("}") {
            repeat {
                let name = try string()
                guard !members.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
                    throw Failure(message: "`\(name)` stands in it twice")
                }
                try expect(":")
                members.append((name, try value()))
            } while accept(",")
            try expect("}")
        }
        skipSpace()
        guard index == scalars.count else { throw Failure(message: "something follows the `}`") }
    }

    private mutating func value() throws(Failure) -> Value {
        skipSpace()
        switch peek() {
        case "\"": return .text(try string())
        case "[": return .texts(try strings())
        case "t", "f": return .flag(try flag())
        default: return .number(try number())
        }
    }

    private mutating func strings() throws(Failure) -> [String] {
        try expect("[")
        var strings: [String] = []
        if accept("]") { return strings }
        repeat { strings.append(try string()) } while accept(",")
        try expect("]")
        return strings
    }

    private mutating func flag() throws(Failure) -> Bool {
        for (word, value) in [("true", true), ("false", false)] {
            let scalars = Array(word.unicodeScalars)
            guard self.scalars[index...].starts(with: scalars) else { continue }
            index += scalars.count
            return value
        }
        throw Failure(message: "a value is neither a string, a number, a list, true nor false")
    }

    private mutating func number() throws(Failure) -> Int64 {
        var digits = ""
        while let scalar = peek(), ("0"..."9").contains(scalar) {
            digits.unicodeScalars.append(scalar)
            index += 1
        }
        guard let number = Int64(digits), digits == String(number) else {
            throw Failure(
                message: "a value is neither a string, a whole number, a list, true nor false")
        }
        return number
    }

    private mutating func string() throws(Failure) -> String {
        try expect("\"")
        var text = String.UnicodeScalarView()
        while let scalar = peek() {
            index += 1
            switch scalar {
            case "\"": return String(text)
            case "\\": text.append(try escape())
            case "\0"..<" ": throw Failure(message: "a control character stands in a string")
            default: text.append(scalar)
            }
        }
        throw Failure(message: "a string is not closed")
    }

    private mutating func escape() throws(Failure) -> Unicode.Scalar {
        let escapes: [Unicode.Scalar: Unicode.Scalar] = [
            "\"": "\"", "\\": "\\", "/": "/", "n": "\n", "t": "\t", "r": "\r",
        ]
        guard let scalar = peek(), let meant = escapes[scalar] else {
            throw Failure(message: "an escape is none of \\\" \\\\ \\/ \\n \\t \\r")
        }
        index += 1
        return meant
    }

    private mutating func expect(_ scalar: Unicode.Scalar) throws(Failure) {
        guard accept(scalar) else { throw Failure(message: "`\(scalar)` is missing") }
    }

    private mutating func accept(_ scalar: Unicode.Scalar) -> Bool {
        skipSpace()
        guard peek() == scalar else { return false }
        index += 1
        return true
    }

    private func peek() -> Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private mutating func skipSpace() {
        while let scalar = peek(), scalar == " " || scalar == "\t" || scalar == "\r" { index += 1 }
    }
}

extension KeyLine {
    /// A string as JSON; what is not ASCII stays as it is.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{2029}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
