/// Who may import whom.
///
/// The manifest lists each target's dependencies; SwiftPM lets a target import what its
/// dependencies depend on as well, so the sources are compared with the manifest here. The levels
/// keep the manifest itself in order: a module depends on lower levels only.
enum ImportRules {
    /// The level of every module; a new one is added here when it is added to the manifest.
    static let levels: [String: Int] = [
        "CRocksDB": 0, "COpenSSL": 0, "CLibuv": 0, "CProtobufC": 0,
        "CCurl": 0, "CMicrohttpd": 0, "CProcessor": 0, "CCallCounter": 0,
        "CLinux": 0,
        "CMessages": 1, "Bytes": 1, "Entitlements": 1,
        "RocksDB": 2, "OpenSSL": 2, "EventLoop": 2, "Wire": 2, "Storage": 2, "SnapshotTable": 2,
        "HTTP": 2,
        "RocksDBStorage": 3, "AppStore": 3, "Authorization": 3,
        "Service": 4, "AppStoreServerAPI": 4,
        "EntitledClient": 5, "LoadGenerator": 5, "ToolSupport": 5, "Session": 5, "TestSupport": 5,
        "Webhook": 5, "Reconciliation": 5, "Backup": 5,
        "Transport": 6, "Simulation": 6,
        "entitled": 7, "entitlectl": 7, "entitlebench": 7, "sim": 7, "tidy": 7,
        "FuzzTargets": 8, "fuzz": 9,
    ]

    /// C modules and the one module that wraps each.
    static let wrappers = [
        "CRocksDB": ["RocksDB"], "COpenSSL": ["OpenSSL"], "CLibuv": ["EventLoop"],
        "CProtobufC": ["CMessages", "Wire"], "CMessages": ["Wire"],
        "CCurl": ["HTTP"], "CMicrohttpd": ["HTTP"],
        "CProcessor": ["SnapshotTable"], "CCallCounter": [],
        "CLinux": ["LoadGenerator", "ToolSupport"],
    ]

    /// Modules of the toolchain that any target may import.
    static let everywhere: Set = ["Swift", "Synchronization"]
    /// Where Foundation's small half may be imported; Foundation itself nowhere: it loads ICU.
    static let foundationEssentials: Set = [
        "AppStore", "entitled", "entitlectl", "entitlebench", "TestSupport", "ToolSupport", "tidy",
        "FuzzTargets", "fuzz",
    ]
    /// Where the C library may be imported.
    static let platform: Set = [
        "RocksDB", "OpenSSL", "EventLoop", "Wire", "SnapshotTable", "HTTP", "entitled",
        "entitlectl", "entitlebench", "LoadGenerator", "ToolSupport", "sim", "tidy", "fuzz",
    ]
    static let platformModules: Set = ["Glibc", "Musl", "Darwin"]

    static func check(_ repository: Repository) -> [Finding] {
        guard let manifest = repository.manifest else {
            return [
                Finding(
                    weight: .error, path: "Package.swift", line: 0, rule: "import",
                    message: "there is no manifest")
            ]
        }
        var dependencies = ManifestReader.dependencies(in: manifest.lines)
        // What the manifest adds for fuzzers only.
        dependencies["fuzz"] = ["FuzzTargets"]
        var findings = checkManifest(dependencies, path: manifest.path)
        for file in repository.files where file.isSwift {
            findings += check(file, dependencies: dependencies)
        }
        return findings
    }

    private static func checkManifest(
        _ dependencies: [String: Set<String>], path: String
    ) -> [Finding] {
        var findings: [Finding] = []
        func report(_ message: String) {
            findings.append(
                Finding(weight: .error, path: path, line: 0, rule: "level", message: message))
        }
        for (name, targets) in dependencies.sorted(by: { $0.key < $1.key })
        where !name.hasSuffix("Tests") {
            guard let level = levels[name] else {
                report("\(name) has no level in tidy")
                continue
            }
            for target in targets.sorted() {
                // Wrappers of one library may share a level with what they build on.
                if levels[target].map({ $0 >= level }) ?? true {
                    report("\(name) (level \(level)) may not depend on \(target)")
                }
                if let wrapping = wrappers[target], !wrapping.contains(name) {
                    report("\(name) may not depend on \(target), which is wrapped")
                }
            }
        }
        return findings
    }

    private static func check(
        _ file: SourceFile, dependencies: [String: Set<String>]
    ) -> [Finding] {
        guard let target = file.target else { return [] }
        return file.code.enumerated().compactMap { index, line in
            guard let module = importedModule(in: line),
                let message = refusal(
                    of: module, in: file, target: target, dependencies: dependencies[target])
            else { return nil }
            return Finding(
                weight: .error, path: file.path, line: index + 1, rule: "import", message: message)
        }
    }

    private static func refusal(
        of module: String, in file: SourceFile, target: String, dependencies: Set<String>?
    ) -> String? {
        if module == "Foundation" { return "Foundation loads ICU; FoundationEssentials does not" }
        if everywhere.contains(module) { return nil }
        if file.isTest, module == "Testing" || module == "FoundationEssentials" { return nil }
        if module == "FoundationEssentials" {
            return foundationEssentials.contains(target)
                ? nil : "FoundationEssentials may not be imported in \(target)"
        }
        if platformModules.contains(module) {
            return file.isTest || platform.contains(target)
                ? nil : "\(module) may not be imported in \(target)"
        }
        guard let dependencies else { return "\(target) is no target of the manifest" }
        if dependencies.contains(module) || module == target { return nil }
        return "\(target) does not name \(module) among its dependencies"
    }

    /// The module that a line imports: "internal import struct Wire.Request" -> "Wire".
    static func importedModule(in line: String) -> String? {
        let words = line.split(separator: " ")
        guard let position = words.firstIndex(of: "import"), position + 1 < words.count else {
            return nil
        }
        let modifiers: Set<Substring> = [
            "public", "package", "internal", "fileprivate", "private", "@testable",
            "@preconcurrency",
            "@_exported", "@_implementationOnly", "@_spi",
        ]
        guard words[..<position].allSatisfy({ modifiers.contains($0) }) else { return nil }
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let"]
        let rest = words[(position + 1)...].drop { kinds.contains($0) }
        return rest.first.flatMap { $0.split(separator: ".").first }.map(String.init)
    }
}

/// Reads the targets of a manifest that is written as ours is: one call per target, the
/// dependencies as plain strings.
enum ManifestReader {
    static func dependencies(in lines: [String]) -> [String: Set<String>] {
        // Past the declarations of the two functions that make targets, up to what fuzzers change.
        let text = lines.drop { !$0.hasPrefix("let package") }
            .prefix { !$0.hasPrefix("if Context") }.joined(separator: "\n")
        var result: [String: Set<String>] = [:]
        for (opening, suffix) in [
            ("module(", ""), ("tests(", "Tests"), (".executableTarget(", ""), (".target(", ""),
            (".systemLibrary(", ""), (".testTarget(", ""),
        ] {
            for call in text.split(separator: opening).dropFirst() {
                let strings = quoted(in: argumentList(call))
                guard let name = strings.first else { continue }
                result[name + suffix] =
                    opening == ".systemLibrary(" ? [] : targets(in: call)
            }
        }
        return result
    }

    /// Up to the parenthesis that closes the call.
    private static func argumentList(_ text: Substring) -> Substring {
        var depth = 1
        for index in text.indices {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text[..<index] }
        }
        return text
    }

    /// The strings of the call's first list.
    private static func targets(in call: Substring) -> Set<String> {
        let arguments = argumentList(call)
        guard let start = arguments.firstIndex(of: "["),
            let end = arguments[start...].firstIndex(of: "]")
        else { return [] }
        return Set(quoted(in: arguments[start..<end]))
    }

    private static func quoted(in text: Substring) -> [String] {
        text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}
