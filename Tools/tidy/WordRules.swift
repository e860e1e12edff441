/// Words that have no place in the code, and code that has its place.
enum WordRules {
    /// Modules that may hold unsafe code: each wraps a C library or memory of its own.
    static let unsafeModules: Set = [
        "RocksDB", "OpenSSL", "EventLoop", "Wire", "SnapshotTable", "HTTP",
        // Sockets of its own and a table of what is in flight: four million answers a second.
        "LoadGenerator",
    ]
    /// Single files that may, with their reasons.
    static let unsafeFiles: Set = [
        // write(2) to stderr and the datagram to the service manager.
        "Sources/entitled/SystemCalls.swift",
        // The same, the terminal, processors, and the server processes of the tools.
        "Sources/ToolSupport/SystemCalls.swift", "Sources/ToolSupport/ChildProcess.swift",
        "Sources/ToolSupport/Processors.swift",
        // libFuzzer's loop and the bytes that it gives.
        "Tools/Fuzz/Runner/Main.swift",
        // One write(2) per line.
        "Sources/ToolSupport/Journal.swift",
    ]
    static let unsafeWords = ["unsafe", "@unchecked", "@safe"]

    // Put together, so that this file does not break its own rule.
    static let unfinished = ["FIX" + "ME", "TO" + "DO", "XX" + "X", "HA" + "CK"]
    static let names = ["util", "utils", "helper", "helpers", "manager", "managers", "common"]
    static let paths = ["ho" + "me", "wo" + "rk", "ro" + "ot", "Us" + "ers"]
    static let hosts = [
        "pypi.", "npmjs", "crates.io", "golang.org", "rubygems", "artifactory", "nexus",
        "debian.org", "ubuntu.com", "docker.io", "ghcr.io",
    ]

    static func check(_ repository: Repository) -> [Finding] {
        var findings: [Finding] = repository.undecodable.map { path in
            Finding(
                weight: .error, path: path, line: 0, rule: "text", message: "no UTF-8 text")
        }
        for file in repository.files {
            findings += names(of: file)
            guard !file.isGenerated else { continue }
            findings += texts(in: file)
            if file.isSwift { findings += code(in: file) }
        }
        return findings
    }

    private static func names(of file: SourceFile) -> [Finding] {
        var findings: [Finding] = []
        func report(_ message: String) {
            findings.append(
                Finding(weight: .error, path: file.path, line: 0, rule: "name", message: message))
        }
        if file.name == "Placeholder.swift" { report("a placeholder") }
        for component in file.path.split(separator: "/") {
            let stem = component.prefix { $0 != "." }
            if let word = words(inName: stem).first(where: { names.contains($0) }) {
                report("`\(word)` says nothing about what is in it")
            }
        }
        return findings
    }

    /// "StringUtils" -> "string", "utils".
    static func words(inName name: Substring) -> [String] {
        var words: [String] = []
        var word = ""
        for character in name {
            if !character.isLetter || (character.isUppercase && word.last?.isLowercase == true) {
                if !word.isEmpty { words.append(word.lowercased()) }
                word = ""
            }
            if character.isLetter { word.append(character) }
        }
        return word.isEmpty ? words : words + [word.lowercased()]
    }

    private static func texts(in file: SourceFile) -> [Finding] {
        var findings: [Finding] = []
        for (index, line) in file.lines.enumerated() {
            func report(_ rule: String, _ message: String) {
                findings.append(
                    Finding(
                        weight: .error, path: file.path, line: index + 1, rule: rule,
                        message: message))
            }
            for word in unfinished where containsWord(word, in: line) {
                report("unfinished", "`\(word)`: finish it, or file it")
            }
            for folder in paths where containsAbsolutePath(folder, in: line) {
                report("path", "an absolute path of one machine")
            }
            // The rule's own list stands in this file.
            guard file.path != "Tools/tidy/WordRules.swift" else { continue }
            for host in hosts where line.contains(host) {
                report("host", "`\(host)`: no registry or mirror is named here")
            }
        }
        return findings
    }

    private static func code(in file: SourceFile) -> [Finding] {
        let allowsUnsafe =
            file.isTest || file.target.map { unsafeModules.contains($0) } ?? false
            || unsafeFiles.contains(file.path)
        var findings: [Finding] = []
        for (index, line) in file.code.enumerated() {
            func report(_ rule: String, _ message: String) {
                findings.append(
                    Finding(
                        weight: .error, path: file.path, line: index + 1, rule: rule,
                        message: message))
            }
            if !allowsUnsafe, file.path != "Package.swift",
                let word = unsafeWords.first(where: { containsWord($0, in: line) })
            {
                report("unsafe", "`\(word)` outside the wrappers")
            }
            if file.isLibrary, containsWord("print", in: line), line.contains("print(") {
                report("print", "a library does not print")
            }
            if line.contains("try" + "!") { report("try", "a `try` that crashes") }
            if containsWord("Date" + "()", in: line) { report("clock", "time is an argument") }
        }
        return findings
    }

    /// Whether `word` stands in `line` with no letter, digit or underscore around it.
    static func containsWord(_ word: String, in line: String) -> Bool {
        var rest = line[...]
        while let range = rest.firstRange(of: word) {
            let before = line[..<range.lowerBound].last
            let after = line[range.upperBound...].first
            let continues = isWordCharacter(word.last) && isWordCharacter(after)
            if !isWordCharacter(before), !continues { return true }
            rest = line[range.upperBound...]
        }
        return false
    }

    private static func isWordCharacter(_ character: Character?) -> Bool {
        character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
    }

    private static func containsAbsolutePath(_ folder: String, in line: String) -> Bool {
        var rest = line[...]
        while let range = rest.firstRange(of: "/\(folder)/") {
            let before = line[..<range.lowerBound].last
            // Behind a letter or a dot it is a part of a longer path, which may be relative.
            if !isWordCharacter(before), before != ".", before != "}", before != ")" { return true }
            rest = line[range.upperBound...]
        }
        return false
    }
}
