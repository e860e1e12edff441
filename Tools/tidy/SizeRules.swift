/// How long files, functions and lines may be.
enum SizeRules {
    static let lineColumnCountMax = 100
    static let fileLineCountGoal = 400
    static let fileLineCountMax = 600
    static let functionLineCountGoal = 40
    static let functionLineCountMax = 70
    static let readmeLineCountMax = 150

    static func check(_ repository: Repository) -> [Finding] {
        var findings: [Finding] = []
        for file in repository.files where !file.isGenerated {
            findings += lines(of: file)
            if file.isSwift {
                findings += fileLength(of: file)
                findings += functions(in: file)
            }
            if file.path == "README.md", file.lines.count > readmeLineCountMax {
                findings.append(
                    Finding(
                        weight: .error, path: file.path, line: 0, rule: "readme",
                        message: "\(file.lines.count) lines, more than \(readmeLineCountMax)"))
            }
        }
        return findings
    }

    private static func lines(of file: SourceFile) -> [Finding] {
        var findings: [Finding] = []
        func report(_ line: Int, _ message: String) {
            findings.append(
                Finding(weight: .error, path: file.path, line: line, rule: "line", message: message)
            )
        }
        for (index, line) in file.lines.enumerated() {
            // An address cannot be broken; articles are wrapped by who shows them.
            let isFree = file.path.hasSuffix(".md") || line.contains("://")
            if line.count > lineColumnCountMax, !isFree {
                report(index + 1, "\(line.count) columns, more than \(lineColumnCountMax)")
            }
            if line.contains("\t") { report(index + 1, "a tab") }
            if line.hasSuffix("\r") { report(index + 1, "a carriage return") }
            if line.hasSuffix(" ") { report(index + 1, "a space at the end") }
        }
        if !file.endsWithLineFeed { report(file.lines.count, "no line feed at the end") }
        return findings
    }

    private static func fileLength(of file: SourceFile) -> [Finding] {
        let count = file.lines.count
        guard count > fileLineCountGoal else { return [] }
        return [
            Finding(
                weight: count > fileLineCountMax ? .error : .note, path: file.path, line: 0,
                rule: "file",
                message: "\(count) lines; the goal is \(fileLineCountGoal), the "
                    + "limit \(fileLineCountMax)")
        ]
    }

    private static func functions(in file: SourceFile) -> [Finding] {
        FunctionFinder.functions(in: file.code).compactMap { function in
            guard function.lineCount > functionLineCountGoal else { return nil }
            return Finding(
                weight: function.lineCount > functionLineCountMax ? .error : .note,
                path: file.path, line: function.line, rule: "function",
                message: "\(function.lineCount) lines; the goal is \(functionLineCountGoal), the "
                    + "limit \(functionLineCountMax)")
        }
    }
}

/// Finds the functions of a file by their keywords and braces.
enum FunctionFinder {
    /// A function with a body.
    struct Function: Equatable {
        /// Of its keyword, from 1.
        let line: Int
        /// From the keyword's line to the closing brace's.
        let lineCount: Int
    }

    static func functions(in code: [String]) -> [Function] {
        code.indices.compactMap { index in
            guard let column = keywordColumn(in: code[index]),
                let last = closingLine(code, line: index, column: column)
            else { return nil }
            return Function(line: index + 1, lineCount: last - index + 1)
        }
    }

    /// Where a declaration of a function starts in a line, `nil` when none does.
    private static func keywordColumn(in line: String) -> Int? {
        let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
        // `self.init(` and `.init(` are calls; an attribute or a modifier may stand in front.
        guard
            let word = words.first(where: { ["func", "init", "deinit", "subscript"].contains($0) })
        else { return nil }
        let before = line[..<word.startIndex]
        guard before.allSatisfy({ $0.isLetter || $0.isNumber || " @_()".contains($0) }) else {
            return nil
        }
        return line.distance(from: line.startIndex, to: word.startIndex)
    }

    /// The line of the brace that closes the body; `nil` for a requirement of a protocol.
    private static func closingLine(_ code: [String], line: Int, column: Int) -> Int? {
        var depth = 0
        var parenthesisDepth = 0
        var hasBody = false
        for index in line..<code.count {
            let characters =
                index == line ? Substring(code[index].dropFirst(column)) : code[index][...]
            for character in characters {
                switch character {
                case "(", "[": parenthesisDepth += 1
                case ")", "]": parenthesisDepth -= 1
                case "{":
                    // A brace within the parameters is a default closure.
                    if depth > 0 || parenthesisDepth == 0 {
                        depth += 1
                        hasBody = true
                    }
                case "}":
                    if depth > 0 {
                        depth -= 1
                    } else if !hasBody, parenthesisDepth == 0 {
                        return nil
                    }
                    if hasBody, depth == 0 { return index }
                default: break
                }
            }
            if !hasBody, parenthesisDepth == 0, isNewDeclaration(code, after: index) { return nil }
        }
        return nil
    }

    /// Whether what follows a bodyless line starts something else.
    private static func isNewDeclaration(_ code: [String], after index: Int) -> Bool {
        guard index + 1 < code.count else { return true }
        let next = code[index + 1].drop { $0 == " " }
        let continues = ["{", "where", "->", "throws", "rethrows", "async", ")"]
        return !continues.contains { next.hasPrefix($0) }
            && !code[index].hasSuffix("->") && !code[index].hasSuffix(",")
    }
}
