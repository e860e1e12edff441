/// A text file of the repository.
struct SourceFile {
    /// Relative to the root of the repository, with `/`.
    let path: String
    let lines: [String]
    /// For Swift: the lines with comments and the content of strings blanked, so that words are
    /// found in code only. For other files the lines themselves.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        self.lines = lines
        code = path.hasSuffix(".swift") ? CodeBlanker.blank(text, lineCount: lines.count) : lines
        endsWithLineFeed = text.isEmpty || text.hasSuffix("\n")
    }

    let endsWithLineFeed: Bool

    /// "Sources/Wire/FrameDecoder.swift" -> "FrameDecoder.swift".
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    var isSwift: Bool { path.hasSuffix(".swift") }

    /// Written by a generator, which has its own rules.
    var isGenerated: Bool { path.hasPrefix("Sources/CMessages/") }

    /// The target that the file belongs to: the folder below Sources, Tests or Tools.
    var target: String? {
        let parts = path.split(separator: "/")
        guard parts.count >= 3, ["Sources", "Tests", "Tools"].contains(parts[0]) else { return nil }
        // The two halves of the fuzzers.
        if path.hasPrefix("Tools/Fuzz/Targets/") { return "FuzzTargets" }
        if path.hasPrefix("Tools/Fuzz/Runner/") { return "fuzz" }
        return String(parts[1])
    }

    var isTest: Bool { path.hasPrefix("Tests/") }

    /// A library: a folder below Sources that is no program, nor what programs print with.
    var isLibrary: Bool {
        path.hasPrefix("Sources/") && target != "entitled" && target != "ToolSupport"
    }
}

/// Blanks what is not code in a Swift file: line and block comments (which nest) and the content
/// of string literals, multi-line and raw ones included. Interpolations go with their string.
struct CodeBlanker {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var output: [Unicode.Scalar] = []

    static func blank(_ text: String, lineCount: Int) -> [String] {
        var blanker = CodeBlanker(scalars: Array(text.unicodeScalars))
        blanker.run()
        let code = String(String.UnicodeScalarView(blanker.output))
        return code.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            .prefix(lineCount).map { $0 }
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    private func starts(_ text: String) -> Bool {
        var position = index
        for scalar in text.unicodeScalars {
            guard position < scalars.count, scalars[position] == scalar else { return false }
            position += 1
        }
        return true
    }

    /// Copies `count` scalars, blanked or as they are; line feeds always stay.
    private mutating func advance(_ count: Int, blanked: Bool) {
        for _ in 0..<count where index < scalars.count {
            let scalar = scalars[index]
            output.append(blanked && scalar != "\n" ? " " : scalar)
            index += 1
        }
    }

    private mutating func run() {
        while index < scalars.count {
            if starts("//") {
                while index < scalars.count, scalars[index] != "\n" { advance(1, blanked: true) }
            } else if starts("/*") {
                blockComment()
            } else if starts("\"") || starts("#") {
                string()
            } else {
                advance(1, blanked: false)
            }
        }
    }

    private mutating func blockComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                advance(2, blanked: true)
            } else if starts("*/") {
                depth -= 1
                advance(2, blanked: true)
            } else {
                advance(1, blanked: true)
            }
        } while depth > 0 && index < scalars.count
    }

    private mutating func string() {
        var poundCount = 0
        while index + poundCount < scalars.count, scalars[index + poundCount] == "#" {
            poundCount += 1
        }
        guard index + poundCount < scalars.count, scalars[index + poundCount] == "\"" else {
            advance(max(1, poundCount), blanked: false)
            return
        }
        let pounds = String(repeating: "#", count: poundCount)
        advance(poundCount, blanked: false)
        let quote = starts("\"\"\"") ? "\"\"\"" : "\""
        advance(quote.count, blanked: false)
        literal(end: quote + pounds, escape: "\\" + pounds, isMultiline: quote.count == 3)
    }

    private mutating func literal(end: String, escape: String, isMultiline: Bool) {
        while index < scalars.count {
            if starts(end) {
                advance(end.count, blanked: false)
                return
            }
            if starts(escape + "(") {
                advance(escape.count + 1, blanked: true)
                interpolation()
            } else if starts(escape) {
                advance(escape.count + 1, blanked: true)
            } else if !isMultiline, scalars[index] == "\n" {
                return
            } else {
                advance(1, blanked: true)
            }
        }
    }

    /// Up to the closing parenthesis; strings inside may hold any character.
    private mutating func interpolation() {
        var depth = 1
        while index < scalars.count, depth > 0 {
            if starts("\"") {
                let start = output.count
                string()
                for position in start..<output.count where output[position] != "\n" {
                    output[position] = " "
                }
                continue
            }
            if starts("(") { depth += 1 }
            if starts(")") { depth -= 1 }
            advance(1, blanked: true)
        }
    }
}
